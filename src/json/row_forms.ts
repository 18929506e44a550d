/**
 * The forms of the columns of a body.
 *
 * @module
 */

import { listColumns } from "../arrow/pick.ts";
import type { RowsView } from "../arrow/view.ts";
import { EncodeError } from "../errors/mod.ts";
import { type ColumnForms, formsOf } from "../options/json_forms.ts";
import type { JsonForms } from "../types/mod.ts";
import { describe } from "../util/describe.ts";
import { misspelt } from "../util/nearest.ts";

/** The forms of rows. */
export interface RowForms {
  /** The forms of each column, in schema order. */
  readonly columns: readonly ColumnForms[];
  /** Whether null members of the row's object are omitted, for at least one column. */
  readonly sparse: boolean;
}

/**
 * Returns the forms of the columns of a body, or undefined if all have the default. Throws an EncodeError
 * `encode.no_column` if the forms name a column that the rows do not have.
 */
export function rowForms(rows: RowsView, body: RowsView, json: JsonForms | undefined): RowForms | undefined {
  if (json === undefined) return undefined;
  for (const column of Object.keys(json.columns ?? {})) if (!rows.names.includes(column)) throw noColumn(column, rows);
  const columns = body.names.map((name) => formsOf(json, name));
  return { columns, sparse: columns.some(({ nulls }) => nulls === "omit") };
}

function noColumn(column: string, rows: RowsView): EncodeError {
  const meant = misspelt(column, rows.names);
  const hint = meant === undefined ? "" : `. Did you mean ${describe(meant)}?`;
  return new EncodeError(
    "encode.no_column",
    `Cannot write column ${describe(column)} as json.columns says: the rows have no such column: they have ` +
      `${listColumns(rows)}${hint}`,
    { column },
  );
}
