import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import { messageId } from "../../src/hash/message_id.ts";
import { viewRows } from "../../src/arrow/view.ts";
import { openIds } from "../../src/message/columns.ts";
import { resolveOptions } from "../../src/options/publisher.ts";
import type { ArrowRows } from "../../src/types/mod.ts";

/** The event id of each row of columns `a`, `b`, ..., null for a row without one. */
function eventIds(...columns: readonly arrow.Vector[]): (string | null)[] {
  const names = columns.map((_, at) => String.fromCharCode(97 + at));
  const table = new arrow.Table(Object.fromEntries(columns.map((column, at) => [names[at]!, column])));
  const view = viewRows(table as unknown as ArrowRows);
  const eventIdColumn = names.length === 1 ? names[0]! : names;
  const { column, other } = openIds(view, resolveOptions({ stream: "S", subject: "s", eventIdColumn }))!;
  const read = (reader: typeof column, row: number): string | null =>
    reader.seek(row) ? new TextDecoder().decode(reader.bytes.subarray(reader.start, reader.end)) : null;
  return Array.from({ length: table.numRows }, (_, row) => {
    // The second reader is at another row, and neither affects the other.
    read(other, table.numRows - 1 - row);
    assert.equal(read(column, row), read(other, row));
    return read(column, row);
  });
}

const uuid = (): arrow.Vector => {
  const data = Uint8Array.from({ length: 32 }, (_, i) => i);
  return new arrow.Vector([arrow.makeData({ type: new arrow.FixedSizeBinary(16), length: 2, nullCount: 0, data })]);
};

const decimal = (values: readonly bigint[]): arrow.Vector => {
  const data = new Uint32Array(BigInt64Array.from(values.flatMap((value) => [value, value < 0n ? -1n : 0n])).buffer);
  const type = new arrow.Decimal(2, 20, 128);
  return new arrow.Vector([arrow.makeData({ type, length: values.length, nullCount: 0, data })]);
};

const strings = (values: readonly (string | null)[]): arrow.Vector => arrow.vectorFromArray(values, new arrow.Utf8());
const integers = (values: readonly (number | null)[]): arrow.Vector => arrow.vectorFromArray(values, new arrow.Int32());

Deno.test("an id of one column is its JSON form without quotes, whatever its type", () => {
  assert.deepEqual(eventIds(strings(['a "quoted"\n', null, ""])), ['a "quoted"\n', null, ""]);
  assert.deepEqual(eventIds(integers([0, -5, null])), ["0", "-5", null]);
  assert.deepEqual(eventIds(arrow.vectorFromArray([2n ** 63n - 1n], new arrow.Int64())), ["9223372036854775807"]);
  assert.deepEqual(eventIds(arrow.vectorFromArray([2n ** 64n - 1n], new arrow.Uint64())), ["18446744073709551615"]);
  assert.deepEqual(eventIds(arrow.vectorFromArray([true, false, null], new arrow.Bool())), ["true", "false", null]);
  assert.deepEqual(eventIds(decimal([150n, -5n, 0n])), ["1.50", "-0.05", "0.00"]);
  assert.deepEqual(eventIds(arrow.vectorFromArray([new Date("2024-01-31")], new arrow.DateDay())), ["2024-01-31"]);
  assert.deepEqual(eventIds(arrow.vectorFromArray([1500], new arrow.TimestampMillisecond())), [
    "1970-01-01T00:00:01.5",
  ]);
  assert.deepEqual(eventIds(uuid()), ["AAECAwQFBgcICQoLDA0ODw==", "EBESExQVFhcYGRobHB0eHw=="]);
  const coded = new arrow.Dictionary(new arrow.Int32(), new arrow.Int8());
  assert.deepEqual(eventIds(arrow.vectorFromArray([7, 8, 7], coded)), ["7", "8", "7"]);
});

Deno.test("an id of several columns is the JSON array of their values, and absent if all values are null", () => {
  assert.deepEqual(
    eventIds(strings(["A1", null, 'q"\\', null, "null"]), integers([7, 8, null, null, null])),
    ['["A1",7]', "[null,8]", '["q\\"\\\\",null]', null, '["null",null]'],
  );
  assert.deepEqual(eventIds(decimal([100n]), strings([""]), arrow.vectorFromArray([false], new arrow.Bool())), [
    '[1.00,"",false]',
  ]);
});

Deno.test("an id of several columns may be longer than the memory that cells write to", () => {
  const long = "x".repeat(400_000);
  assert.deepEqual(eventIds(strings(["a", long, "b"]), strings([long, long, "c"])), [
    JSON.stringify(["a", long]),
    JSON.stringify([long, long]),
    JSON.stringify(["b", "c"]),
  ]);
});

Deno.test("ids are read across the chunks of a table, also backwards", () => {
  const table = new arrow.Table({ a: integers([1, 2, 3]) });
  const view = viewRows(table.concat(table.slice(1), table) as unknown as ArrowRows);
  const { column } = openIds(view, resolveOptions({ stream: "S", subject: "s", eventIdColumn: "a" }))!;
  const read = (row: number): string =>
    column.seek(row) ? new TextDecoder().decode(column.bytes.subarray(column.start, column.end)) : "";
  const rows = Array.from({ length: 8 }, (_, row) => row);
  assert.deepEqual(rows.map(read), ["1", "2", "3", "2", "3", "1", "2", "3"]);
  assert.deepEqual(rows.reverse().map(read), ["3", "2", "1", "3", "2", "3", "2", "1"]);
});

Deno.test("message ids of several columns hash the JSON array", () => {
  const scope = { tenant: "t", pipeline: "p", sinkConnection: "c", stream: "S", subject: "s.{row.a}", resource: "r" };
  // Made with Python's json.dumps and hashlib.sha256.
  assert.equal(messageId(scope, '["A1",7]'), "e5cf137f3772419aa665119e7c08496af9d12f47a1cda9d274facd7af425eab8");
});
