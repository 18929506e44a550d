/**
 * Reads a string or binary column of a whole batch by row number: event ids, operations, values of subjects and headers.
 *
 * @module
 */

import { NO_BYTES } from "./buffers.ts";
import { cellError } from "./fault.ts";
import { type TextSpan, textSpan } from "./text_span.ts";
import { chunkAt, type RowsView } from "./view.ts";

/** A cursor over a string column; rows are numbered in the whole batch. */
export interface TextColumn {
  /** Moves to a row; returns false if its index, or the value behind the index, is null. */
  seek(row: number): boolean;
  /** The bytes that contain the value. */
  readonly bytes: Uint8Array;
  /** The position of its first byte. */
  readonly start: number;
  /** The position after its last byte. */
  readonly end: number;
}

/**
 * Returns a cursor over a column of strings or binary, or of a dictionary of either, by its index in the schema. `seek`
 * throws EncodeErrors `encode.malformed`.
 */
export function textColumn(view: RowsView, at: number): TextColumn {
  const name = view.names[at]!;
  const { chunks } = view;
  let first = 0;
  let last = 0;
  let shift = 0;
  let span: TextSpan;
  const enter = (row: number): void => {
    const chunk = chunks[chunkAt(chunks, row)];
    if (chunk === undefined) throw new RangeError(`row ${row} is outside of ${view.rowCount}`);
    first = chunk.firstRow;
    last = first + chunk.rowCount;
    shift = chunk.starts[at]! - first;
    span = textSpan(chunk.columns[at]!);
  };
  const column = {
    bytes: NO_BYTES as Uint8Array,
    start: 0,
    end: 0,
    seek(row: number): boolean {
      if (row < first || row >= last) enter(row);
      try {
        if (!span.seek(row + shift)) return false;
      } catch (fault) {
        throw cellError(fault, name, row);
      }
      column.bytes = span.bytes;
      column.start = span.start;
      column.end = span.end;
      return true;
    },
  };
  return column;
}
