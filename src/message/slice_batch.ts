/**
 * Cuts a batch into smaller ones, each with its part of the operations and of the selection.
 *
 * @module
 */

import { type PieceLimits, pieceRanges, resolveLimits } from "../arrow/slice.ts";
import { type RowsView, sliceOf, viewRows } from "../arrow/view.ts";
import type { BatchLimits, RowBatch } from "../types/mod.ts";
import { checkSelection, operationCodes } from "./operations.ts";

/**
 * Yields the pieces of a batch, in order and without a copy: batches of at most `batchMaxRows` rows and `batchMaxBytes` of
 * Arrow buffers, cut as {@linkcode sliceRows} cuts. Operations given for each row go with their rows. With `only`, a
 * piece spans the rows from its first selected one to its last, and its own `only` counts from there.
 *
 * @throws {ConfigError} `config.type` or `config.range`: a limit is not a positive whole number, or `only` does not
 * ascend.
 * @throws {EncodeError} `encode.operations`, or what {@linkcode encodeRows} would refuse in the schema.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { sliceBatch } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 *
 * const rows = tableFromArrays({ a: Int32Array.of(1, 2, 3) });
 * const [first, second] = sliceBatch({ resource: "r", rows, operations: ["insert", "update", "delete"] }, {
 *   batchMaxRows: 2,
 * });
 * assert.deepEqual([first?.rows.numRows, first?.operations], [2, ["insert", "update"]]);
 * assert.deepEqual([second?.rows.numRows, second?.operations], [1, ["delete"]]);
 * ```
 */
export function sliceBatch(batch: RowBatch, limits: BatchLimits = {}): Iterable<RowBatch> {
  const all = resolveLimits(limits);
  const view = viewRows(batch.rows);
  checkSelection(batch.only, view.rowCount);
  operationCodes(batch.operations, view.rowCount);
  return pieces(batch, view, all);
}

function* pieces(batch: RowBatch, view: RowsView, limits: PieceLimits): Generator<RowBatch, void, undefined> {
  const { rows, operations, only } = batch;
  for (const { from, count } of pieceRanges(view, limits, only)) {
    const selected = only?.slice(from, from + count);
    const first = selected?.[0] ?? from;
    const end = (selected?.at(-1) ?? from + count - 1) + 1;
    yield {
      ...batch,
      rows: sliceOf(rows, view, first, end - first),
      ...(Array.isArray(operations) ? { operations: operations.slice(first, end) } : {}),
      ...(selected === undefined ? {} : { only: selected.map((row) => row - first) }),
    };
  }
}
