/**
 * What it means that a submission ended without a good acknowledgment: whether the row can be stored, and whether
 * sending it again can help.
 *
 * The numbers are nats-server's err_codes (server/errors.json) and the statuses of answers without a body.
 *
 * @module
 */

import type { PublishErrorCode } from "../errors/mod.ts";
import type { AckSource } from "../stream/ack.ts";
import type { Ack } from "./ack.ts";
import type { Call, Failure } from "./call.ts";

/**
 * When a row may be sent again: never; after a pause in which nothing is sent, since the server would refuse the next
 * row too; or later, while others are sent.
 */
export type RetryWhen = "never" | "pause" | "later";

/** The meaning of a refusal. */
export interface Verdict {
  /** The code of the error that the refusal leads to. */
  readonly code: PublishErrorCode;
  /** Whether this submission certainly did not store the row. */
  readonly stored: "no" | "unknown";
  /** When the row may be sent again. */
  readonly retry: RetryWhen;
}

/** A submission without a good acknowledgment. */
export interface Rejection extends Verdict {
  /** What happened, to follow `Cannot publish ...: `. */
  readonly reason: string;
  /** The server's code, if it sent one. */
  readonly serverCode?: number | undefined;
  /** The error that caused the rejection. */
  readonly cause?: unknown;
}

const NO_RESPONDERS = 503;
/** The queue is full; too many atomic (10210) or fast (10211) batches are open. */
const TOO_MANY_REQUESTS = [429, 10167, 10210, 10211];
/** A message with this id is being stored: its outcome is not known yet. */
const IN_PROCESS = 10158;
const WRONG_STREAM = 10060;
/**
 * Not stored, and possible later: 10023 insufficient resources, 10077 the stream is full, 10002 the account is full,
 * 10008 and 10009 no leader, 10063 sequences out of step with the raft log, 10176 an atomic batch of which a new leader
 * knows nothing or not all, 10208 a fast batch that has ended.
 */
const TRANSIENT = [10023, 10077, 10002, 10008, 10009, 10063, 10176, 10208];

/** Returns the meaning of a server's code: its err_code, else its code, else the status. */
export function verdictOf(serverCode: number): Verdict {
  if (serverCode === NO_RESPONDERS) return { code: "publish.no_responders", stored: "no", retry: "pause" };
  if (TOO_MANY_REQUESTS.includes(serverCode)) return { code: "publish.overloaded", stored: "no", retry: "pause" };
  if (serverCode === IN_PROCESS) return { code: "publish.rejected", stored: "unknown", retry: "later" };
  if (serverCode === WRONG_STREAM) return { code: "publish.wrong_stream", stored: "no", retry: "never" };
  return { code: "publish.rejected", stored: "no", retry: TRANSIENT.includes(serverCode) ? "pause" : "never" };
}

/** Returns the meaning of an answer that acknowledges nothing. */
export function rejectionOf(answer: Exclude<Ack, { readonly kind: "stored" }>, source: AckSource): Rejection {
  switch (answer.kind) {
    case "refused": {
      const reason = `the server refused it: ${answer.description} (${answer.code})`;
      return { ...verdictOf(answer.code), reason, serverCode: answer.code };
    }
    case "wrong_stream": {
      const from = streamText(answer.stream, answer.domain);
      const reason = `stream ${from} acknowledged it, not ${streamText(source.stream, source.domain)}`;
      return { code: "publish.wrong_stream", stored: "unknown", retry: "never", reason };
    }
    case "bad":
      return malformedAck(answer.reason);
  }
}

/** Returns the rejection of a row whose acknowledgment is malformed; `what` says how. */
export function malformedAck(what: string): Rejection {
  const reason = `its acknowledgment is malformed: ${what}`;
  return { code: "publish.bad_ack", stored: "unknown", retry: "later", reason };
}

/** Returns the rejection of a row whose answer, `what`, did not arrive in time. A lost answer calls for no pause. */
export function timeoutRejection(what: string, timeout: number): Rejection {
  return { code: "publish.timeout", stored: "unknown", retry: "later", reason: `no ${what} within ${timeout} ms` };
}

function streamText(stream: string, domain: string | undefined): string {
  return domain === undefined ? stream : `${stream} in domain ${domain}`;
}

/** A row was sent again in time, and acknowledged as new after its duplicate window (the machine was suspended). */
export const STORED_LATE: Rejection = {
  code: "publish.timeout",
  stored: "unknown",
  retry: "never",
  reason: "it was acknowledged as new after the duplicate window of its first submission: it may be stored twice",
};

/** Returns the failure of a row that must not be sent again. */
export function resendFailure(reason: string, call: Call, index: number): Failure {
  return { code: "publish.timeout", reason: `it is not sent again: ${reason}`, call, index };
}
