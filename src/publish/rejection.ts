/**
 * How a submission ended without a good acknowledgment.
 *
 * @module
 */

import type { Delivery, Failure } from "./call.ts";
import type { AckSource } from "../stream/ack.ts";
import type { Ack } from "./ack.ts";
import { type Verdict, verdictOf } from "./verdict.ts";

/** What it means, and what happened. */
export interface Miss extends Verdict {
  /** What happened, to follow `Cannot publish ...: `. */
  readonly reason: string;
  /** The server's code, where it gave one. */
  readonly serverCode?: number | undefined;
  /** What led to it. */
  readonly cause?: unknown;
}

/** What an answer means that acknowledges nothing. */
export function missOf(answer: Exclude<Ack, { readonly kind: "stored" }>, source: AckSource): Miss {
  switch (answer.kind) {
    case "refused": {
      const reason = `the server refused it: ${answer.description} (${answer.code})`;
      return { ...verdictOf(answer.code), reason, serverCode: answer.code };
    }
    case "wrong_stream": {
      const from = named(answer.stream, answer.domain);
      const reason = `stream ${from} acknowledged it, not ${named(source.stream, source.domain)}`;
      return { code: "publish.wrong_stream", stored: "unknown", again: "never", reason };
    }
    case "bad":
      return malformed(answer.reason);
  }
}

/** What an acknowledgment means that says what cannot be. */
export function malformed(what: string): Miss {
  const reason = `its acknowledgment is malformed: ${what}`;
  return { code: "publish.bad_ack", stored: "unknown", again: "later", reason };
}

/** What it means that `what` has not come in time. Lost answers say nothing of the next row's: no pause. */
export function timedOut(what: string, timeout: number): Miss {
  return { code: "publish.timeout", stored: "unknown", again: "later", reason: `no ${what} within ${timeout} ms` };
}

function named(stream: string, domain: string | undefined): string {
  return domain === undefined ? stream : `${stream} in domain ${domain}`;
}

/** A row was sent again in time, and acknowledged as new after its duplicate window (the machine was suspended). */
export const STORED_LATE: Miss = {
  code: "publish.timeout",
  stored: "unknown",
  again: "never",
  reason: "it was acknowledged as new after the duplicate window of its first submission: it may be stored twice",
};

/** Makes the failure of a row that must not be sent again. */
export function notResent(reason: string, delivery: Delivery, index: number): Failure {
  return { code: "publish.timeout", reason: `it is not sent again: ${reason}`, delivery, index };
}
