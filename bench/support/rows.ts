/** Rows for the benches, the same every time. */

import * as arrow from "apache-arrow";
import { batchOf, type Column, intColumn, scramble, textColumn } from "../../tests/_support/arrow/batches.ts";
import { makeColumn, offsetsOf } from "../../tests/_support/arrow/columns.ts";
import { encodeRows } from "../../src/json/encode.ts";

/** Properties of the rows. */
export interface RowsOptions {
  /** The percentage of nulls. */
  readonly nulls?: number;
  /** Whether 5 % of the descriptions have escapes and 20 % other characters than ASCII. */
  readonly dirty?: boolean;
  /** The first row's number. */
  readonly first?: number;
}

const MIDNIGHT_2024 = 1_704_067_200_000_000n;

/** Ten columns of ten types: about 300 bytes of JSON per row. */
export function tenColumns(rows: number, options: RowsOptions = {}): arrow.RecordBatch {
  return batchOf(columnsFor("", rows, options), rows);
}

/** Fifty columns: the ten, five times. */
export function fiftyColumns(rows: number): arrow.RecordBatch {
  return batchOf([0, 1, 2, 3, 4].flatMap((i) => columnsFor(`_${i}`, rows, {})), rows);
}

/** `count` columns, of the ten types in turn. */
export function someColumns(rows: number, columns: number): arrow.RecordBatch {
  const all = Array.from({ length: Math.ceil(columns / 10) }, (_, i) => columnsFor(`_${i}`, rows, {})).flat();
  return batchOf(all.slice(0, columns), rows);
}

/** Three columns of strings of 500 bytes. */
export function wideStrings(rows: number): arrow.RecordBatch {
  const column = (name: string) => textColumn(name, fill(rows, (i) => `${i} ${"lorem ipsum dolor ".repeat(27)}`));
  return batchOf(["one", "two", "three"].map(column), rows);
}

function columnsFor(suffix: string, rows: number, options: RowsOptions): Column[] {
  const { nulls = 0, dirty = false, first = 0 } = options;
  const n = (i: number): number => scramble(first + i + suffix.length * 7919 + suffix.charCodeAt(1));
  const isNull = (i: number, salt: number): boolean => nulls > 0 && scramble(n(i) + salt) % 100 < nulls;
  const valid = (salt: number) => fill(rows, (i) => isNull(i, salt) ? null : i);
  const fixed = (name: string, type: arrow.DataType, values: ArrayBufferView, salt: number): Column => ({
    name: name + suffix,
    data: makeColumn(type, valid(salt), { values }),
  });
  const strings = (name: string, text: (i: number) => string, salt: number): Column =>
    textColumn(name + suffix, fill(rows, (i) => isNull(i, salt) ? null : text(i)));
  const big = (value: (i: number) => bigint): BigInt64Array => BigInt64Array.from(fill(rows, value));
  const bits = new Uint8Array((rows + 7) >> 3).map((_, i) => n(i) & 255);
  return [
    fixed("id", new arrow.Int32(), Int32Array.from(fill(rows, (i) => first + i)), 1),
    fixed("seq", new arrow.Int64(), big((i) => 1_000_000_000_000n + BigInt(n(i))), 2),
    fixed("price", new arrow.Float64(), Float64Array.from(fill(rows, (i) => n(i) % 1e6 / 100)), 3),
    fixed("ratio", new arrow.Float64(), Float64Array.from(fill(rows, (i) => n(i) / 2 ** 32 + n(i + 1) / 2 ** 64)), 4),
    fixed("active", new arrow.Bool(), bits, 5),
    strings("name", (i) => `customer ${String(n(i) % 1e11).padStart(11, "0")}`, 6),
    strings("description", (i) => descriptionOf(i, n(i), dirty), 7),
    fixed("created_at", microseconds(), big((i) => MIDNIGHT_2024 + BigInt(first + i) * 1_234_567n), 8),
    fixed("amount", new arrow.Decimal(4, 18, 128), words(rows, 4, (i) => [n(i), n(i) & 255, 0, 0]), 9),
    {
      name: `payload${suffix}`,
      data: makeColumn(new arrow.Binary(), valid(10), {
        offsets: offsetsOf(fill(rows, () => 16), false),
        values: new Uint8Array(words(rows, 4, (i) => [n(i), n(i + 1), n(i + 2), n(i + 3)]).buffer),
      }),
    },
  ];
}

