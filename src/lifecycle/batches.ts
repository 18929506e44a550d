/**
 * Makes batches of plain sequences of rows.
 *
 * @module
 */

import type { ArrowRows, Operation, RowBatch } from "../types.ts";

/**
 * One resource's batches from a sequence of rows, such as a RecordBatchReader.
 *
 * @example
 * ```ts
 * import { batchesOf } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * for await (const batch of batchesOf("orders", [tableFromArrays({ id: [1, 2] })])) {
 *   assert.ok(batch.resource === "orders" && batch.rows.numRows === 2);
 * }
 * ```
 */
export async function* batchesOf(
  resource: string,
  rows: Iterable<ArrowRows> | AsyncIterable<ArrowRows>,
  operations?: Operation,
): AsyncIterable<RowBatch> {
  for await (const piece of rows) {
    yield operations === undefined ? { resource, rows: piece } : { resource, rows: piece, operations };
  }
}
