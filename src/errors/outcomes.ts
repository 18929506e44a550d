/**
 * What is known about the rows of a failed call.
 *
 * @module
 */

/**
 * What is known about one row after a failed call. A row is `rejected` if the server refused every submission of it, and
 * `unknown` if it may be stored by any of them.
 *
 * @example
 * ```ts
 * import type { RowOutcome } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const isStored = (outcome: RowOutcome) => outcome === "acked" || outcome === "duplicate";
 * assert.deepEqual([isStored("duplicate"), isStored("unknown")], [true, false]);
 * ```
 */
export type RowOutcome = "acked" | "duplicate" | "rejected" | "unknown" | "unsent";

/**
 * What is known about every row of a failed call. The counts always add up to the rows of the batch.
 *
 * @example
 * ```ts
 * import type { RowBatch, RowOutcomes } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * // The rows of a batch that have to be sent again.
 * const rest = (batch: RowBatch, outcomes: RowOutcomes): RowBatch => ({ ...batch, only: outcomes.unsettled() });
 * const outcomes: RowOutcomes = {
 *   counts: { acked: 1, duplicate: 0, rejected: 0, unknown: 1, unsent: 0 },
 *   at: (row) => row === 0 ? "acked" : "unknown",
 *   unsettled: () => [1],
 * };
 * assert.deepEqual(rest({ resource: "eu", rows: tableFromArrays({ id: [1, 2] }) }, outcomes).only, [1]);
 * ```
 */
export interface RowOutcomes {
  /** How many rows ended each way; `acked` does not include the duplicates. */
  readonly counts: Readonly<Record<RowOutcome, number>>;
  /**
   * Returns the outcome of one row, by its number in the batch as the caller passed it. Throws a RangeError for a row that
   * was not selected.
   */
  at(row: number): RowOutcome;
  /** Returns the rows to send again, ascending: rejected, unknown and unsent ones. Fits `RowBatch.only`. */
  unsettled(): readonly number[];
}

/**
 * What a failed call left behind. `none`: nothing was sent. `partial`: the outcome of every row is known (see
 * {@linkcode RowOutcome} for the exception with `retry`). `uncertain`: the outcome of some row is unknown.
 *
 * @example
 * ```ts
 * import type { PublishOutcome } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const isProven = (outcome: PublishOutcome) => outcome !== "uncertain";
 * assert.deepEqual([isProven("partial"), isProven("uncertain")], [true, false]);
 * ```
 */
export type PublishOutcome = "none" | "partial" | "uncertain";
