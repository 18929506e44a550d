/**
 * Makes batches of plain sequences of rows.
 *
 * @module
 */

import type { ArrowRows, Operation, RowBatch } from "../types/mod.ts";

/**
 * One resource's batches from a table or a record batch, or from a sequence of them, such as a RecordBatchReader.
 *
 * @example
 * ```ts
 * import { batchesOf } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const table = tableFromArrays({ id: [1, 2] });
 * for (const rows of [table, table.batches, [table]]) {
 *   for await (const batch of batchesOf("orders", rows)) {
 *     assert.ok(batch.resource === "orders" && batch.rows.numRows === 2);
 *   }
 * }
 * ```
 */
export async function* batchesOf(
  resource: string,
  rows: ArrowRows | Iterable<ArrowRows> | AsyncIterable<ArrowRows>,
  operations?: Operation,
): AsyncIterable<RowBatch> {
  for await (const piece of isRows(rows) ? [rows] : rows) {
    yield operations === undefined ? { resource, rows: piece } : { resource, rows: piece, operations };
  }
}

/** A table is a sequence itself, of its rows as objects; readers have a schema, too, but no number of rows. */
function isRows(rows: object): rows is ArrowRows {
  return "schema" in rows && "numRows" in rows;
}
