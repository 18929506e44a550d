/**
 * One request to the JetStream API, and what can come back instead of an answer.
 *
 * The reply subject is the request's own, below the caller's prefix: a user may be allowed no more than one inbox
 * prefix, and the client's shared inbox would need a subscription of its own.
 *
 * @module
 */

import { createInbox, type NatsConnection, type PermissionViolationError } from "@nats-io/nats-core";
import type { StreamInfo } from "@nats-io/jetstream";
import { ConnectionError } from "../errors.ts";
import { type ApiAnswer, type ApiFailure, isApiFailure, readAnswer } from "./answer.ts";

export { type ApiAnswer, type ApiFailure, isApiFailure };

/** Where a request goes, and how long it may take. */
export interface ApiOptions {
  /** The JetStream domain. */
  readonly domain?: string | undefined;
  /** Prefix of the reply subject. @default the connection's own, else `_INBOX` */
  readonly inboxPrefix?: string | undefined;
  /** Milliseconds to wait for the answer. @default {5000} */
  readonly timeout?: number | undefined;
  /** Ends the wait: the request rejects with the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

/** The longest wait for an answer, in milliseconds, where the caller names none. */
export const API_TIMEOUT = 5000;

/**
 * The subject of an API request: `$JS.API.STREAM.INFO.ORDERS`, or `$JS.hub.API.STREAM.INFO.ORDERS` in domain `hub`.
 *
 * @example
 * ```ts
 * console.assert(apiSubject("INFO") === "$JS.API.INFO" && apiSubject("INFO", "hub") === "$JS.hub.API.INFO");
 * ```
 */
export function apiSubject(name: string, domain?: string): string {
  return domain ? `$JS.${domain}.API.${name}` : `$JS.API.${name}`;
}

/**
 * The prefix of reply subjects: the one given, else the connection's own, else `_INBOX`.
 *
 * @example
 * ```ts
 * import type { NatsConnection } from "@nats-io/nats-core";
 *
 * const nc = { options: { inboxPrefix: "_MINE" } } as unknown as NatsConnection;
 * console.assert(inboxPrefixOf(nc) === "_MINE" && inboxPrefixOf(nc, "_OTHER") === "_OTHER");
 * ```
 */
export function inboxPrefixOf(nc: NatsConnection, given?: string): string {
  // The client keeps its options in a property that its interface does not name.
  const own = (nc as { options?: { inboxPrefix?: unknown } }).options?.inboxPrefix;
  return given ?? (typeof own === "string" && own !== "" ? own : "_INBOX");
}

/**
 * Asks the JetStream API and gives its answer, or the failure that it answered with. `type` is the answer's, such as
 * `stream_info_response`: whoever may subscribe to the API's subjects can answer, a stream that captures `$JS.>` for one.
 *
 * Throws a {@linkcode ConnectionError} where no JetStream answered: `connection.no_answer` (nothing came, or something
 * else), `connection.no_jetstream`, `connection.permission`, `connection.closed`; and the signal's reason after an abort.
 *
 * @example
 * ```ts
 * import type { NatsConnection } from "@nats-io/nats-core";
 *
 * const data = new TextEncoder().encode('{"type":"io.nats.jetstream.api.v1.account_info_response","streams":2}');
 * const nc = { request: () => Promise.resolve({ data }), closed: () => new Promise(() => {}), isClosed: () => false };
 * const answer = await apiRequest<{ streams: number }>(nc as unknown as NatsConnection, "INFO", "account_info_response");
 * console.assert(!isApiFailure(answer) && answer.streams === 2);
 * ```
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
  const { promise: ended, stop } = endings(nc, subject, options.signal);
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

/** Failures that say something of the stream: not found; offline, since all peers are, or since it needs a newer server. */
const STREAM_FAILURES: ReadonlySet<number> = new Set([10059, 10118, 10194]);

/**
 * `STREAM.INFO` of one stream, its parts checked to be there; or the failure, where that is one of the stream's own.
 * Any other throws a {@linkcode ConnectionError} `connection.no_answer`.
 *
 * @example
 * ```ts
 * import type { NatsConnection } from "@nats-io/nats-core";
 *
 * const error = { code: 404, err_code: 10059, description: "stream not found" };
 * const data = new TextEncoder().encode(JSON.stringify({ type: "io.nats.jetstream.api.v1.stream_info_response", error }));
 * const nc = { request: () => Promise.resolve({ data }), closed: () => new Promise(() => {}), isClosed: () => false };
 * const answer = await requestStreamInfo(nc as unknown as NatsConnection, "ORDERS");
 * console.assert(isApiFailure(answer) && answer.error.err_code === 10059);
 * ```
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

/**
 * The error of a failure that the caller has no other use for.
 *
 * @example
 * ```ts
 * const error = unexpectedFailure("read the account", { error: { code: 400, err_code: 10025, description: "bad request" } });
 * console.assert(error.message === "Cannot read the account: the server answered: bad request (10025)");
 * ```
 */
export function unexpectedFailure(what: string, { error }: ApiFailure): ConnectionError {
  const reason = `${error.description ?? "no reason given"} (${error.err_code ?? error.code})`;
  return new ConnectionError("connection.no_answer", `Cannot ${what}: the server answered: ${reason}`);
}

/** Rejects when the signal aborts or the connection closes: the client leaves a request of a closed connection open. */
function endings(
  nc: NatsConnection,
  subject: string,
  signal: AbortSignal | undefined,
): { promise: Promise<never>; stop: () => void } {
  const { promise, reject } = Promise.withResolvers<never>();
  promise.catch(() => {});
  const aborted = () => reject(signal?.reason);
  const closed = () => reject(closedError(subject));
  signal?.addEventListener("abort", aborted, { once: true });
  const waiting = waitingFor(nc);
  waiting.add(closed);
  return {
    promise,
    stop: () => {
      signal?.removeEventListener("abort", aborted);
      waiting.delete(closed);
    },
  };
}

// One reaction to `closed()` a connection, not one a request: a promise keeps its reactions for as long as it is pending.
const waiters = new WeakMap<NatsConnection, Set<() => void>>();

function waitingFor(nc: NatsConnection): Set<() => void> {
  const known = waiters.get(nc);
  if (known !== undefined) return known;
  const waiting = new Set<() => void>();
  waiters.set(nc, waiting);
  const wake = () => waiting.forEach((closed) => closed());
  nc.closed().then(wake, wake);
  return waiting;
}

/**
 * What went wrong with a request, for the caller. The client's errors are told apart by name: a connection may come from
 * another copy of the client (JSR's beside npm's), whose classes are not ours.
 */
function failedRequest(error: unknown, subject: string, prefix: string, timeout: number): ConnectionError {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const cause = inner instanceof Error ? inner : new Error(String(inner));
  switch (cause.name) {
    case "PermissionViolationError":
      return permissionError(cause as PermissionViolationError, subject, prefix);
    case "NoResponders":
    case "NoRespondersError":
      return new ConnectionError(
        "connection.no_jetstream",
        `Cannot ask ${subject}: nobody answers there (503): JetStream is off on the server, for this account or in this domain`,
        { cause: error },
      );
    case "ClosedConnectionError":
    case "DrainingConnectionError":
      return closedError(subject, cause);
    case "TimeoutError":
      return new ConnectionError(
        "connection.no_answer",
        `Cannot ask ${subject}: no answer within ${timeout} ms`,
        { cause: error },
      );
    default:
      return new ConnectionError("connection.no_answer", `Cannot ask ${subject}: ${cause.message}`, { cause: error });
  }
}

function permissionError(cause: PermissionViolationError, subject: string, prefix: string): ConnectionError {
  const message = cause.operation === "subscription"
    ? `Cannot ask ${subject}: the user may not subscribe to its reply subject below "${prefix}": allow ${prefix}.> or set inboxPrefix`
    : `Cannot ask ${subject}: the user may not publish to it`;
  return new ConnectionError("connection.permission", message, { cause });
}

function closedError(subject: string, cause?: Error): ConnectionError {
  const message = `Cannot ask ${subject}: the connection is closed`;
  return new ConnectionError("connection.closed", message, cause === undefined ? {} : { cause });
}
