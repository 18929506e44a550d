import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import { bytesOf, numbersOf, offsetsOf, wordsOf } from "../../src/arrow/buffers.ts";
import type { Shape } from "../../src/arrow/field_type.ts";
import { resolveColumns, resolveType } from "../../src/arrow/schema.ts";
import { typeName } from "../../src/arrow/type_id.ts";
import { viewRows } from "../../src/arrow/view.ts";
import type { ArrowRows } from "../../src/types/mod.ts";
import { encodeRows } from "../../src/json/encode.ts";
import { bodyStrings, refusalOf } from "../_support/arrow/mod.ts";

const utf8 = { typeId: 5 };
const uuid = { typeId: 15, byteWidth: 16 };

function typeOf(type: unknown, metadata: Record<string, string> = {}): Shape {
  const field = { name: "a", type: type as { typeId: number }, metadata: new Map(Object.entries(metadata)) };
  return resolveColumns([field])[0]!.type;
}

function meaningOf(type: unknown, metadata: Record<string, string>): unknown {
  const resolved = typeOf(type, metadata);
  return resolved.kind === "text" ? resolved.meaning : resolved.kind === "fixed_binary" ? resolved.uuid : resolved.kind;
}

Deno.test("resolveColumns() reads logical types and extensions only where they fit the storage", () => {
  const extension = "ARROW:extension:name";
  const logical = "filament.logical";
  assert.equal(meaningOf(utf8, {}), "string");
  assert.equal(meaningOf(utf8, { [logical]: "json" }), "json");
  assert.equal(meaningOf(utf8, { [logical]: "decimal" }), "decimal");
  assert.equal(meaningOf(utf8, { [logical]: "JSON" }), "string");
  assert.equal(meaningOf(utf8, { [extension]: "arrow.json" }), "json");
  assert.equal(meaningOf(utf8, { [extension]: "arrow.json", [logical]: "decimal" }), "json");
  assert.equal(meaningOf(utf8, { [extension]: "arrow.uuid" }), "string");
  assert.equal(meaningOf(uuid, { [extension]: "arrow.uuid" }), true);
  assert.equal(meaningOf(uuid, { [extension]: "arrow.uuid", [logical]: "decimal" }), true);
  assert.equal(meaningOf({ ...uuid, byteWidth: 15 }, { [extension]: "arrow.uuid" }), false);
  assert.equal(meaningOf({ typeId: 6 }, { [logical]: "json" }), "bool");
});

Deno.test("resolveColumns() passes the metadata of a dictionary and of runs on to their values", () => {
  const int32 = { typeId: 2, bitWidth: 32, isSigned: true };
  const dictionary = typeOf({ typeId: -1, indices: int32, dictionary: utf8 }, { "filament.logical": "json" });
  assert.ok(
    dictionary.kind === "dictionary" && dictionary.value.kind === "text" && dictionary.value.meaning === "json",
  );
  const children = [{ name: "run_ends", type: int32 }, { name: "values", type: utf8 }];
  const runs = typeOf({ typeId: 22, children }, { "filament.logical": "decimal" });
  assert.ok(runs.kind === "runs" && runs.value.kind === "text" && runs.value.meaning === "decimal");
});

Deno.test("resolveColumns() ignores every extension but arrow.uuid on a map's keys", () => {
  const marked = (type: unknown, name: string, value: string) => ({ name, type, metadata: new Map([[name, value]]) });
  const mapOf = (key: unknown): Shape =>
    typeOf({
      typeId: 17,
      children: [{ name: "entries", type: { typeId: 13, children: [key, { name: "value", type: utf8 }] } }],
    });
  const text = mapOf(marked(utf8, "filament.logical", "json"));
  assert.ok(text.kind === "map" && text.key.kind === "text" && text.key.meaning === "string");
  const id = mapOf(marked(uuid, "ARROW:extension:name", "arrow.uuid"));
  assert.ok(id.kind === "map" && id.key.kind === "fixed_binary" && id.key.uuid);
});

