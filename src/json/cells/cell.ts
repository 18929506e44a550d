/**
 * What writes one cell, and what makes it.
 *
 * @module
 */

import { allReadable, checkReadable } from "../../arrow/access.ts";
import type { ColumnView } from "../../arrow/column.ts";
import type { Key } from "../write/key.ts";

/** Writes the key and the value of a slot at a position of the scratch; gives the position after it. */
export type Cell = (slot: number, position: number) => number;

/** Makes the cell of a column; for nested types it is called again for the children. */
export type CellMaker = (column: ColumnView, key: Key, slots: number) => Cell;

/**
 * A cell that checks each slot before it is read, for columns whose buffers are shorter than the slots that may be
 * asked for; the cell itself for all others.
 */
export function guarded(cell: Cell, column: ColumnView, slots: number): Cell {
  if (allReadable(column, slots)) return cell;
  return (slot, position) => {
    checkReadable(column, slot);
    return cell(slot, position);
  };
}

/** Whether a bit of a bitmap is 0; the first bit is the lowest of the first byte. */
export function unset(bits: Uint8Array, at: number): boolean {
  return (bits[at >> 3]! >> (at & 7) & 1) === 0;
}
