/**
 * Cells whose value is in another column: dictionaries, runs and unions. The cell of that column also writes the key.
 *
 * @module
 */

import { dictionaryPlace, memberTable, type Place, runFinder } from "../../arrow/access.ts";
import type { ColumnView } from "../../arrow/column.ts";
import { malformed } from "../../arrow/fault.ts";
import type { ShapeOf } from "../../arrow/field_type.ts";
import { lazily } from "../../util/lazily.ts";
import { type Cell, type CellMaker, unset } from "./cell.ts";
import { type Key, putNull } from "../write/key.ts";

/** Returns the cell of a dictionary column. */
export function dictionaryCell(column: ColumnView, key: Key, make: CellMaker): Cell {
  const { bits, bitOffset } = column;
  const place: Place = { chunk: 0, slot: 0 };
  const find = dictionaryPlace(column, place);
  const valueOf = lazily((chunk) => make(column.dictionary[chunk]!, key, column.dictionary[chunk]!.length));
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    find(slot);
    return valueOf(place.chunk)(place.slot, position);
  };
}

/** A cell of a run-end encoded column. */
export function runsCell(column: ColumnView, key: Key, make: CellMaker): Cell {
  const values = column.children[0]!;
  const value = make(values, key, values.length);
  const find = runFinder(column);
  return (slot, position) => value(find(slot), position);
}

/** Returns the cell of a union column. */
export function unionCell(column: ColumnView, key: Key, type: ShapeOf<"union">, slots: number, make: CellMaker): Cell {
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