function microseconds(): arrow.DataType {
  return new arrow.Timestamp(arrow.TimeUnit.MICROSECOND, "UTC");
}

function descriptionOf(i: number, n: number, dirty: boolean): string {
  const plain = `order ${String(n).padStart(10, "0")} placed at the counter and shipped by road or by rail`;
  if (!dirty) return plain;
  if (i % 20 === 0) return plain.replace("counter", 'counter "A"\n');
  return i % 5 === 1 ? plain.replace("placed at", "reçu à Zürich, 東京") : plain;
}

function words(rows: number, width: number, value: (i: number) => readonly number[]): Uint32Array {
  const all = new Uint32Array(rows * width);
  for (let i = 0; i < rows; i++) all.set(value(i), i * width);
  return all;
}

function fill<T>(rows: number, value: (i: number) => T): T[] {
  return Array.from({ length: rows }, (_, i) => value(i));
}

/** Batches of eight columns (two below 200 bytes), whose rows have exactly `bytes` bytes of JSON each. */
export function sizedBatches(rows: number, bytes: number, withIds: boolean, batchRows = 8192): arrow.RecordBatch[] {
  return inBatches(rows, batchRows, (count, first) => sizedBatch(count, bytes, withIds, first, []));
}

/** The types of columns that subjects and headers are taken from. */
export type RouteValues = "strings" | "integers";

/** How many customers and kinds there are, and the first of each. */
const CUSTOMERS = { count: 1000, first: 100_000 };
const KINDS = { count: 8, first: 1000 };

/** The same batches with the columns `customer`, of as many values as asked for (1,000), and `kind` before the others. */
export function routedBatches(
  rows: number,
  bytes: number,
  withIds: boolean,
  values: RouteValues,
  customers = CUSTOMERS.count,
): arrow.RecordBatch[] {
  const column = values === "strings"
    ? (name: string, all: number[]) => textColumn(name, all.map(String))
    : (name: string, all: number[]) => intColumn(name, all);
  return inBatches(rows, 8192, (count, first) => {
    const row = (i: number) => scramble(first + i);
    const routing = [
      column("customer", fill(count, (i) => CUSTOMERS.first + row(i) % customers)),
      column("kind", fill(count, (i) => KINDS.first + row(i) % KINDS.count)),
    ];
    return sizedBatch(count, bytes, withIds, first, routing);
  });
}

function inBatches(
  rows: number,
  batchRows: number,
  batch: (count: number, first: number) => arrow.RecordBatch,
): arrow.RecordBatch[] {
  const batches: arrow.RecordBatch[] = [];
  for (let first = 0; first < rows; first += batchRows) batches.push(batch(Math.min(batchRows, rows - first), first));
  return batches;
}

function sizedBatch(
  rows: number,
  bytes: number,
  withIds: boolean,
  first: number,
  more: readonly Column[],
): arrow.RecordBatch {
  const all = columnsFor("", rows, { first });
  const kept = bytes < 200 ? ["id"] : ["id", "seq", "price", "active", "name", "created_at"];
  const columns = [...more, ...all.filter(({ name }) => kept.includes(name))];
  if (withIds) {
    const id = (i: number) => `e${String(first + i).padStart(8, "0")}`;
    columns.unshift(textColumn("_filament_event_id", fill(rows, id)));
  }
  const { offsets } = encodeRows(batchOf(columns, rows));
  const frame = ',"t":""'.length;
  const text = (i: number) => "x".repeat(bytes - frame - (offsets[i + 1]! - offsets[i]!));
  return batchOf([...columns, textColumn("t", fill(rows, text))], rows);
}
