/**
 * Collects the values of one column of each type that is not nested, in the buffers of apache-arrow's `Data`.
 *
 * @module
 */

import { describe } from "../../util/describe.ts";
import type { LooseData } from "../column.ts";
import { type LooseType, TypeId } from "../type_id.ts";
import { refuseValue } from "./fault.ts";
import { dateMs, parseDay, parseInstant, utcDay } from "./instant.ts";

/** The maximum of bytes or items that 32-bit offsets reach. */
export const MOST = 0x7fffffff;

/** A type object in the shape of apache-arrow's. */
export type BuiltType = LooseType & { readonly typeId: number };

/** Collects the values of a column that are not null, and makes a column with the nulls. */
export interface ColumnKind {
  /** Appends a value that is not null. */
  add(value: unknown): void;
  /** Appends the content of a null's slot. */
  addNull(): void;
  finish(): { readonly type: BuiltType; readonly isJson?: boolean; readonly data: LooseData };
}

/** Returns bits as bytes, the first bit lowest. */
export function bitmap(bits: readonly boolean[]): Uint8Array {
  const bytes = new Uint8Array((bits.length + 7) >> 3);
  bits.forEach((bit, at) => bit && (bytes[at >> 3]! |= 1 << (at & 7)));
  return bytes;
}

/** Booleans, packed. */
export function bools(): ColumnKind {
  const values: boolean[] = [];
  return {
    add(value) {
      if (typeof value !== "boolean") refuseValue(`expected a boolean: received ${describe(value)}`);
      values.push(value);
    },
    addNull: () => values.push(false),
    finish: () => ({ type: { typeId: TypeId.Bool }, data: { values: bitmap(values) } }),
  };
}

/** Integers of a width, from numbers and bigints. */
export function integers(bits: 8 | 16 | 32 | 64, isSigned: boolean): ColumnKind {
  const least = isSigned ? -(1n << BigInt(bits - 1)) : 0n;
  const most = (1n << BigInt(isSigned ? bits - 1 : bits)) - 1n;
  const values: (number | bigint)[] = [];
  return {
    add(value) {
      const isInteger = typeof value === "bigint" || (typeof value === "number" && Number.isInteger(value));
      if (!isInteger || value < least || value > most) {
        refuseValue(`expected an integer from ${least} to ${most}: received ${describe(value)}`);
      }
      if (typeof value === "number" && !Number.isSafeInteger(value)) {
        refuseValue(`expected a bigint, as a number above 2^53 - 1 may have been rounded: received ${value}`);
      }
      values.push(value);
    },
    addNull: () => values.push(0),
    // The low bytes of two's complement are the same at every width and for both signs.
    finish: () => ({ type: { typeId: TypeId.Int, bitWidth: bits, isSigned }, data: { values: lowBits(values, bits) } }),
  };
}

function lowBits(values: readonly (number | bigint)[], bits: 8 | 16 | 32 | 64): ArrayBufferView {
  if (bits === 64) return BigUint64Array.from(values, BigInt);
  const numbers = values.map(Number);
  if (bits === 32) return Uint32Array.from(numbers);
  return bits === 16 ? Uint16Array.from(numbers) : Uint8Array.from(numbers);
}

/** Floats of single (1) or double (2) precision. */
export function floats(Values: typeof Float32Array | typeof Float64Array, precision: 1 | 2): ColumnKind {
  const values: number[] = [];
  return {
    add(value) {
      if (typeof value !== "number") refuseValue(`expected a number: received ${describe(value)}`);
      if (precision === 1 && Number.isFinite(value) && !Number.isFinite(Math.fround(value))) {
        refuseValue(`expected a number in the range of float32: received ${value}`);
      }
      values.push(value);
    },
    addNull: () => values.push(0),
    finish: () => ({ type: { typeId: TypeId.Float, precision }, data: { values: Values.from(values) } }),
  };
}

const encoder = new TextEncoder();

