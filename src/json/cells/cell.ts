/**
 * The closure that writes the cells of a column, and its checks.
 *
 * @module
 */

import { allReadable, checkReadable } from "../../arrow/access.ts";
import type { ColumnView } from "../../arrow/column.ts";
import type { Key } from "../write/key.ts";

/** Writes the key and the value of a slot to the scratch at a position. Returns the position after them. */
export type Cell = (slot: number, position: number) => number;

/** Makes the cell of a column. Cells of nested types call it for their children. */
export type CellMaker = (column: ColumnView, key: Key, slots: number) => Cell;

/**
 * Wraps a cell so that it checks each slot before it reads it, if the buffers of the column are shorter than `slots`.
 * Returns the cell itself otherwise.
 */
export function guardCell(cell: Cell, column: ColumnView, slots: number): Cell {
  if (allReadable(column, slots)) return cell;
  return (slot, position) => {
    checkReadable(column, slot);
    return cell(slot, position);
  };
}

/** Returns whether a bit of a bitmap is 0. The first bit is the lowest of the first byte. */
export function unset(bits: Uint8Array, at: number): boolean {
  return (bits[at >> 3]! >> (at & 7) & 1) === 0;
}
