/**
 * Reads a string column of a whole batch by row number. Event ids come from such a column.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { EncodeError } from "../errors/mod.ts";
import { NO_BYTES } from "./buffers.ts";
import { cellError } from "./fault.ts";
import { isText } from "./field_type.ts";
import { type TextSpan, textSpan } from "./text_span.ts";
import { chunkAt, type RowsView } from "./view.ts";

/** A cursor over a string column; rows are numbered in the whole batch. */
export interface TextColumn {
  /** Moves to a row; false where it is null: its index, or the value that the index stands for. */
  seek(row: number): boolean;
  /** The bytes that the value is in. */
  bytes: Uint8Array;
  /** Where it begins. */
  start: number;
  /** Where it ends. */
  end: number;
}

/**
 * Returns the string column of a name; undefined if there is no such column.
 *
 * @throws {EncodeError} `encode.id` if the column's type, or its dictionary's, is not a string; `encode.malformed` from
 * `seek`.
 */
export function textColumn(view: RowsView, name: string): TextColumn | undefined {
  const at = view.names.indexOf(name);
  if (at < 0) return undefined;
  const type = view.types[at]!;
  if (!isText(type)) {
    const problem = `the column must have a string type: its type is ${type.label}. Cast it to a string`;
    throw new EncodeError("encode.id", `Cannot take ids from column ${describe(name)}: ${problem}`, { column: name });
  }
  return cursor(view, at, name);
}

function cursor(view: RowsView, at: number, name: string): TextColumn {
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
  const column: TextColumn = {
    bytes: NO_BYTES,
    start: 0,
    end: 0,
    seek(row) {
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
