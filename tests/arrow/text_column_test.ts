import assert from "node:assert/strict";
import * as flechette from "@uwdata/flechette";
import * as arrow from "apache-arrow";
import { type TextColumn, textColumn } from "../../src/arrow/text_column.ts";
import { viewRows } from "../../src/arrow/view.ts";
import type { ArrowRows } from "../../src/types/mod.ts";
import { makeColumn, refusalOf } from "../_support/arrow/mod.ts";

const strings = ["first", null, "", "this string is longer than twelve bytes", "\u20ac", "last"];
const decoder = new TextDecoder();

function textAt(column: TextColumn, row: number): string | null {
  return column.seek(row) ? decoder.decode(column.bytes.subarray(column.start, column.end)) : null;
}

function allStrings(rows: ArrowRows, name = "id"): (string | null)[] {
  const view = viewRows(rows);
  const column = textColumn(view, view.names.indexOf(name));
  const all = Array.from({ length: view.rowCount }, (_, row) => textAt(column, row));
  // Also in another order.
  for (let row = view.rowCount - 1; row >= 0; row -= 2) assert.equal(textAt(column, row), all[row]);
  return all;
}

function tableOf(type: arrow.DataType): arrow.Table {
  return new arrow.Table({ id: arrow.vectorFromArray(strings, type) });
}

/** Utf8View data, for which apache-arrow has no builder. */
function views(): arrow.Data {
  const words = new Int32Array(4 * strings.length);
  const long = new TextEncoder().encode(strings[3]!);
  const bytes = new Uint8Array(words.buffer);
  strings.forEach((text, row) => {
    const value = new TextEncoder().encode(text ?? "");
    words[4 * row] = value.length;
    bytes.set(value.subarray(0, value.length > 12 ? 4 : 12), 16 * row + 4);
  });
  return makeColumn(new arrow.Utf8View(), strings, { values: bytes, variadic: [long] });
}

Deno.test("textColumn() reads every string type", () => {
  const types = [new arrow.Utf8(), new arrow.LargeUtf8(), new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8())];
  for (const type of types) assert.deepEqual(allStrings(tableOf(type)), strings, String(type));
  assert.deepEqual(allStrings(new arrow.Table({ id: new arrow.Vector([views()]) })), strings);
});

Deno.test("textColumn() reads slices, and tables of several chunks, by table row", () => {
  const table = tableOf(new arrow.Utf8());
  assert.deepEqual(allStrings(table.slice(2, 5)), strings.slice(2, 5));
  assert.deepEqual(allStrings(table.concat(table.slice(1, 3), table)), [
    ...strings,
    ...strings.slice(1, 3),
    ...strings,
  ]);
});

Deno.test("textColumn() reads flechette's columns, each with its own chunks", () => {
  // deno-lint-ignore no-explicit-any
  const { columnFromArray, tableFromColumns } = flechette as any;
  const id = columnFromArray(strings, flechette.utf8(), { maxBatchRows: 4 });
  const other = columnFromArray([1, 2, 3, 4, 5, 6], flechette.int8(), { maxBatchRows: 5 });
  assert.deepEqual(allStrings(tableFromColumns({ other, id })), strings);
  const coded = columnFromArray(strings, flechette.dictionary(flechette.utf8()), {});
  assert.deepEqual(allStrings(tableFromColumns({ id: coded })), strings);
});

Deno.test("textColumn() reads a null of the dictionary as null", () => {
  const words = arrow.vectorFromArray(["x", null], new arrow.Utf8());
  const type = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int8());
  const data = makeColumn(type, [0, 1, null], { values: Int8Array.of(0, 1, 77), dictionary: words });
  assert.deepEqual(allStrings(new arrow.Table({ id: new arrow.Vector([data]) })), ["x", null, null]);
});

Deno.test("textColumn() refuses offsets and indices out of range with column and row", () => {
  const chunk = (last: number): arrow.Data =>
    makeColumn(new arrow.Utf8(), [1, 2], { offsets: Int32Array.of(0, 1, last), values: new Uint8Array(2) });
  const view = viewRows(new arrow.Table({ id: new arrow.Vector([chunk(2), chunk(3)]) }));
  const column = textColumn(view, 0);
  assert.ok(column.seek(1) && column.seek(2));
  const error = refusalOf(() => column.seek(3));
  assert.deepEqual([error.code, error.column, error.row], ["encode.malformed", "id", 3]);
  assert.throws(() => column.seek(4), RangeError);
});
