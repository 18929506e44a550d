/**
 * Watches a connection for what no call would learn from its own answers, and closes it.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";

/** What is told of a connection. */
export interface ConnectionEvents {
  /** It is lost, even if the client dials again. */
  lost(reason: string, cause?: unknown): void;
  /** The server refused a publish or a subscription (`-ERR`); it names a subject, not a message. */
  refused(operation: string, subject: string, cause: unknown): void;
}

/**
 * Tells of a connection's end and of permission errors until the returned function is called. The client's errors are
 * told apart by name: the connection may come from another copy of it.
 */
export function watchConnection(nc: NatsConnection, events: ConnectionEvents): () => void {
  const watch = { on: true };
  const statuses = nc.status();
  (async () => {
    for await (const status of statuses) {
      if (!watch.on) return;
      if (status.type === "disconnect") events.lost("the connection is lost");
      else if (status.type === "error") toldError(status.error, events);
    }
  })().catch(() => {}); // the iterator fails only when the connection closes, which `closed` tells
  nc.closed().then((error) => {
    if (!watch.on) return;
    const reason = error instanceof Error ? `the connection is closed: ${error.message}` : "the connection is closed";
    events.lost(reason, error ?? undefined);
  }, () => {});
  return () => {
    watch.on = false;
    // The client's iterator can be stopped, though its public type does not say so; else it ends with the connection.
    (statuses as { stop?: () => void }).stop?.();
  };
}

function toldError(error: unknown, events: ConnectionEvents): void {
  if (!(error instanceof Error) || error.name !== "PermissionViolationError") return;
  const { operation, subject } = error as Error & { operation?: string; subject?: string };
  events.refused(operation ?? "publish", subject ?? "", error);
}

/** The longest a close is waited for, in milliseconds: a stalled peer may never let it end. */
const CLOSE_TIMEOUT = 1000;

/** Closes a connection; an error of it has nobody to be told to. */
export async function closeConnection(nc: NatsConnection): Promise<void> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<void>((resolve) => timer = setTimeout(resolve, CLOSE_TIMEOUT));
  await Promise.race([nc.close().catch(() => {}), late]);
  clearTimeout(timer);
}
