/**
 * The cells of the columns of a chunk.
 *
 * @module
 */

import type { ChunkView } from "../../arrow/view.ts";
import type { RowForms } from "../row_forms.ts";
import type { Key } from "../write/key.ts";
import type { Cell } from "./cell.ts";
import { cellMaker, cellOf } from "./mod.ts";
import { rawCell } from "./raw.ts";
import { absentTest, sparseCells } from "./sparse.ts";

/** The way in which the rows of a view are written. */
export interface RowStyle {
  /** The bytes before the value of each column. */
  readonly keys: readonly Key[];
  /** Whether the bytes of the only column are the body. */
  readonly raw: boolean;
  /** The forms of the columns' values; absent: the default of each. */
  readonly forms: RowForms | undefined;
}

/** Returns the cell of each column; slots count from the chunk's first row. */
export function rowCells({ columns, starts, rowCount }: ChunkView, { keys, raw, forms }: RowStyle): readonly Cell[] {
  const cells = columns.map((column, at) => {
    if (raw) return shiftCell(rawCell(column), starts[at]!);
    const make = forms === undefined ? cellOf : cellMaker(forms.columns[at]!);
    return shiftCell(make(column, keys[at]!, starts[at]! + rowCount), starts[at]!);
  });
  if (!forms?.sparse) return cells;
  return sparseCells(columns.map((column, at) => {
    const shift = starts[at]!;
    const absent = absentTest(column, forms.columns[at]!);
    return { cell: cells[at]!, absent: absent && ((slot) => absent(slot + shift)) };
  }));
}

function shiftCell(cell: Cell, shift: number): Cell {
  return shift === 0 ? cell : (slot, position) => cell(slot + shift, position);
}
