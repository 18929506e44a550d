/**
 * From what ended a publisher to the error of each call.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { PublishError, type RowOutcomes } from "../errors/mod.ts";
import type { Delivery, Failure } from "./call.ts";
import { overallOutcome, rowOutcomes } from "./outcomes.ts";

/** A publisher that is failing waits for what is on the wire; calls made meanwhile wait with it, and end unsent. */
export type State =
  | { readonly tag: "open" }
  | { readonly tag: "failing"; readonly failure: Failure }
  | { readonly tag: "ended"; readonly failure: Failure };

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

/** The failure of all calls when the connection threw `error`, whose message says why. */
export function lostConnection({ message, cause }: Error): Failure {
  return { code: "publish.disconnected", reason: `the connection is lost: ${message}`, cause };
}

/** A lost connection with the server's reason, if it gave one before. */
export function explained(failure: Failure, reason: Error | undefined): Failure {
  if (reason === undefined || failure.code !== "publish.disconnected") return failure;
  return { ...failure, reason: `the connection is lost: ${reason.message}`, cause: reason };
}

/** The failure of all calls when the server refused an operation that all of them need. */
export function permissionFailure(operation: string, subject: string, cause: unknown): Failure {
  const reason = `the server refused a ${operation} to ${JSON.stringify(subject)}: the user may not`;
  return { code: "publish.permission", reason, cause };
}

/** The failure of all calls by an error that should not be possible. */
export function internalFailure(cause: unknown): Failure {
  return { code: "publish.internal", reason: `an internal error: ${cause}`, cause };
}

/** The error of a publisher that ended, apart from any call. */
export function endError(failure: Failure): PublishError {
  return new PublishError(failure.code, `The publisher has ended: ${failure.reason}`, {
    outcome: "none",
    rowOutcomes: rowOutcomes(new Uint8Array(0)),
    batch: 0,
    row: undefined,
    serverCode: failure.serverCode,
    ...(failure.cause === undefined ? {} : { cause: failure.cause }),
  });
}
