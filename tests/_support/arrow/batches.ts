/** Deterministic Arrow data for tests and benches: the same bytes every time. */

import * as arrow from "apache-arrow";
import { type DataParts, makeColumn, offsetsOf } from "./columns.ts";

const encoder = new TextEncoder();

/** A column: its name, its Data, and its field's metadata. */
export interface Column {
  readonly name: string;
  readonly data: arrow.Data;
  readonly metadata?: ReadonlyMap<string, string>;
}

/** A record batch of these columns. */
export function batchOf(columns: readonly Column[], rows = columns[0]?.data.length ?? 0): arrow.RecordBatch {
  const fields = columns.map(({ name, data, metadata }) =>
    new arrow.Field(name, data.type, true, metadata === undefined ? null : new Map(metadata))
  );
  const struct = new arrow.Struct(fields);
  const children = columns.map(({ data }) => data);
  return new arrow.RecordBatch(
    new arrow.Schema(fields),
    arrow.makeData({ type: struct, length: rows, nullCount: 0, children }),
  );
}

/** A Utf8 column with nulls where values are null. */
export function textColumn(name: string, strings: readonly (string | null)[]): Column {
  const parts = strings.map((text) => encoder.encode(text ?? ""));
  const values = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    values.set(part, at);
    at += part.length;
  }
  const offsets = offsetsOf(parts.map((part) => part.length), false);
  return { name, data: makeColumn(new arrow.Utf8(), strings, { offsets, values }) };
}

/** An Int32 column. */
export function intColumn(name: string, values: readonly number[]): Column {
  return { name, data: makeColumn(new arrow.Int32(), values, { values: Int32Array.from(values) }) };
}

/** Options of {@linkcode idBatch}. */
export interface IdBatchOptions {
  /** The first row's number, so that rows of several batches have different ids. @default {0} */
  readonly first?: number;
  /** The id column's name. @default {"_filament_event_id"} */
  readonly column?: string;
  /** The size of an additional string column. @default {0} */
  readonly payload?: number;
}

/** Rows `{"n":0,"_filament_event_id":"evt-000000","text":"..."}`. */
export function idBatch(rows: number, options: IdBatchOptions = {}): arrow.RecordBatch {
  const { first = 0, column = "_filament_event_id", payload = 0 } = options;
  const numbers = Array.from({ length: rows }, (_, row) => first + row);
  return batchOf([
    intColumn("n", numbers),
    textColumn(column, numbers.map((n) => `evt-${String(n).padStart(6, "0")}`)),
    ...(payload > 0 ? [textColumn("text", numbers.map(() => "x".repeat(payload)))] : []),
  ], rows);
}

/** Rows `{"n":0}`: the smallest rows that can be distinguished. */
export function numberBatch(rows: number, first = 0): arrow.RecordBatch {
  return batchOf([intColumn("n", Array.from({ length: rows }, (_, row) => first + row))], rows);
}

/** Rows whose JSON has exactly `bytes` bytes, 24 or more: `{"n":1000000000,"t":"xx"}`. */
export function sizedBatch(rows: number, bytes: number): arrow.RecordBatch {
  const padding = "x".repeat(bytes - '{"n":1000000000,"t":""}'.length);
  return batchOf([
    intColumn("n", Array.from({ length: rows }, (_, row) => 1_000_000_000 + row)),
    textColumn("t", Array.from({ length: rows }, () => padding)),
  ], rows);
}

/** A table of several batches. */
export function tableOf(...batches: readonly arrow.RecordBatch[]): arrow.Table {
  return new arrow.Table([...batches]);
}

/** A column computed from each row's number, without an intermediate array of values. */
function filled<A extends ArrayBufferView>(
  name: string,
  type: arrow.DataType,
  rows: number,
  values: A,
  fill: (values: A, row: number) => void,
  nullEvery = 0,
  first = 0,
): Column {
  for (let row = 0; row < rows; row++) fill(values, row);
  return { name, data: nullable(type, rows, { values }, nullEvery, first) };
}

/** A column in which every `every`th row is null. */
function nullable(type: arrow.DataType, rows: number, parts: DataParts, every = 0, first = 0): arrow.Data {
  const valid = Array.from({ length: rows }, (_, row) => every > 0 && (first + row) % every === every - 1 ? null : row);
  return makeColumn(type, valid, parts);
}

