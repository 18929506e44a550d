/**
 * Makers of Arrow columns without children: for each type an arbitrary of values, the JSON of a value, and the column's
 * buffers. The JSON comes from plain_json.ts, which shares no code with the encoder.
 */

import * as arrow from "apache-arrow";
import fc from "fast-check";
import { makeColumn } from "./columns.ts";
import { daysText, decimalText, durationText, floatText, intervalText, timestampText, timeText } from "./plain_json.ts";

/** Makes columns of one type. Null stands for a null slot; `text` is never called with it. */
export interface Maker<V = unknown> {
  readonly name: string;
  readonly type: arrow.DataType;
  readonly value: fc.Arbitrary<V>;
  text(value: V): string;
  data(values: readonly (V | null)[]): arrow.Data;
}

/** The content of a null's slot, which must never be written. */
const JUNK = 0xa5;

/** Little-endian integers, one or more per value. */
function fixed<V>(
  name: string,
  type: arrow.DataType,
  width: number,
  value: fc.Arbitrary<V>,
  text: (value: V) => string,
  write: (view: DataView, at: number, value: V) => void,
): Maker<V> {
  return {
    name,
    type,
    value,
    text,
    data(values) {
      const bytes = new Uint8Array(values.length * width).fill(JUNK);
      const view = new DataView(bytes.buffer);
      values.forEach((one, row) => one !== null && write(view, row * width, one));
      const ArrayType = type.ArrayType as Uint8ArrayConstructor;
      return makeColumn(type, values, { values: new ArrayType(bytes.buffer) });
    },
  };
}

function writeWords(words: number): (view: DataView, at: number, value: bigint) => void {
  return (view, at, value) => {
    for (let word = 0; word < words; word++) {
      view.setBigUint64(at + 8 * word, BigInt.asUintN(64, value >> BigInt(64 * word)), true);
    }
  };
}

function writeInt(bits: number): (view: DataView, at: number, value: bigint) => void {
  if (bits >= 64) return writeWords(bits / 64);
  return (view, at, value) => {
    const unsigned = Number(BigInt.asUintN(bits, value));
    if (bits === 8) view.setUint8(at, unsigned);
    else if (bits === 16) view.setUint16(at, unsigned, true);
    else view.setUint32(at, unsigned, true);
  };
}

/** Integers of a width: the extremes, small ones, and any. */
function wholes(bits: number, signed = true): fc.Arbitrary<bigint> {
  const max = 2n ** BigInt(signed ? bits - 1 : bits) - 1n;
  const min = signed ? -max - 1n : 0n;
  return fc.oneof(
    fc.constantFrom(min, max, 0n, 1n, signed ? -1n : 1n, max - 1n, min + 1n),
    fc.bigInt({ min: signed ? -100n : 0n, max: 100n }),
    fc.nat(bits - 1).chain((shift) => fc.bigInt({ min, max }).map((value) => value >> BigInt(shift))),
  );
}

function int(name: string, type: arrow.DataType, bits: number, signed: boolean): Maker<bigint> {
  return fixed(name, type, bits / 8, wholes(bits, signed), String, writeInt(bits));
}

function quoted(text: string): string {
  return `"${text}"`;
}

function timestamp(unit: arrow.TimeUnit, digits: number, zone?: string): Maker<bigint> {
  const value = fc.oneof(wholes(64), fc.bigInt({ min: -(10n ** 12n), max: 10n ** 13n }).map((s) => s * 10n ** 6n));
  const inRange = value.map((v) => BigInt.asIntN(64, v));
  return fixed(
    `timestamp ${digits} ${zone ?? "no zone"}`,
    new arrow.Timestamp(unit, zone),
    8,
    inRange,
    (v) => quoted(timestampText(v, digits, zone !== undefined)),
    writeInt(64),
  );
}

function time(type: arrow.DataType, bits: number, digits: number): Maker<bigint> {
  const day = 86_400n * 10n ** BigInt(digits);
  const value = fc.oneof(fc.constantFrom(0n, day), fc.bigInt({ min: 0n, max: day }));
  return fixed(`time ${digits}`, type, bits / 8, value, (v) => quoted(timeText(v, digits)), writeInt(bits));
}

function decimal(bits: number, scale: number, precision: number): Maker<bigint> {
  const type = new arrow.Decimal(scale, precision, bits);
  return fixed(
    `decimal${bits}(${precision}, ${scale})`,
    type,
    bits / 8,
    wholes(bits),
    (v) => decimalText(v, scale),
    writeInt(bits),
  );
}

