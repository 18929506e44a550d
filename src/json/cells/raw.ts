/**
 * The cell of a column whose bytes are the body.
 *
 * @module
 */

import type { ColumnView } from "../../arrow/column.ts";
import { textSpan } from "../../arrow/text_span.ts";
import { putBytes } from "../memory/scratch.ts";
import type { Cell } from "./cell.ts";

/** Returns the cell of a column of strings or binary that writes the bytes unchanged, and nothing for null. */
export function rawCell(column: ColumnView): Cell {
  const span = textSpan(column);
  return (slot, position) => span.seek(slot) ? putBytes(position, span.bytes, span.start, span.end) : position;
}
