import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import { viewRows } from "../../src/arrow/view.ts";
import { encodeRows, encodeView } from "../../src/json/encode.ts";
import { rowForms } from "../../src/json/row_forms.ts";
import type { ArrowRows, BodyColumns, JsonForms } from "../../src/types/mod.ts";
import { batchOf, bodyStrings, type Column, makeColumn, refusalOf, textColumn } from "../_support/arrow/mod.ts";

const bodiesIn = (rows: ArrowRows, json: JsonForms): string[] => bodyStrings(encodeRows(rows, { json }));

const column = (name: string, type: arrow.DataType, values: readonly unknown[], buffer: ArrayBufferView): Column => ({
  name,
  data: makeColumn(type, values, { values: buffer }),
});

const logical = (meaning: string): ReadonlyMap<string, string> => new Map([["filament.logical", meaning]]);

const int64s = (name: string, values: readonly (bigint | null)[]): Column =>
  column(name, new arrow.Int64(), values, BigInt64Array.from(values, (value) => value ?? 0n));

const timestamps = (unit: arrow.TimeUnit, values: readonly (bigint | null)[], zone?: string): arrow.RecordBatch => {
  const buffer = BigInt64Array.from(values, (value) => value ?? 0n);
  return batchOf([column("t", new arrow.Timestamp(unit, zone), values, buffer)]);
};

const valuesOf = (rows: ArrowRows, json: JsonForms): string[] =>
  bodiesIn(rows, json).map((text) => text.slice(text.indexOf(":") + 1, -1));

Deno.test("encodeRows() with int64: safe quotes integers from 2^53 on, of either sign and unsigned", () => {
  const limit = 2n ** 53n;
  const signed = [limit - 1n, limit, 1n - limit, -limit, 2n ** 63n - 1n, -(2n ** 63n), 2n ** 32n, -(2n ** 32n), 0n];
  const expected = signed.map((n) => n > -limit && n < limit ? `${n}` : `"${n}"`);
  assert.deepEqual(valuesOf(batchOf([int64s("i", signed)]), { int64: "safe" }), expected);
  const unsigned = [limit - 1n, limit, 2n ** 63n, 2n ** 64n - 1n, 0n];
  const rows = batchOf([column("u", new arrow.Uint64(), unsigned, BigUint64Array.from(unsigned))]);
  assert.deepEqual(valuesOf(rows, { int64: "safe" }), unsigned.map((n) => n < limit ? `${n}` : `"${n}"`));
  assert.deepEqual(valuesOf(rows, { int64: "string" }), unsigned.map((n) => `"${n}"`));
});

Deno.test("encodeRows() writes timestamps as integers of any unit, and refuses digits that do not fit", () => {
  const { SECOND, MILLISECOND, NANOSECOND } = arrow.TimeUnit;
  assert.deepEqual(valuesOf(timestamps(SECOND, [1n, -1n, 0n, null]), { timestamp: "ns" }), [
    "1000000000",
    "-1000000000",
    "0",
    "null",
  ]);
  const nanos = [1_500_000_000_000_000_000n, -1_000_000_000n, 0n];
  assert.deepEqual(valuesOf(timestamps(NANOSECOND, nanos), { timestamp: "s" }), ["1500000000", "-1", "0"]);
  assert.deepEqual(valuesOf(timestamps(NANOSECOND, nanos), { timestamp: "ns", int64: "string" }), nanos.map(String));
  // The number is exact beyond 64 bits, too.
  assert.deepEqual(valuesOf(timestamps(SECOND, [2n ** 62n]), { timestamp: "ns" }), [`${2n ** 62n}000000000`]);
  for (const [unit, value] of [[MILLISECOND, 1500n], [MILLISECOND, -1n], [NANOSECOND, 10_000_000_001n]] as const) {
    const error = refusalOf(() => encodeRows(timestamps(unit, [0n, value]), { json: { timestamp: "s" } }));
    assert.deepEqual([error.code, error.row, error.column], ["encode.value", 1, "t"]);
    assert.match(error.message, new RegExp(`a timestamp in s must be a whole number: received ${value} (ms|ns)`));
  }
  const infinite = [2n ** 63n - 1n, -(2n ** 63n)];
  for (const timestamp of ["iso", "ms", "ns"] as const) {
    assert.deepEqual(valuesOf(timestamps(MILLISECOND, infinite, "UTC"), { timestamp }), ['"infinity"', '"-infinity"']);
  }
});

