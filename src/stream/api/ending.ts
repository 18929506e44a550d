/**
 * The ways in which a request ends without an answer.
 *
 * @module
 */

import { option, words } from "../../errors/wording.ts";
import type { NatsConnection, PermissionViolationError } from "@nats-io/nats-core";
import { watchAbort } from "../../util/abort.ts";
import { deferred } from "../../util/deferred.ts";
import { ConnectionError } from "../../errors/mod.ts";

/**
 * A promise that rejects when the signal aborts or the connection closes: the client leaves a request of a closed
 * connection open. `stop` ends the watch.
 */
export function endings(
  nc: NatsConnection,
  subject: string,
  signal?: AbortSignal | undefined,
): { promise: Promise<never>; stop: () => void } {
  const { promise, reject } = deferred<never>();
  const forget = signal === undefined ? () => {} : watchAbort(signal, () => reject(signal.reason));
  const closed = () => reject(closedError(subject));
  const waiting = waitingFor(nc);
  waiting.add(closed);
  return {
    promise,
    stop: () => {
      forget();
      waiting.delete(closed);
    },
  };
}

// One reaction to `closed()` a connection, not one a request: a promise keeps its reactions for as long as it is
// pending.
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
 * What went wrong with a request, for the caller. The client's errors are told apart by name: a connection may come
 * from another copy of the client (JSR's beside npm's), whose classes are not ours.
 */
export function failedRequest(error: unknown, subject: string, prefix: string, timeout: number): ConnectionError {
  const inner = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const cause = inner instanceof Error ? inner : new Error(String(inner));
  switch (cause.name) {
    case "PermissionViolationError":
      return permissionError(cause as PermissionViolationError, subject, prefix);
    case "NoResponders":
    case "NoRespondersError":
      return new ConnectionError(
        "connection.no_jetstream",
        `Cannot request ${subject}: nobody answers there (503): JetStream is off on the server, for this account or in ` +
          "this domain",
        { cause: error },
      );
    case "ClosedConnectionError":
    case "DrainingConnectionError":
      return closedError(subject, cause);
    case "TimeoutError":
      return new ConnectionError(
        "connection.no_answer",
        `Cannot request ${subject}: no answer within ${timeout} ms`,
        { cause: error },
      );
    default:
      return new ConnectionError("connection.no_answer", `Cannot request ${subject}: ${cause.message}`, {
        cause: error,
      });
  }
}

function permissionError(cause: PermissionViolationError, subject: string, prefix: string): ConnectionError {
  const message = cause.operation === "subscription"
    ? words`Cannot request ${subject}: the user has no permission to subscribe to the reply subject. Allow ${prefix}.>, or set ${
      option("inboxPrefix")
    }.`
    : `Cannot request ${subject}: the user has no permission to publish to it`;
  return new ConnectionError("connection.permission", message, { cause });
}

function closedError(subject: string, cause?: Error): ConnectionError {
  const message = `Cannot request ${subject}: the connection is closed`;
  return new ConnectionError("connection.closed", message, cause === undefined ? {} : { cause });
}
