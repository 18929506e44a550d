/**
 * The errors of a request that ends without an answer.
 *
 * @module
 */

import { option, words } from "../../errors/wording.ts";
import type { NatsConnection, PermissionViolationError } from "@nats-io/nats-core";
import { onClosed } from "./on_closed.ts";
import { watchAbort } from "../../util/abort.ts";
import { deferred } from "../../util/deferred.ts";
import { LONGEST_TIMER } from "../../options/values.ts";
import { ConnectionError } from "../../errors/mod.ts";

/** How much longer than its timeout a request is awaited, in milliseconds, since the client's own timer should end it. */
const GRACE = 500;

/**
 * Rejects when the signal aborts, the connection closes, or `timeout` milliseconds and a little more have passed: the
 * client leaves a request of a closed connection open. `stop` ends the watch.
 */
export function endings(
  nc: NatsConnection,
  subject: string,
  signal?: AbortSignal | undefined,
  timeout?: number,
): { promise: Promise<never>; stop: () => void } {
  const { promise, reject } = deferred<never>();
  const forget = signal === undefined ? () => {} : watchAbort(signal, () => reject(signal.reason));
  const late = timeout === undefined
    ? undefined
    : setTimeout(() => reject(silenceError(subject, timeout)), Math.min(LONGEST_TIMER, timeout + GRACE));
  let forgetClosed: (() => void) | undefined;
  try {
    forgetClosed = onClosed(nc, () => reject(closedError(subject)));
  } catch (cause) {
    reject(closedError(subject, cause));
  }
  return {
    promise,
    stop: () => {
      forget();
      clearTimeout(late);
      forgetClosed?.();
    },
  };
}

/**
 * Returns the error of a failed request for the caller. The client's errors are recognized by name: a connection may
 * come from another copy of the client (JSR's in addition to npm's), whose classes differ.
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
        `Cannot request ${subject}: no server answers on it (503): JetStream is off on the server, for this account or in ` +
          "this domain",
        { cause: error },
      );
    case "ClosedConnectionError":
    case "DrainingConnectionError":
      return closedError(subject, cause);
    case "TimeoutError":
      return silenceError(subject, timeout, error);
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

/** The error of a request that was not answered in time. */
export function silenceError(subject: string, timeout: number, cause?: unknown): ConnectionError {
  const message = `Cannot request ${subject}: no answer within ${timeout} ms`;
  return new ConnectionError("connection.no_answer", message, cause === undefined ? {} : { cause });
}

function closedError(subject: string, cause?: unknown): ConnectionError {
  const message = `Cannot request ${subject}: the connection is closed`;
  return new ConnectionError("connection.closed", message, cause === undefined ? {} : { cause });
}
