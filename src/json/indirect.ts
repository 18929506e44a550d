/**
 * Cells whose value is in another column: dictionaries, runs and unions. The other column's cell writes the key too.
 *
 * @module
 */

import { dictionaryPlace, memberTable, type Place, runFinder } from "../arrow/access.ts";
import type { ColumnView } from "../arrow/column.ts";
import { malformed } from "../arrow/fault.ts";
import type { Shape } from "../arrow/field_type.ts";
import { type Cell, type CellMaker, unset } from "./cell.ts";
import { type Key, putNull } from "./key.ts";

type Of<K extends Shape["kind"]> = Extract<Shape, { readonly kind: K }>;

/**
 * A cell of a dictionary column.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Dictionary, Int8, Table, Utf8, vectorFromArray } from "apache-arrow";
 * import { viewRows } from "../arrow/view.ts";
 * import { NO_KEY } from "./key.ts";
 * import { writtenText } from "./scratch.ts";
 * import { cellOf } from "./writer.ts";
 *
 * const view = viewRows(new Table({ a: vectorFromArray(["x"], new Dictionary(new Utf8(), new Int8())) }));
 * const column = view.chunks[0]!.columns[0]!;
 * assert.ok(column.type.kind === "dictionary");
 * assert.equal(writtenText(dictionaryCell(column, NO_KEY, cellOf)(0, 0)), '"x"');
 * ```
 */
export function dictionaryCell(column: ColumnView, key: Key, make: CellMaker): Cell {
  const { bits, bitOffset } = column;
  const place: Place = { chunk: 0, slot: 0 };
  const find = dictionaryPlace(column, place);
  const values = column.dictionary.map((chunk) => make(chunk, key, chunk.length));
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    find(slot);
    return values[place.chunk]!(place.slot, position);
  };
}

/**
 * A cell of a run-end encoded column.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { columnFromArray, int32, runEndEncoded, tableFromColumns } from "@uwdata/flechette";
 * import { viewRows } from "../arrow/view.ts";
 * import { NO_KEY } from "./key.ts";
 * import { writtenText } from "./scratch.ts";
 * import { cellOf } from "./writer.ts";
 * import type { ArrowRows } from "../types.ts";
 *
 * const table = tableFromColumns({ a: columnFromArray([7, 7], runEndEncoded(int32(), int32())) });
 * const column = viewRows(table as unknown as ArrowRows).chunks[0]!.columns[0]!;
 * assert.equal(writtenText(runsCell(column, NO_KEY, cellOf)(1, 0)), "7");
 * ```
 */
export function runsCell(column: ColumnView, key: Key, make: CellMaker): Cell {
  const values = column.children[0]!;
  const value = make(values, key, values.length);
  const find = runFinder(column);
  return (slot, position) => value(find(slot), position);
}

/**
 * A cell of a union column.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { Field, Int8, makeData, SparseUnion, Table, Vector } from "apache-arrow";
 * import { viewRows } from "../arrow/view.ts";
 * import { NO_KEY } from "./key.ts";
 * import { writtenText } from "./scratch.ts";
 * import { cellOf } from "./writer.ts";
 *
 * const member = makeData({ type: new Int8(), data: Int8Array.of(9) });
 * const type = new SparseUnion([5], [new Field("x", new Int8())]);
 * const data = makeData({ type, length: 1, typeIds: Int8Array.of(5), children: [member] });
 * const column = viewRows(new Table({ a: new Vector([data]) })).chunks[0]!.columns[0]!;
 * assert.ok(column.type.kind === "union");
 * assert.equal(writtenText(unionCell(column, NO_KEY, column.type, 1, cellOf)(0, 0)), "9");
 * ```
 */
export function unionCell(column: ColumnView, key: Key, type: Of<"union">, slots: number, make: CellMaker): Cell {
  const { codes, offsets, children } = column;
  const { dense } = type;
  const table = memberTable(type.codes);
  const members = children.map((child) => make(child, key, dense ? child.length : slots));
  return (slot, position) => {
    const code = codes[slot]!;
    const member = table[code + 128]!;
    if (member < 0) malformed(`type id ${code} is none of the union's`);
    if (!dense) return members[member]!(slot, position);
    const at = offsets[slot]!;
    const length = children[member]!.length;
    if (!(at >= 0 && at < length)) malformed(`offset ${at} is outside of the union member's ${length}`);
    return members[member]!(at, position);
  };
}
