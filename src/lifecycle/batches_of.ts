/**
 * Makes batches of plain sequences of rows.
 *
 * @module
 */

import { ConfigError } from "../errors/mod.ts";
import type { ArrowRows, Operation, RowBatch } from "../types/mod.ts";
import { describe } from "../util/describe.ts";

/**
 * One resource's batches from a table or a record batch, or from a sequence of them, such as a RecordBatchReader.
 * The iterator throws a ConfigError if `rows` is neither.
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
  for await (const piece of piecesOf(rows)) {
    yield operations === undefined ? { resource, rows: piece } : { resource, rows: piece, operations };
  }
}

/** A table is a sequence itself, of its rows as objects; readers have a schema, too, but no number of rows. */
function piecesOf(rows: Parameters<typeof batchesOf>[1]): Iterable<ArrowRows> | AsyncIterable<ArrowRows> {
  if (typeof rows === "object" && rows !== null) {
    if ("schema" in rows && "numRows" in rows) return [rows];
    if (Symbol.asyncIterator in rows || Symbol.iterator in rows) return rows;
  }
  const isPromise = typeof (rows as { readonly then?: unknown } | null | undefined)?.then === "function";
  throw new ConfigError("config.type", {
    field: "rows",
    rule: `must be rows or a sequence of rows${isPromise ? ": await the promise" : ""}`,
    received: describe(rows),
  });
}
