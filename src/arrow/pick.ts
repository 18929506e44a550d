/**
 * Finds columns by name, and makes views of some of them.
 *
 * @module
 */

import { EncodeError } from "../errors/mod.ts";
import type { BodyColumns } from "../types/mod.ts";
import { describe } from "../util/describe.ts";
import type { RowsView } from "./view.ts";

/** Names of columns that an error lists at most. */
const MOST_LISTED = 20;

/**
 * Returns the index of a column. Throws an EncodeError `encode.no_column` if there is none of that name; `purpose`
 * stands between `Cannot` and the column's name, as in `take ids from`.
 */
export function columnAt(view: RowsView, column: string, purpose: string): number {
  const at = view.names.indexOf(column);
  if (at >= 0) return at;
  throw new EncodeError(
    "encode.no_column",
    `Cannot ${purpose} column ${describe(column)}: the rows have no such column: they have ${listColumns(view)}`,
    { column },
  );
}

/** Returns the names of a view's columns for an error message. */
export function listColumns({ names }: RowsView): string {
  const shown = names.slice(0, MOST_LISTED).map((name) => describe(name)).join(", ");
  return names.length > MOST_LISTED ? `${shown} and ${names.length - MOST_LISTED} more` : shown || "none";
}

/** Returns a view of the columns of the body. Throws an EncodeError `encode.no_column`. */
export function bodyView(view: RowsView, columns: BodyColumns | undefined): RowsView {
  if (columns === undefined) return view;
  const purpose = columns.pick === undefined ? "leave out" : "make bodies of";
  const named = (columns.pick ?? columns.omit).map((column) => columnAt(view, column, purpose));
  if (columns.pick !== undefined) return viewOf(view, named);
  const omitted = new Set(named);
  return viewOf(view, view.names.map((_, at) => at).filter((at) => !omitted.has(at)));
}

/** Returns a view of columns by index, in that order. */
export function viewOf(view: RowsView, columns: readonly number[]): RowsView {
  const pick = <T>(values: readonly T[]): readonly T[] => columns.map((at) => values[at]!);
  return {
    ...view,
    names: pick(view.names),
    types: pick(view.types),
    chunks: view.chunks.map((chunk) => ({ ...chunk, columns: pick(chunk.columns), starts: pick(chunk.starts) })),
  };
}
