/**
 * Watches a connection for its end and for refused operations, which no answer to a row reports; closes connections.
 *
 * @module
 */

import type { NatsConnection, Status } from "@nats-io/nats-core";
import { onClosed } from "../../stream/api/on_closed.ts";
import { settle } from "../../util/settle.ts";

/** The callbacks of a watch. */
export interface ConnectionEvents {
  /** Called when the connection is lost, even if the client reconnects. */
  onLost(reason: string, cause?: unknown): void;
  /** Called when the server refused a publish or a subscription (`-ERR`). It reports the subject, not the message. */
  onRefused(operation: string, subject: string, cause: unknown): void;
}

/** A watch over a connection. */
export interface ConnectionWatch {
  /** Whether the connection is open, as far as the client knows, and was never lost. */
  readonly isConnected: boolean;
  /** The last error of the server, if it is recent: the server reports an error, then closes the connection. */
  readonly reason: Error | undefined;
  /** Ends the watch. */
  stop(): void;
}

/** How long an error of the server explains a loss, in milliseconds: not all errors close the connection. */
const RECENT = 5000;

/**
 * Watches a connection: reports its end, and permission errors. Recognizes the client's errors by name, since the
 * connection may come from another copy of the client.
 */
export function watchConnection(nc: NatsConnection, events: ConnectionEvents): ConnectionWatch {
  const watch = { on: true, lost: false, error: undefined as Error | undefined, at: 0 };
  const note = (error: Error): void => void Object.assign(watch, { error, at: performance.now() });
  const reason = (): Error | undefined => performance.now() - watch.at < RECENT ? watch.error : undefined;
  const ended = (what: string, error: unknown): void => {
    if (!watch.on) return;
    watch.lost = true;
    const cause = error instanceof Error ? error : reason();
    events.onLost(cause === undefined ? what : `${what}: ${cause.message}`, cause);
  };
  const unwatch = onClosed(nc, (error) => ended("the connection is closed", error));
  let statuses: AsyncIterable<Status> | undefined;
  void settle(async () => {
    // Awaited because a wrapped connection may return a promise.
    statuses = await nc.status();
    for await (const status of statuses) {
      if (!watch.on) return;
      if (status.type === "disconnect") ended(LOST, undefined);
      // The client closes a connection whose server answers no pings. An earlier error of the server explains more.
      else if (status.type === "staleConnection" && reason() === undefined) note(new Error("no answer to pings"));
      else if (status.type === "error" && !reportRefusal(status.error, events)) note(status.error);
    }
  }); // without a status, `closed` still reports the end
  return {
    get isConnected() {
      return !watch.lost && !isClosed(nc);
    },
    get reason() {
      return reason();
    },
    stop() {
      watch.on = false;
      unwatch();
      // The client's iterator has `stop`, which its public type lacks. Other iterators end with the connection.
      void settle(() => (statuses as { stop?: () => void } | undefined)?.stop?.());
    },
  };
}

const LOST = "the connection is lost";

/** Reports a permission error; returns false for any other. */
function reportRefusal(error: unknown, events: ConnectionEvents): boolean {
  if (!(error instanceof Error) || error.name !== "PermissionViolationError") return false;
  const { operation, subject } = error as Error & { operation?: string; subject?: string };
  events.onRefused(operation ?? "publish", subject ?? "", error);
  return true;
}

/** Whether a connection is closed, or cannot say. */
function isClosed(nc: NatsConnection): boolean {
  try {
    return nc.isClosed();
  } catch {
    return true;
  }
}

/** How long a close or a flush is waited for, in milliseconds: with a stalled peer it may never end. */
const PATIENCE = 1000;

/** Closes a connection. Ignores its errors, and a close that does not end in time. */
export async function closeConnection(nc: NatsConnection): Promise<void> {
  await endedInTime(() => nc.close());
}

/**
 * Waits for a round trip to the server: the client then has reported what the server refused before it. Ignores errors,
 * and an answer that does not arrive in time.
 */
export async function flushConnection(nc: NatsConnection): Promise<void> {
  await endedInTime(() => nc.flush());
}

async function endedInTime(work: () => Promise<void>): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const timeout = new Promise<void>((resolve) => timer = setTimeout(resolve, PATIENCE));
  await Promise.race([settle(work), timeout]);
  clearTimeout(timer);
}
