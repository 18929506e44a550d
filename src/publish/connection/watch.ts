/**
 * Watches a connection for what no call would learn from its own answers, and closes it.
 *
 * @module
 */

import type { NatsConnection, Status } from "@nats-io/nats-core";
import { onClosed } from "../../stream/api/on_closed.ts";
import { settle } from "../../util/settle.ts";

/** What is reported of a connection. */
export interface ConnectionEvents {
  /** It is lost, even if the client dials again. */
  lost(reason: string, cause?: unknown): void;
  /** The server refused a publish or a subscription (`-ERR`); it names a subject, not a message. */
  refused(operation: string, subject: string, cause: unknown): void;
}

/** A watch over a connection. */
export interface ConnectionWatch {
  /** Whether the connection is open, as far as the client knows, and was never lost. */
  readonly isConnected: boolean;
  /** Why the connection was lost, if that was reported: the server reports an error, then closes the connection. */
  readonly reason: Error | undefined;
  /** Ends the watch. */
  stop(): void;
}

/** How long after an error of the server a loss is due to it, in milliseconds: not all errors close the connection. */
const RECENT = 5000;

/**
 * Reports a connection's end and permission errors. The client's errors are told apart by name: the connection may come
 * from another copy of it.
 */
export function watchConnection(nc: NatsConnection, events: ConnectionEvents): ConnectionWatch {
  const watch = { on: true, lost: false, error: undefined as Error | undefined, at: 0 };
  const note = (error: Error): void => void Object.assign(watch, { error, at: performance.now() });
  const reason = (): Error | undefined => performance.now() - watch.at < RECENT ? watch.error : undefined;
  const ended = (what: string, error: unknown): void => {
    if (!watch.on) return;
    watch.lost = true;
    const cause = error instanceof Error ? error : reason();
    events.lost(cause === undefined ? what : `${what}: ${cause.message}`, cause);
  };
  const forget = onClosed(nc, (error) => ended("the connection is closed", error));
  let statuses: AsyncIterable<Status> | undefined;
  void settle(async () => {
    // Awaited, since a wrapped connection may return a promise.
    statuses = await nc.status();
    for await (const status of statuses) {
      if (!watch.on) return;
      if (status.type === "disconnect") ended(LOST, undefined);
      // The client closes a connection whose server answers no pings; after an error of the server, too.
      else if (status.type === "staleConnection" && reason() === undefined) note(new Error("no answer to pings"));
      else if (status.type === "error" && !reportRefusal(status.error, events)) note(status.error);
    }
  }); // without statuses, `closed` still reports the end
  return {
    get isConnected() {
      return !watch.lost && !isClosed(nc);
    },
    get reason() {
      return reason();
    },
    stop() {
      watch.on = false;
      forget();
      // The client's iterator can be stopped, though its public type does not say so; else it ends with the connection.
      void settle(() => (statuses as { stop?: () => void } | undefined)?.stop?.());
    },
  };
}

const LOST = "the connection is lost";

/** Reports a permission error; returns false for any other. */
function reportRefusal(error: unknown, events: ConnectionEvents): boolean {
  if (!(error instanceof Error) || error.name !== "PermissionViolationError") return false;
  const { operation, subject } = error as Error & { operation?: string; subject?: string };
  events.refused(operation ?? "publish", subject ?? "", error);
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

/** The longest a close is waited for, in milliseconds: a stalled peer may never let it end. */
const CLOSE_TIMEOUT = 1000;

/** Closes a connection. Ignores an error of it, and a close that does not end in time. */
export async function closeConnection(nc: NatsConnection): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, CLOSE_TIMEOUT));
  await Promise.race([settle(() => nc.close()), late]);
  clearTimeout(timer);
}
