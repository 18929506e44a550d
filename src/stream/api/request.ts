/**
 * One request to the JetStream API, and the errors without an answer.
 *
 * Each request has its own reply subject below the caller's prefix: a user may be allowed only one inbox prefix, and the
 * client's shared inbox would need a subscription of its own.
 *
 * @module
 */

import { createInbox, type NatsConnection } from "@nats-io/nats-core";
import type { StreamInfo } from "@nats-io/jetstream";
import { ConnectionError } from "../../errors/mod.ts";
import { type ApiAnswer, type ApiFailure, failureText, isApiFailure, readAnswer } from "./answer.ts";
import { endings, failedRequest } from "./ending.ts";
import { STREAM_NOT_FOUND, STREAM_OFFLINE, STREAM_OFFLINE_REASON } from "./server_codes.ts";

export { type ApiAnswer, type ApiFailure, isApiFailure };

/** The destination of a request, and its timeout. */
export interface ApiOptions {
  /** The JetStream domain. */
  readonly domain?: string | undefined;
  /** Prefix of the reply subject. @default the connection's own, otherwise `_INBOX` */
  readonly inboxPrefix?: string | undefined;
  /** Milliseconds to wait for the answer. @default {5000} */
  readonly timeout?: number | undefined;
  /** Ends the wait: the request rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The default timeout of an answer, in milliseconds. */
export const API_TIMEOUT = 5000;

/**
 * Returns the subject of an API request: `$JS.API.STREAM.INFO.ORDERS`, or `$JS.hub.API.STREAM.INFO.ORDERS` in domain
 * `hub`.
 */
export function apiSubject(name: string, domain?: string): string {
  return domain ? `$JS.${domain}.API.${name}` : `$JS.API.${name}`;
}

/** Returns the prefix of reply subjects: the one given, otherwise the connection's own, otherwise `_INBOX`. */
export function inboxPrefixOf(nc: NatsConnection, given?: string): string {
  // The client keeps its options in a property that is not part of its interface.
  const own = (nc as { options?: { inboxPrefix?: unknown } }).options?.inboxPrefix;
  return given ?? (typeof own === "string" && own !== "" ? own : "_INBOX");
}

/**
 * Sends a request to the JetStream API and returns its answer, or the failure in it. `type` is the answer's, such as
 * `stream_info_response`: any user who may subscribe to the API's subjects can answer, and so can a stream that captures
 * `$JS.>`.
 *
 * Throws a {@linkcode ConnectionError} if no JetStream answers: `connection.no_answer` (no answer, or an invalid one),
 * `connection.no_jetstream`, `connection.permission`, `connection.closed`; and the signal's reason after an abort.
 */
export async function apiRequest<T extends object>(
  nc: NatsConnection,
  name: string,
  type: string,
  body?: unknown,
  options: ApiOptions = {},
): Promise<ApiAnswer<T>> {
  const subject = apiSubject(name, options.domain);
  const prefix = inboxPrefixOf(nc, options.inboxPrefix);
  const timeout = options.timeout ?? API_TIMEOUT;
  options.signal?.throwIfAborted();
  const { promise: ended, stop } = endings(nc, subject, options.signal, timeout);
  try {
    const payload = body === undefined ? "" : JSON.stringify(body);
    const reply = createInbox(prefix);
    const answer = nc.request(subject, payload, { timeout, noMux: true, reply });
    answer.catch(() => {}); // it may fail after an abort has settled the race
    const message = await Promise.race([answer, ended]);
    return readAnswer<T>(message.data, subject, type);
  } catch (error) {
    if (options.signal?.aborted || error instanceof ConnectionError) throw error;
    throw failedRequest(error, subject, prefix, timeout);
  } finally {
    stop();
  }
}

/** Failures that concern the stream itself. */
const STREAM_FAILURES: ReadonlySet<number> = new Set([STREAM_NOT_FOUND, STREAM_OFFLINE, STREAM_OFFLINE_REASON]);

/**
 * Returns the `STREAM.INFO` of one stream, with its required parts checked; or the failure, if it concerns the stream.
 * Throws a {@linkcode ConnectionError} `connection.no_answer` for any other failure.
 */
export async function requestStreamInfo(
  nc: NatsConnection,
  stream: string,
  options: ApiOptions = {},
): Promise<ApiAnswer<StreamInfo>> {
  const answer = await apiRequest<StreamInfo>(nc, `STREAM.INFO.${stream}`, "stream_info_response", undefined, options);
  if (isApiFailure(answer) && !STREAM_FAILURES.has(answer.error.err_code ?? 0)) {
    throw unexpectedFailure(`look up stream ${stream}`, answer);
  }
  return answer;
}

/** The error for a failure that the caller does not handle. */
export function unexpectedFailure(what: string, { error }: ApiFailure): ConnectionError {
  return new ConnectionError("connection.no_answer", `Cannot ${what}: the server answered: ${failureText(error)}`);
}
