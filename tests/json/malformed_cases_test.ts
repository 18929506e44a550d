import assert from "node:assert/strict";
import * as flechette from "@uwdata/flechette";
import * as arrow from "apache-arrow";
import { encodeRows } from "../../src/json/encode.ts";
import type { ArrowRows } from "../../src/types/mod.ts";
import { batchOf, type DataParts, makeColumn, refusalOf } from "../_support/arrow/mod.ts";

const utf8 = new arrow.Utf8();
const int32 = new arrow.Int32();
const text = new TextEncoder().encode("abcdef");

/** Three rows of a column `a`, with a fault at row 1. */
function rowsOf(type: arrow.DataType, parts: DataParts, length = 3): ArrowRows {
  return batchOf([{ name: "a", data: makeColumn(type, new Array(length).fill(1), parts) }], length);
}

function ints(length: number): arrow.Data {
  return makeColumn(int32, new Array(length).fill(1), { values: new Int32Array(length) });
}

/** Three views: `a`, the given words, `a`. */
function views(type: arrow.DataType, words: readonly number[]): ArrowRows {
  const inline = [1, 0x61, 0, 0];
  const values = new Uint8Array(Int32Array.from([...inline, ...words, ...inline]).buffer);
  return rowsOf(type, { values, variadic: [new Uint8Array(20)] });
}

function withBitmap(bitmap: Uint8Array, length: number): ArrowRows {
  const data = new arrow.Data(int32, 0, length, 1, [undefined, new Int32Array(length), bitmap]);
  return batchOf([{ name: "a", data }], length);
}

/** Rows in flechette's form, for layouts that apache-arrow does not have. */
function flechetteRows(type: unknown, batch: object): ArrowRows {
  const schema = { fields: [{ name: "a", type, nullable: true, metadata: null }] };
  const data = [{ length: 3, nullCount: 0, type, ...batch }];
  return { schema, numRows: 3, children: [{ type, length: 3, data }] } as unknown as ArrowRows;
}

function listViews(offsets: readonly number[], sizes: readonly number[], items: number): ArrowRows {
  const item = flechette.int32();
  return flechetteRows(flechette.listView(item), {
    offsets: Int32Array.from(offsets),
    sizes: Int32Array.from(sizes),
    children: [{ length: items, nullCount: 0, type: item, values: new Int32Array(items) }],
  });
}

function runs(ends: readonly number[], values: number): ArrowRows {
  const [end, item] = [flechette.int32(), flechette.int32()];
  return flechetteRows(flechette.runEndEncoded(flechette.field("run_ends", end), flechette.field("values", item)), {
    children: [
      { length: ends.length, nullCount: 0, type: end, values: Int32Array.from(ends) },
      { length: values, nullCount: 0, type: item, values: new Int32Array(values) },
    ],
  });
}

const list = new arrow.List(new arrow.Field("item", int32));
const largeList = new arrow.LargeList(new arrow.Field("item", int32));
const fixedList = new arrow.FixedSizeList(2, new arrow.Field("item", int32));
const struct = new arrow.Struct([new arrow.Field("x", int32)]);
const members = [new arrow.Field("x", int32), new arrow.Field("y", int32)];
const dense = new arrow.DenseUnion([3, 5], members);
const sparse = new arrow.SparseUnion([3, 5], members);
const words = new arrow.Dictionary(utf8, new arrow.Int8(), 1);
const dictionary = new arrow.Vector([makeColumn(utf8, ["a", "b"], { offsets: Int32Array.of(0, 1, 2), values: text })]);

/** Integers that are all null, with a validity bitmap that covers more of them. */
function nulls(length: number): arrow.Data {
  return new arrow.Data(int32, 0, length, length, [undefined, new Int32Array(8), new Uint8Array(1)]);
}