Deno.test("encodeRows() with naive: Z ends timestamps without a zone with Z, before BC, but not infinities", () => {
  const { SECOND } = arrow.TimeUnit;
  const values = [0n, -62_135_596_801n, 2n ** 63n - 1n];
  const expected = ['"1970-01-01T00:00:00Z"', '"0001-12-31T23:59:59Z BC"', '"infinity"'];
  assert.deepEqual(valuesOf(timestamps(SECOND, values), { naive: "Z" }), expected);
  assert.deepEqual(valuesOf(timestamps(SECOND, values, "UTC"), { naive: "Z" }), expected);
  assert.deepEqual(valuesOf(timestamps(SECOND, [0n]), { naive: "Z", timestamp: "s" }), ["0"]);
});

Deno.test("encodeRows() with infinity: duckdb also reads the negative of the maximum as -infinity", () => {
  const days = [-(2 ** 31) + 1, -(2 ** 31), 2 ** 31 - 1, null, 0];
  const dates = batchOf([
    column("d", new arrow.DateDay(), days, Int32Array.from(days, (day) => day ?? -(2 ** 31) + 1)),
  ]);
  assert.deepEqual(valuesOf(dates, { infinity: "duckdb" }), [
    '"-infinity"',
    '"-infinity"',
    '"infinity"',
    "null",
    '"1970-01-01"',
  ]);
  assert.equal(valuesOf(dates, {})[0], '"5877642-06-24 BC"');
  for (const unit of [0, 1, 2, 3] as const) {
    for (const json of [{}, { timestamp: "ns" }, { naive: "Z" }] as const) {
      const rows = timestamps(unit, [-(2n ** 63n) + 1n, 0n]);
      assert.equal(valuesOf(rows, { ...json, infinity: "duckdb" })[0], '"-infinity"');
    }
  }
});

Deno.test("encodeRows() with nulls: omit omits null members at any position", () => {
  const rows = batchOf([
    int64s("a", [null, 1n, null, null]),
    int64s("b", [2n, null, null, 3n]),
    int64s("c", [null, null, null, 4n]),
  ]);
  assert.deepEqual(bodiesIn(rows, { nulls: "omit" }), ['{"b":2}', '{"a":1}', "{}", '{"b":3,"c":4}']);
  assert.deepEqual(bodiesIn(rows, { columns: { b: { nulls: "omit" } } }), [
    '{"a":null,"b":2,"c":null}',
    '{"a":1,"c":null}',
    '{"a":null,"c":null}',
    '{"a":null,"b":3,"c":4}',
  ]);
  assert.deepEqual(bodiesIn(rows, { nulls: "omit", columns: { c: { nulls: "keep" } } }), [
    '{"b":2,"c":null}',
    '{"a":1,"c":null}',
    '{"c":null}',
    '{"b":3,"c":4}',
  ]);
  const nothing = new arrow.Table([
    new arrow.RecordBatch(
      new arrow.Schema([]),
      arrow.makeData({
        type: new arrow.Struct([]),
        length: 2,
        nullCount: 0,
        children: [],
      }),
    ),
  ]);
  assert.deepEqual(bodiesIn(nothing, { nulls: "omit" }), ["{}", "{}"]);
});