Deno.test("resolveType() returns the same for the type objects of both libraries", () => {
  const pairs: [unknown, unknown][] = [
    [{ typeId: 2, bitWidth: 8, isSigned: false }, { typeId: 2, bitWidth: 8, signed: false }],
    [{ typeId: 15, byteWidth: 3 }, { typeId: 15, stride: 3 }],
    [{ typeId: 9, unit: 3, bitWidth: 64 }, { typeId: 9, unit: 3 }],
    [{ typeId: 10, unit: 1, timezone: null }, { typeId: 10, unit: 1, timezone: "" }],
  ];
  for (const [a, b] of pairs) {
    const [first, second] = [a, b].map((type) => ({
      ...resolveType(type as { typeId: number })!,
      source: 0,
      label: "",
    }));
    assert.deepEqual(first, second);
  }
});

Deno.test("typeName() returns a name for any value", () => {
  const types = [new arrow.Int64(), new arrow.Utf8View(), new arrow.DateDay(), new arrow.DurationNanosecond()];
  assert.deepEqual(types.map((type) => typeName(type)), ["Int64", "Utf8View", "Date32", "Duration[ns]"]);
  assert.deepEqual([null, {}, { typeId: "x" }].map((type) => typeName(type)), [
    "unknown (id undefined)",
    "unknown (id undefined)",
    "unknown (id x)",
  ]);
});

Deno.test("viewRows() reads buffers by their bytes, whatever their element type and alignment", () => {
  const odd = new Uint8Array([0, 1, 0, 0, 0, 2, 0, 0, 0, 9]).subarray(1);
  assert.deepEqual([...wordsOf(odd)], [1, 2]);
  assert.deepEqual([...numbersOf(odd, "int", 16, true)], [1, 0, 2, 0]);
  assert.deepEqual([...numbersOf(Int8Array.of(-1), "int", 8, false)], [255]);
  assert.equal(numbersOf(Float64Array.of(1.5), "float", 64, false)[0], 1.5);
  assert.deepEqual([...offsetsOf(Float64Array.of(0, 2 ** 33, 0.5), true)], [0, 0, 0, 2, -1, -1]);
  assert.deepEqual([...offsetsOf(Float64Array.of(7, 2 ** 33), false)], [7, -1]);
  for (const none of [undefined, null, [1, 2], "x", new ArrayBuffer(8)]) assert.equal(bytesOf(none).length, 0);
});

/** 64-bit columns as pairs of 32-bit words, as in apache-arrow up to version 13. */
Deno.test("viewRows() reads 64-bit columns that are pairs of words", () => {
  const pairs = (...all: bigint[]): Int32Array => new Int32Array(BigInt64Array.from(all).buffer);
  const types = [{ typeId: 2, bitWidth: 64, isSigned: true }, { typeId: 10, unit: 2 }, { typeId: 8, unit: 1 }];
  const fields = types.map((type, n) => ({ name: `c${n}`, type }));
  const values = [pairs(1n << 60n), pairs(1_700_000_000_000_001n), pairs(86_400_000n)];
  const children = types.map((type, n) => ({ type, length: 1, nullCount: 0, values: values[n], offset: 0 }));
  const rows = { schema: { fields }, numRows: 1, data: { length: 1, children } } as unknown as ArrowRows;
  assert.deepEqual(bodyStrings(encodeRows(rows)), [
    '{"c0":1152921504606846976,"c1":"2023-11-14T22:13:20.000001","c2":"1970-01-02"}',
  ]);
});

Deno.test("viewRows() skips chunks without rows, whatever they contain", () => {
  const fields = [{ name: "a", type: { typeId: 12, children: [{ name: "item", type: utf8 }] } }];
  const empty = { schema: { fields }, numRows: 0, data: { length: 0, children: [{ length: 0, children: [] }] } };
  const rows = { schema: { fields }, numRows: 0, batches: [empty, { ...empty, data: undefined }] };
  assert.deepEqual(viewRows(rows as unknown as ArrowRows).chunks, []);
});

Deno.test("viewRows() refuses batches with fewer columns than the schema, and invalid numbers of rows", () => {
  const fields = [{ name: "a", type: utf8 }];
  const rows = (numRows: unknown) =>
    ({ schema: { fields }, numRows, data: { length: 1, children: [] } }) as unknown as ArrowRows;
  assert.deepEqual([refusalOf(() => viewRows(rows(1))).code, refusalOf(() => viewRows(rows(1))).column], [
    "encode.malformed",
    "a",
  ]);
  for (const count of [-1, 1.5, NaN, "1", undefined]) {
    assert.equal(refusalOf(() => viewRows(rows(count))).code, "encode.malformed");
  }
});
