/**
 * Checks that the memory of columns can still be read: an ArrayBuffer that is transferred to another thread, or a
 * WebAssembly memory that grows, leaves typed arrays of length 0, whose elements read as undefined.
 *
 * Memory changes only between two turns of the event loop: what is intact at the beginning of synchronous code stays
 * intact until its end.
 *
 * @module
 */

import { type ColumnView, elementsOf } from "./column.ts";
import { cellError, Fault } from "./fault.ts";
import { chunkAt, type ChunkView, type RowsView } from "./view.ts";

/** Returns whether every buffer of a column, its children and dictionaries has the length that it was viewed with. */
export function isIntact(column: ColumnView): boolean {
  if (elementsOf(column) !== column.elements) return false;
  for (const child of column.children) if (!isIntact(child)) return false;
  for (const chunk of column.dictionary) if (!isIntact(chunk)) return false;
  return true;
}

/** Checks the memory of a chunk's columns; `row` is the row to be read next. Throws an EncodeError `encode.malformed`. */
export function checkChunk({ columns }: ChunkView, names: readonly string[], row: number): void {
  for (let at = 0; at < columns.length; at++) {
    if (isIntact(columns[at]!)) continue;
    const fault = new Fault("encode.malformed", "its memory was transferred or resized while the batch was published");
    throw cellError(fault, names[at]!, row);
  }
}

/** Checks the memory of the chunks that hold rows `first` to `last`. Throws an EncodeError `encode.malformed`. */
export function checkRows({ chunks, names }: RowsView, first: number, last: number): void {
  const end = chunkAt(chunks, last);
  for (let at = chunkAt(chunks, first); at <= end; at++) checkChunk(chunks[at]!, names, first);
}
