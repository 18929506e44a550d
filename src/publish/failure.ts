/**
 * The failures that end a publisher, and the errors that its calls reject with.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { PublishError, type PublishErrorCode, type PublishOutcome, type RowOutcomes } from "../errors/mod.ts";
import type { Destinations } from "../stream/destination.ts";
import type { Call, Failure } from "./call.ts";
import { overallOutcome, rowOutcomes } from "./outcomes.ts";

/**
 * The state of a publisher:
 *
 * - `open`: calls can begin.
 * - `failing`: nothing more is submitted, and rows on the wire are waited for. Calls that begin meanwhile will fail.
 * - `ending`: the connection is being released. All calls will fail when it is.
 * - `ended`: all calls have failed; later ones fail at once.
 */
export type PublisherState =
  | { readonly tag: "open" }
  | { readonly tag: "failing" | "ending"; readonly failure: Failure }
  | { readonly tag: "ended"; readonly failure: Failure; readonly error: PublishError | undefined };

/** Returns the error of a call that a failure ended. Rows that were never submitted are unsent. */
export function publishError(failure: Failure, call: Call): PublishError {
  const { resource, count, only } = call.fields;
  // A copy, so that an error that is kept does not keep the call's memory.
  const codes = call.isLoaded ? call.ledger.codes.slice() : new Uint8Array(count);
  const row = failure.call === call && failure.index !== undefined ? call.rows.rowNumber(failure.index) : undefined;
  return batchError(failure, { resource, only, codes, row, sent: call.hasSubmitted, batch: 0 });
}

/** The rows that a PublishError is about. */
export interface FailedRows {
  /** The destination resource. */
  readonly resource: string;
  /** The numbers of the selected rows, if not all rows of the batch were selected. */
  readonly only?: readonly number[] | undefined;
  /** The code of each selected row's outcome; see outcomes.ts. */
  readonly codes: Uint8Array;
  /** The number of the row that failed, if one row did. */
  readonly row: number | undefined;
  /** Whether any row was submitted. */
  readonly sent: boolean;
  /** The batch's index in its sequence. */
  readonly batch: number;
}

/** Returns the error of the rows of a batch. */
export function batchError(failure: Failure, { resource, only, codes, row, sent, batch }: FailedRows): PublishError {
  const outcomes = rowOutcomes(codes, only);
  const what = row === undefined ? "rows" : `row ${row}`;
  return new PublishError(
    failure.code,
    `Cannot publish ${what} of ${describe(resource)}: ${failure.reason} (${summary(codes.length, outcomes)})`,
    {
      outcome: overallOutcome(outcomes, sent),
      rowOutcomes: outcomes,
      batch,
      row,
      serverCode: failure.serverCode,
      ...(failure.cause === undefined ? {} : { cause: failure.cause }),
    },
  );
}

function summary(count: number, { counts }: RowOutcomes): string {
  const parts = Object.entries(counts).filter(([, rows]) => rows > 0).map(([word, rows]) => `${rows} ${word}`);
  return `of ${count} ${count === 1 ? "row" : "rows"}: ${parts.join(", ") || "none"}`;
}

/** Returns the failure of a call that its caller aborted. */
export function abortedFailure(reason: unknown): Failure {
  const text = reason instanceof Error ? `: ${reason.message}` : "";
  return { code: "publish.aborted", reason: `the call was aborted${text}`, cause: reason };
}

/** Returns the failure of all calls after the connection threw `error`. */
export function lostConnection({ message, cause }: Error): Failure {
  return { code: "publish.disconnected", reason: `the connection is lost: ${message}`, cause };
}

/** Adds the server's reason, if it sent one, to the failure of a lost connection. Returns other failures unchanged. */
export function withServerReason(failure: Failure, reason: Error | undefined): Failure {
  if (reason === undefined || failure.code !== "publish.disconnected") return failure;
  return { ...failure, reason: `the connection is lost: ${reason.message}`, cause: reason };
}

/** Returns the failure of all calls after the server refused an operation that all of them need. */
export function permissionFailure(operation: string, subject: string, cause: unknown): Failure {
  const reason = `the server refused a ${operation} to ${JSON.stringify(subject)}: the user has no permission`;
  return { code: "publish.permission", reason, cause };
}

/** Returns the failure of all calls by an error of jetrow's own. */
export function internalFailure(cause: unknown): Failure {
  return { code: "publish.internal", reason: `an internal error: ${cause}`, cause };
}

/** Returns the error of a publisher that ended while no call was in progress. */
export function endError({ code, reason, serverCode, cause }: Failure): PublishError {
  return rowlessError(code, `The publisher has ended: ${reason}`, "none", serverCode, cause);
}

/**
 * Returns a PublishError `publish.stream_changed` if a stream was deleted since rows were published to it: the last
 * check of a run, an epoch or a sequence before it returns totals. A lookup without an answer proves nothing.
 */
export async function streamChangedError(destinations: Destinations): Promise<PublishError | undefined> {
  const stream = await destinations.takeLostStream();
  if (stream === undefined) return undefined;
  const message = `Cannot confirm the rows of stream "${stream}": the stream was deleted while rows were published, ` +
    `and rows that it acknowledged went with it. Publish all rows again.`;
  return rowlessError("publish.stream_changed", message, "uncertain");
}

function rowlessError(
  code: PublishErrorCode,
  message: string,
  outcome: PublishOutcome,
  serverCode?: number,
  cause?: unknown,
): PublishError {
  return new PublishError(code, message, {
    outcome,
    rowOutcomes: rowOutcomes(new Uint8Array(0)),
    batch: 0,
    row: undefined,
    serverCode,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** Whether the cause of a failure may be a row that the server did not let pass: it refuses a batch that lacks a row. */
export function mayLackRow({ code }: Failure, inBatches: boolean): boolean {
  return inBatches && code === "publish.rejected";
}