/** Returns a string in UTF-8. */
export function utf8Bytes(value: unknown): Uint8Array {
  if (typeof value !== "string") refuseValue(`expected a string: received ${describe(value)}`);
  // UTF-8 has no lone surrogates: the encoder would write U+FFFD.
  if (/\p{Surrogate}/u.test(value)) refuseValue("expected a string without lone surrogates");
  return encoder.encode(value);
}

const typedArrayName = Object.getOwnPropertyDescriptor(
  Object.getPrototypeOf(Uint8Array.prototype),
  Symbol.toStringTag,
)!.get!;

/**
 * Returns the bytes of a `Uint8Array`. Tests the engine's own name of the array, which is right for subclasses and other
 * realms, and which the value cannot change.
 */
export function binaryBytes(value: unknown): Uint8Array {
  if (typedArrayName.call(value) !== "Uint8Array") refuseValue(`expected a Uint8Array: received ${describe(value)}`);
  return value as Uint8Array;
}

/** Strings and binary: the bytes of each value, one after another. */
export function spans(type: BuiltType, bytesOf: (value: unknown) => Uint8Array, isJson = false): ColumnKind {
  let bytes = new Uint8Array(256);
  const offsets = [0];
  let size = 0;
  return {
    add(value) {
      const added = bytesOf(value);
      if (size + added.length > MOST) refuseValue(`a column holds at most ${MOST} bytes: pass fewer rows`);
      if (size + added.length > bytes.length) {
        const grown = new Uint8Array(Math.max(2 * bytes.length, size + added.length));
        grown.set(bytes.subarray(0, size));
        bytes = grown;
      }
      bytes.set(added, size);
      size += added.length;
      offsets.push(size);
    },
    addNull: () => offsets.push(size),
    finish: () => ({
      type,
      isJson,
      data: { values: bytes.subarray(0, size), valueOffsets: Int32Array.from(offsets) },
    }),
  };
}

/** Days. */
export function dates(): ColumnKind {
  const days: number[] = [];
  return {
    add(value) {
      const ms = typeof value === "string" ? parseInstant(value)?.ms : dateMs(value);
      const day = ms === undefined ? typeof value === "string" ? parseDay(value) : undefined : utcDay(ms);
      if (day === undefined || Number.isNaN(day)) refuseValue(describeMismatch("a Date or an ISO 8601 date", value));
      days.push(day);
    },
    addNull: () => days.push(0),
    finish: () => ({ type: { typeId: TypeId.Date, unit: 0 }, data: { values: Int32Array.from(days) } }),
  };
}

/** Instants. The unit is the microsecond, which reaches every `Date`; the nanosecond if a value has digits of it. */
export function timestamps(): ColumnKind {
  const values: bigint[] = []; // nanoseconds
  let isNano = false;
  let isFar = false;
  return {
    add(value) {
      const ms = typeof value === "string" ? undefined : dateMs(value);
      const instant = typeof value === "string" ? parseInstant(value) : ms === undefined ? undefined : { ms, ns: 0 };
      if (instant === undefined || Number.isNaN(instant.ms)) {
        refuseValue(describeMismatch("a Date or an ISO 8601 date and time with a zone", value));
      }
      const ns = BigInt(instant.ms) * 1_000_000n + BigInt(instant.ns);
      isNano ||= instant.ns % 1000 !== 0;
      isFar ||= !(ns > NANO_LEAST && ns < NANO_MOST);
      if (isNano && isFar) {
        refuseValue(`a column with nanoseconds holds the years 1678 to 2261: received ${describe(value)}`);
      }
      values.push(ns);
    },
    addNull: () => values.push(0n),
    finish: () => ({
      type: { typeId: TypeId.Timestamp, unit: isNano ? 3 : 2, timezone: "UTC" },
      data: { values: BigInt64Array.from(values, (ns) => isNano ? ns : ns / 1000n) },
    }),
  };
}

/** The last values before those that mean infinity. */
const NANO_LEAST = -(2n ** 63n) + 1n;
const NANO_MOST = 2n ** 63n - 1n;

function describeMismatch(what: string, value: unknown): string {
  const received = dateMs(value) === undefined ? describe(value) : "an invalid Date";
  return `expected ${what}: received ${received}`;
}