function duration(unit: arrow.TimeUnit, digits: number): Maker<bigint> {
  const type = new arrow.Duration(unit);
  return fixed(`duration ${digits}`, type, 8, wholes(64), (v) => quoted(durationText(v, digits)), writeInt(64));
}

const floats = fc.oneof(fc.double(), fc.constantFrom(0, -0, NaN, Infinity, -Infinity, 0.1, 1e21, 5e-324, 2 ** -12));

function floorDays(milliseconds: bigint): bigint {
  const days = milliseconds / 86_400_000n;
  return milliseconds < 0n && days * 86_400_000n !== milliseconds ? days - 1n : days;
}

const monthsDaysNanos = fc.tuple(wholes(32), wholes(32), wholes(64));
const daysMillis = fc.tuple(wholes(32), wholes(32));
const { TimeUnit, DateUnit, IntervalUnit } = arrow;
const int32 = writeInt(32);

/** A maker for each type of fixed width. */
export const fixedMakers: readonly Maker[] = [
  int("int8", new arrow.Int8(), 8, true),
  int("int16", new arrow.Int16(), 16, true),
  int("int32", new arrow.Int32(), 32, true),
  int("int64", new arrow.Int64(), 64, true),
  int("uint8", new arrow.Uint8(), 8, false),
  int("uint16", new arrow.Uint16(), 16, false),
  int("uint32", new arrow.Uint32(), 32, false),
  int("uint64", new arrow.Uint64(), 64, false),
  fixed("float16", new arrow.Float16(), 2, floats, (v) => floatText(Math.f16round(v), "HALF"), (view, at, v) => {
    view.setFloat16(at, v, true);
  }),
  fixed("float32", new arrow.Float32(), 4, floats, (v) => floatText(Math.fround(v), "SINGLE"), (view, at, v) => {
    view.setFloat32(at, v, true);
  }),
  fixed("float64", new arrow.Float64(), 8, floats, (v) => floatText(v, "DOUBLE"), (view, at, v) => {
    view.setFloat64(at, v, true);
  }),
  decimal(32, 2, 9),
  decimal(64, 18, 18),
  decimal(128, 4, 18),
  decimal(128, -3, 38),
  decimal(256, 40, 76),
  fixed("date32", new arrow.Date_(DateUnit.DAY), 4, wholes(32), (v) => quoted(daysText(v, 32)), int32),
  fixed("date64", new arrow.Date_(DateUnit.MILLISECOND), 8, wholes(64), (v) => {
    return quoted(daysText(floorDays(v)));
  }, writeInt(64)),
  time(new arrow.TimeSecond(), 32, 0),
  time(new arrow.TimeMillisecond(), 32, 3),
  time(new arrow.TimeMicrosecond(), 64, 6),
  time(new arrow.TimeNanosecond(), 64, 9),
  timestamp(TimeUnit.SECOND, 0),
  timestamp(TimeUnit.MILLISECOND, 3, "UTC"),
  timestamp(TimeUnit.MICROSECOND, 6),
  timestamp(TimeUnit.NANOSECOND, 9, "Europe/Paris"),
  duration(TimeUnit.SECOND, 0),
  duration(TimeUnit.MILLISECOND, 3),
  duration(TimeUnit.MICROSECOND, 6),
  duration(TimeUnit.NANOSECOND, 9),
  fixed("interval months", new arrow.Interval(IntervalUnit.YEAR_MONTH), 4, wholes(32), (v) => {
    return quoted(intervalText(v, 0n, 0n, 0));
  }, int32),
  fixed("interval days", new arrow.Interval(IntervalUnit.DAY_TIME), 8, daysMillis, ([days, ms]) => {
    return quoted(intervalText(0n, days, ms, 3));
  }, (view, at, [days, ms]) => {
    int32(view, at, days);
    int32(view, at + 4, ms);
  }),
  fixed("interval nanos", new arrow.Interval(IntervalUnit.MONTH_DAY_NANO), 16, monthsDaysNanos, (v) => {
    return quoted(intervalText(...v, 9));
  }, (view, at, [months, days, nanos]) => {
    int32(view, at, months);
    int32(view, at + 4, days);
    writeWords(1)(view, at + 8, nanos);
  }),
] as readonly Maker[];
