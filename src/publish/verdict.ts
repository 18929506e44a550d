/**
 * What a server's refusal of a publish means: whether the row can be stored, and whether sending it again can help.
 *
 * The numbers are nats-server's err_codes (server/errors.json) and the statuses of answers without a body.
 *
 * @module
 */

import type { PublishErrorCode } from "../errors/mod.ts";

/**
 * When a refused row may be sent again: never; after a pause in which nothing is sent, since the next row would be refused, too;
 * or later, while others are sent.
 */
export type Again = "never" | "pause" | "later";

/** The meaning of a refusal. */
export interface Verdict {
  /** The code of the error that it leads to. */
  readonly code: PublishErrorCode;
  /** Whether the row is certainly not stored by this submission. */
  readonly stored: "no" | "unknown";
  /** Whether it may be sent again. */
  readonly again: Again;
}

const NO_RESPONDERS = 503;
/** The queue is full; too many atomic (10210) or fast (10211) batches are open. */
const TOO_MANY_REQUESTS = [429, 10167, 10210, 10211];
/** A message with this id is being stored: its fate is not known yet. */
const IN_PROCESS = 10158;
const WRONG_STREAM = 10060;
/**
 * Not stored, and possible later: 10023 insufficient resources, 10077 the stream is full, 10002 the account is full,
 * 10008 and 10009 no leader, 10063 sequences out of step with the raft log, 10176 an atomic batch of which a new leader
 * knows nothing or not all, 10208 a fast batch that has ended.
 */
const TRANSIENT = [10023, 10077, 10002, 10008, 10009, 10063, 10176, 10208];

/** The meaning of a server's code: err_code, else code, else status. */
export function verdictOf(serverCode: number): Verdict {
  if (serverCode === NO_RESPONDERS) return { code: "publish.no_responders", stored: "no", again: "pause" };
  if (TOO_MANY_REQUESTS.includes(serverCode)) return { code: "publish.overloaded", stored: "no", again: "pause" };
  if (serverCode === IN_PROCESS) return { code: "publish.rejected", stored: "unknown", again: "later" };
  if (serverCode === WRONG_STREAM) return { code: "publish.wrong_stream", stored: "no", again: "never" };
  return { code: "publish.rejected", stored: "no", again: TRANSIENT.includes(serverCode) ? "pause" : "never" };
}
