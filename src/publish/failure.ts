/**
 * From what ended a publisher to the error of each call.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { PublishError, type RowOutcomes } from "../errors/mod.ts";
import type { Delivery, Failure } from "./call.ts";
import { overallOutcome, rowOutcomes } from "./outcomes.ts";

/** Which rows a call was about. */
export interface CallRows {
  /** The destination resource. */
  readonly resource: string;
  /** How many rows were selected for the call. */
  readonly count: number;
  /** Their numbers, where not all rows of the batch were selected. */
  readonly only?: readonly number[] | undefined;
}

/** The error of a call that a failure ended; rows that were never submitted are unsent. */
export function publishError(failure: Failure, rows: CallRows, delivery?: Delivery): PublishError {
  // A copy: an error that is kept holds on to no more than it says.
  const codes = delivery?.rows === undefined ? new Uint8Array(rows.count) : delivery.codes.slice();
  const own = failure.delivery !== undefined && failure.delivery === delivery;
  return errorOf(failure, rows, codes, {
    row: own && failure.index !== undefined ? delivery!.rows!.rowNumber(failure.index) : undefined,
    sent: delivery?.sent ?? false,
    batch: 0,
  });
}

/** The error of rows whose outcomes are in `codes`. */
export function errorOf(
  failure: Failure,
  rows: CallRows,
  codes: Uint8Array,
  at: { readonly row: number | undefined; readonly sent: boolean; readonly batch: number },
): PublishError {
  const outcomes = rowOutcomes(codes, rows.only);
  const what = at.row === undefined ? "rows" : `row ${at.row}`;
  return new PublishError(
    failure.code,
    `Cannot publish ${what} of ${describe(rows.resource)}: ${failure.reason} (${summary(codes.length, outcomes)})`,
    {
      outcome: overallOutcome(outcomes, at.sent),
      rowOutcomes: outcomes,
      batch: at.batch,
      row: at.row,
      serverCode: failure.serverCode,
      ...(failure.cause === undefined ? {} : { cause: failure.cause }),
    },
  );
}

function summary(count: number, { counts }: RowOutcomes): string {
  const parts = Object.entries(counts).filter(([, rows]) => rows > 0).map(([word, rows]) => `${rows} ${word}`);
  return `of ${count} rows: ${parts.join(", ") || "none"}`;
}

/** The failure of a call that its caller ended. */
export function abortedFailure(reason: unknown): Failure {
  const text = reason instanceof Error ? `: ${reason.message}` : "";
  return { code: "publish.aborted", reason: `the call was aborted${text}`, cause: reason };
}