/** A pseudo-random number from 0 to 2^32 - 1: 32-bit mixing after Murmur3's finalizer. */
export function scramble(n: number): number {
  let x = (n ^ 0x9e3779b9) | 0;
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

const NAMES = [
  "Zo\u00eb Ångström",
  "Jos\u00e9 P\u00e9rez",
  "\u5c71\u7530\u592a\u90ce",
  'Anna "Ann" Lee',
  "O\\Brien",
  "Bob",
];
const STATUS = ["new", "paid", "shipped", "returned"];
/** The same dictionary in all batches, since a file cannot replace a dictionary. */
const STATUS_WORDS = new arrow.Vector([textColumn("words", STATUS).data]);
const MIDNIGHT_2024 = 1_704_067_200_000_000n;

/** Rows of 14 columns with as many types, about 300 bytes of JSON each, with an event id. */
export function demoBatch(rows: number, first = 0): arrow.RecordBatch {
  const row = (i: number): number => first + i;
  const strings = (text: (n: number) => string | null): (string | null)[] =>
    Array.from({ length: rows }, (_, i) => text(row(i)));
  const item = textColumn("item", Array.from({ length: 2 * rows }, (_, i) => `tag${(2 * first + i) % 97}`)).data;
  const street = textColumn("street", strings((n) => `${1 + n % 200} Main St`));
  const zip = intColumn("zip", Array.from({ length: rows }, (_, i) => 10_000 + row(i) % 90_000));
  const address = new arrow.Struct([
    new arrow.Field("street", street.data.type, true),
    new arrow.Field("zip", zip.data.type, true),
  ]);
  const list = new arrow.List(new arrow.Field("item", item.type, true));
  return batchOf([
    textColumn("_filament_event_id", strings((n) => `evt-${String(n).padStart(9, "0")}`)),
    filled("id", new arrow.Int64(), rows, new BigInt64Array(rows), (v, i) => v[i] = 2n ** 53n + BigInt(row(i))),
    filled("quantity", new arrow.Int16(), rows, new Int16Array(rows), (v, i) => v[i] = row(i) % 1000 - 500, 11, first),
    filled("price", new arrow.Float64(), rows, new Float64Array(rows), (v, i) => v[i] = scramble(row(i)) % 1e6 / 100),
    filled("ratio", new arrow.Float32(), rows, new Float32Array(rows), (v, i) => v[i] = scramble(row(i)) / 2 ** 32),
    filled(
      "active",
      new arrow.Bool(),
      rows,
      new Uint8Array((rows + 7) >> 3),
      (v, i) => {
        v[i >> 3]! |= (scramble(row(i)) & 1) << (i & 7);
      },
      7,
      first,
    ),
    textColumn("name", strings((n) => n % 13 === 12 ? null : `${NAMES[n % NAMES.length]} ${n}`)),
    filled(
      "created_at",
      new arrow.Timestamp(arrow.TimeUnit.MICROSECOND, "UTC"),
      rows,
      new BigInt64Array(rows),
      (v, i) => {
        v[i] = MIDNIGHT_2024 + BigInt(row(i)) * 1_234_567n;
      },
    ),
    filled("day", new arrow.DateDay(), rows, new Int32Array(rows), (v, i) => v[i] = 19_000 + row(i) % 4000),
    filled("at", new arrow.TimeMicrosecond(), rows, new BigInt64Array(rows), (v, i) => {
      v[i] = BigInt(scramble(row(i))) * 20n;
    }),
    filled("amount", new arrow.Decimal(4, 18, 128), rows, new Uint32Array(4 * rows), (v, i) => {
      const negative = row(i) % 3 === 0;
      v[4 * i] = negative ? -scramble(row(i)) : scramble(row(i));
      if (negative) v.fill(0xffffffff, 4 * i + 1, 4 * i + 4);
    }),
    filled(
      "payload",
      new arrow.FixedSizeBinary(12),
      rows,
      new Uint8Array(12 * rows),
      (v, i) => {
        for (let k = 0; k < 12; k++) v[12 * i + k] = scramble(row(i) + k);
      },
      5,
      first,
    ),
    {
      name: "status",
      data: nullable(new arrow.Dictionary(STATUS_WORDS.type, new arrow.Int8(), 1), rows, {
        values: Int8Array.from({ length: rows }, (_, i) => row(i) % STATUS.length),
        dictionary: STATUS_WORDS,
      }),
    },
    {
      name: "tags",
      data: nullable(
        list,
        rows,
        { offsets: Int32Array.from({ length: rows + 1 }, (_, i) => 2 * i), children: [item] },
        17,
        first,
      ),
    },
    { name: "address", data: nullable(address, rows, { children: [street.data, zip.data] }, 19, first) },
  ], rows);
}

/** A table of {@linkcode demoBatch} rows, in batches of at most `batchRows`. */
export function demoTable(rows: number, batchRows = 65_536): arrow.Table {
  const batches: arrow.RecordBatch[] = [];
  for (let first = 0; first < rows; first += batchRows) {
    batches.push(demoBatch(Math.min(batchRows, rows - first), first));
  }
  return new arrow.Table(batches.length > 0 ? batches : [demoBatch(0)]);
}

/** A batch of many columns that alternate between int, float, string and timestamp. */
export function wideBatch(rows: number, columns: number): arrow.RecordBatch {
  const made = Array.from({ length: columns }, (_, c): Column => {
    const n = (i: number): number => scramble(c * 1_000_003 + i);
    switch (c % 4) {
      case 0:
        return filled(`int_${c}`, new arrow.Int32(), rows, new Int32Array(rows), (v, i) => v[i] = n(i));
      case 1:
        return filled(`float_${c}`, new arrow.Float64(), rows, new Float64Array(rows), (v, i) => v[i] = n(i) / 1000);
      case 2:
        return textColumn(`text_${c}`, Array.from({ length: rows }, (_, i) => n(i).toString(36)));
      default:
        return filled(`time_${c}`, new arrow.TimestampMillisecond(), rows, new BigInt64Array(rows), (v, i) => {
          v[i] = BigInt(n(i)) * 400n;
        });
    }
  });
  return batchOf(made, rows);
}