/** What is wrong, and the row in which it is found. */
const CASES: Readonly<Record<string, readonly [rows: ArrowRows, row: number]>> = {
  "an offset beyond the string": [rowsOf(utf8, { offsets: Int32Array.of(0, 1, 7, 7), values: text }), 1],
  "offsets that descend": [rowsOf(utf8, { offsets: Int32Array.of(0, 4, 2, 6), values: text }), 1],
  "a negative offset": [rowsOf(utf8, { offsets: Int32Array.of(0, -1, 2, 6), values: text }), 0],
  "a 64-bit offset that is right in its low half": [
    rowsOf(new arrow.LargeUtf8(), { offsets: BigInt64Array.of(0n, 1n, 2n ** 32n + 2n, 3n), values: text }),
    1,
  ],
  "an offset too few": [rowsOf(utf8, { offsets: Int32Array.of(0, 1, 2), values: text }), 2],
  "no offsets": [rowsOf(utf8, { values: text }), 0],
  "no values": [rowsOf(int32, {}), 0],
  "a value too few": [rowsOf(int32, { values: new Int32Array(2) }), 2],
  "half a 64-bit value": [rowsOf(new arrow.Int64(), { values: new Uint8Array(20) }), 2],
  "a decimal too few": [rowsOf(new arrow.Decimal(2, 10, 128), { values: new Uint32Array(11) }), 2],
  "a fixed binary too short": [rowsOf(new arrow.FixedSizeBinary(4), { values: new Uint8Array(11) }), 2],
  "a bit too few": [rowsOf(new arrow.Bool(), { values: new Uint8Array(1) }, 9), 8],
  "a validity bitmap too short": [withBitmap(Uint8Array.of(255), 9), 8],
  "a view into no buffer": [views(new arrow.Utf8View(), [13, 0, 1, 0]), 1],
  "a view into a negative buffer": [views(new arrow.Utf8View(), [13, 0, -1, 0]), 1],
  "a view behind its buffer": [views(new arrow.Utf8View(), [13, 0, 0, 8]), 1],
  "a view before its buffer": [views(new arrow.BinaryView(), [13, 0, 0, -1]), 1],
  "a view of negative size": [views(new arrow.BinaryView(), [-1, 0, 0, 0]), 1],
  "a list behind its items": [rowsOf(list, { offsets: Int32Array.of(0, 1, 3, 3), children: [ints(2)] }), 1],
  "list offsets that descend": [rowsOf(list, { offsets: Int32Array.of(0, 2, 1, 2), children: [ints(2)] }), 1],
  "a large list behind its items": [
    rowsOf(largeList, { offsets: BigInt64Array.of(0n, 1n, 2n ** 40n, 2n ** 40n), children: [ints(2)] }),
    1,
  ],
  "a list without a child": [rowsOf(list, { offsets: Int32Array.of(0, 0, 1, 1), children: [] }), 1],
  "a fixed list whose items end early": [rowsOf(fixedList, { children: [ints(3)] }), 1],
  "a struct whose field ends early": [rowsOf(struct, { children: [ints(1)] }), 1],
  "a dictionary index behind the dictionary": [rowsOf(words, { values: Int8Array.of(0, 2, 1), dictionary }), 1],
  "a negative dictionary index": [rowsOf(words, { values: Int8Array.of(0, -1, 1), dictionary }), 1],
  "a union's unknown type id": [
    rowsOf(sparse, { typeIds: Int8Array.of(3, 4, 5), children: [ints(3), ints(3)] }),
    1,
  ],
  "a dense union's offset behind its member": [
    rowsOf(dense, { typeIds: Int8Array.of(3, 5, 3), offsets: Int32Array.of(0, 1, 1), children: [ints(2), ints(1)] }),
    1,
  ],
  "a dense union's negative offset": [
    rowsOf(dense, { typeIds: Int8Array.of(3, 5, 3), offsets: Int32Array.of(0, -1, 1), children: [ints(2), ints(1)] }),
    1,
  ],
  "a dense union's offset behind a member of nulls": [
    rowsOf(dense, { typeIds: Int8Array.of(3, 5, 3), offsets: Int32Array.of(0, 1, 1), children: [ints(2), nulls(1)] }),
    1,
  ],
  "a dense union's negative offset into a member of nulls": [
    rowsOf(dense, { typeIds: Int8Array.of(3, 5, 3), offsets: Int32Array.of(0, -1, 1), children: [ints(2), nulls(1)] }),
    1,
  ],
  "a sparse union's member of nulls that ends early": [
    rowsOf(sparse, { typeIds: Int8Array.of(3, 5, 3), children: [ints(3), nulls(1)] }),
    1,
  ],
  "a struct whose field of nulls ends early": [
    rowsOf(new arrow.Struct([new arrow.Field("x", int32), new arrow.Field("y", int32)]), {
      children: [ints(3), nulls(1)],
    }),
    1,
  ],
  "a sparse union's member that ends early": [
    rowsOf(sparse, { typeIds: Int8Array.of(3, 5, 3), children: [ints(3), ints(1)] }),
    1,
  ],
  "a list view behind its items": [listViews([0, 1, 0], [1, 2, 1], 2), 1],
  "a list view before its items": [listViews([0, -1, 0], [1, 2, 1], 2), 1],
  "a list view of negative size": [listViews([0, 1, 0], [1, -1, 1], 2), 1],
  "list views with a size too few": [listViews([0, 1, 0], [1, 1], 2), 2],
  "runs that end early": [runs([1, 2], 2), 2],
  "runs without a value": [runs([1, 3], 1), 1],
};

for (const [what, [rows, row]] of Object.entries(CASES)) {
  Deno.test(`encodeRows() refuses ${what}`, () => {
    for (const nulls of ["keep", "omit"] as const) {
      const error = refusalOf(() => encodeRows(rows, { json: { nulls } }));
      assert.deepEqual([error.code, error.column, error.row], ["encode.malformed", "a", row], error.message);
    }
  });
}

Deno.test("encodeRows() does not read values that are null, unselected or unreferenced", () => {
  const wild = { offsets: Int32Array.of(0, -7, 999, 2), values: text };
  const nulls = batchOf([{ name: "a", data: makeColumn(utf8, [null, null, null], wild) }]);
  assert.equal(new TextDecoder().decode(encodeRows(nulls).bytes), '{"a":null}{"a":null}{"a":null}');
  const index = makeColumn(words, [1, null, 1], { values: Int8Array.of(0, 99, 0), dictionary });
  assert.equal(
    new TextDecoder().decode(encodeRows(batchOf([{ name: "a", data: index }])).bytes),
    '{"a":"a"}{"a":null}{"a":"a"}',
  );
});