Deno.test("encodeRows() with nulls: omit keeps null items, map values and embedded JSON, and omits in nested structs", () => {
  const member = int64s("x", [null, 5n]).data;
  const other = int64s("y", [6n, null]).data;
  const fields = [new arrow.Field("x", member.type, true), new arrow.Field("y", other.type, true)];
  const struct = makeColumn(new arrow.Struct(fields), [1, 1], { children: [member, other] });
  const list = makeColumn(new arrow.List(new arrow.Field("item", struct.type, true)), [1, null, 1], {
    offsets: Int32Array.of(0, 2, 2, 2),
    children: [struct],
  });
  const items = makeColumn(new arrow.List(new arrow.Field("item", member.type, true)), [1, 1, 1], {
    offsets: Int32Array.of(0, 2, 2, 2),
    children: [member],
  });
  const json = textColumn("json", ["null", null, '{"a":null}']);
  const rows = batchOf([
    { name: "structs", data: list },
    { name: "items", data: items },
    { ...json, metadata: logical("json") },
  ]);
  assert.deepEqual(bodiesIn(rows, { nulls: "omit" }), [
    '{"structs":[{"y":6},{"x":5}],"items":[null,5],"json":null}',
    '{"items":[]}',
    '{"structs":[],"items":[],"json":{"a":null}}',
  ]);
});

Deno.test("encodeRows() omits non-finite numbers that would be null, in floats and decimal strings", () => {
  const floats = column("f", new arrow.Float64(), [1, 1, 1, 1], Float64Array.of(1.5, NaN, -Infinity, Infinity));
  const words = textColumn("d", ["NaN", "-Infinity", "2.50", null]);
  const rows = batchOf([floats, { ...words, metadata: logical("decimal") }]);
  assert.deepEqual(bodiesIn(rows, { nonFinite: "null", decimal: "string" }), [
    '{"f":1.5,"d":null}',
    '{"f":null,"d":null}',
    '{"f":null,"d":"2.50"}',
    '{"f":null,"d":null}',
  ]);
  assert.deepEqual(bodiesIn(rows, { nonFinite: "null", nulls: "omit" }), ['{"f":1.5}', "{}", '{"d":2.50}', "{}"]);
  assert.deepEqual(bodiesIn(rows, { decimal: "string" })[2], '{"f":"-Infinity","d":"2.50"}');
  const wrong = batchOf([{ ...textColumn("d", ["1", "x"]), metadata: logical("decimal") }]);
  for (const json of [{ decimal: "string" }, { nonFinite: "null" }, { nulls: "omit", nonFinite: "null" }] as const) {
    const error = refusalOf(() => encodeRows(wrong, { json }));
    assert.deepEqual([error.code, error.row, error.column], ["encode.value", 1, "d"]);
  }
});

Deno.test("encodeRows() writes values of runs and list views in their forms, and omits null runs", () => {
  const int64 = { typeId: 2, bitWidth: 64, isSigned: true };
  const int32 = { typeId: 2, bitWidth: 32, isSigned: true };
  const values = {
    type: int64,
    length: 2,
    values: BigInt64Array.of(7n, 0n),
    nullBitmap: Uint8Array.of(1),
    nullCount: 1,
  };
  const batch = (type: object, data: object): ArrowRows =>
    ({
      schema: { fields: [{ name: "a", type }] },
      numRows: 2,
      data: { length: 2, children: [{ type, length: 2, ...data }] },
    }) as unknown as ArrowRows;
  const runs = { typeId: 22, children: [{ name: "run_ends", type: int32 }, { name: "values", type: int64 }] };
  const ends = { type: int32, length: 2, values: Int32Array.of(1, 2) };
  const rows = batch(runs, { children: [ends, values] });
  assert.deepEqual(bodiesIn(rows, { int64: "string" }), ['{"a":"7"}', '{"a":null}']);
  assert.deepEqual(bodiesIn(rows, { int64: "string", nulls: "omit" }), ['{"a":"7"}', "{}"]);
  const views = { typeId: 25, children: [{ name: "item", type: int64 }] };
  const lists = { valueOffsets: Int32Array.of(0, 0), sizes: Int32Array.of(2, 1), children: [values] };
  assert.deepEqual(bodiesIn(batch(views, lists), { int64: "string", nulls: "omit" }), [
    '{"a":["7",null]}',
    '{"a":["7"]}',
  ]);
});

Deno.test("encodeRows() writes long binary values in every form", () => {
  for (const size of [0, 1, 2, 3, 8189, 8190, 8191, 24_576, 24_577, 200_000]) {
    const bytes = Uint8Array.from({ length: size }, (_, i) => (i * 151 + 7) & 255);
    const data = makeColumn(new arrow.Binary(), [1, 1], { offsets: Int32Array.of(0, size, size), values: bytes });
    const wide = makeColumn(new arrow.FixedSizeBinary(size), [1, 1], { values: new Uint8Array([...bytes, ...bytes]) });
    const rows = batchOf([{ name: "a", data }, { name: "b", data: wide }], 2);
    for (const binary of ["base64", "base64url", "hex"] as const) {
      const expected = JSON.stringify(bytes[binary === "hex" ? "toHex" : "toBase64"](
        ...(binary === "base64url" ? [{ alphabet: "base64url" as const, omitPadding: true }] : []) as [],
      ));
      assert.deepEqual(bodiesIn(rows, { binary }), [`{"a":${expected},"b":${expected}}`, `{"a":"","b":${expected}}`]);
    }
  }
});

Deno.test("encodeRows() throws encode.no_column when json.columns names a missing column", () => {
  const rows = batchOf([int64s("price", []), int64s("count", [])], 0);
  const refuse = (columns: JsonForms["columns"]) => refusalOf(() => encodeRows(rows, { json: { columns: columns! } }));
  const near = refuse({ pricee: { int64: "string" } });
  assert.deepEqual([near.code, near.column, near.row], ["encode.no_column", "pricee", undefined]);
  assert.match(near.message, /they have "price", "count"\. Did you mean "price"\?/);
  assert.match(refuse({ zzz: {} }).message, /the rows have no such column: they have "price", "count"/);
  assert.match(refusalOf(() => encodeRows(batchOf([], 0), { json: { columns: { a: {} } } })).message, /they have none/);
});

Deno.test("encodeRows() finds forms of columns by name when bodyColumns picks or omits some", () => {
  const rows = batchOf([int64s("a", [1n, null]), int64s("b", [2n, null]), int64s("c", [3n, null])]);
  const json: JsonForms = { columns: { a: { int64: "string" }, b: { nulls: "omit" } } };
  const of = (bodyColumns: BodyColumns) => bodyStrings(encodeRows(rows, { bodyColumns, json }));
  assert.deepEqual(of({ pick: ["c", "b"] }), ['{"c":3,"b":2}', '{"c":null}']);
  assert.deepEqual(of({ pick: ["b", "a"] }), ['{"b":2,"a":"1"}', '{"a":null}']);
  assert.deepEqual(of({ omit: ["a"] }), ['{"b":2,"c":3}', '{"c":null}']);
});

Deno.test("encodeView() of parts of any chunks, and up to a limit, writes parts of the whole with nulls omitted", () => {
  const values = Array.from({ length: 40 }, (_, i) => i % 3 === 0 ? null : BigInt(i));
  const names = textColumn("t", values.map((value) => value === null ? null : `${value}`));
  const batch = batchOf([int64s("i", values), names]);
  const expected = values.map((value) => value === null ? "{}" : `{"i":"${value}","t":"${value}"}`);
  const json: JsonForms = { int64: "string", nulls: "omit" };
  assert.deepEqual(bodiesIn(batch.slice(5, 20), json), expected.slice(5, 20));
  const flechette = {
    schema: batch.schema,
    numRows: 40,
    children: [0, 1].map((c) => ({
      data: [batch.slice(0, 7 + c), batch.slice(7 + c, 40)].map((part) => part.data.children[c]),
    })),
  };
  assert.deepEqual(bodiesIn(flechette as unknown as ArrowRows, json), expected);
  const view = viewRows(batch);
  const forms = rowForms(view, view, json);
  for (const maxBytes of [0, 1, 2, 30, 31, 32, 33, 100]) {
    for (let from = 0; from < 40;) {
      const part = encodeView(view, { from, maxBytes, forms });
      assert.deepEqual(bodyStrings(part), expected.slice(from, from += part.rows));
    }
  }
});
