/**
 * Callbacks for when a connection closes.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";

/** Called with the value of `nc.closed()`: an error, or undefined. */
export type OnClosed = (reason: unknown) => void;

interface Waiting {
  readonly calls: Set<OnClosed>;
  ended: { readonly reason: unknown } | undefined;
}

// One reaction to `closed()` per connection, not one per request or publisher: a promise keeps its reactions for as
// long as it is pending.
const waiting = new WeakMap<NatsConnection, Waiting>();

/** Calls back once when a connection closes, or soon if it is closed, unless the returned function was called before. */
export function onClosed(nc: NatsConnection, call: OnClosed): () => void {
  const { calls, ended } = waiting.get(nc) ?? wait(nc);
  // A new function, since the same callback may be passed twice.
  const entry: OnClosed = (reason) => calls.delete(entry) && call(reason);
  calls.add(entry);
  if (ended !== undefined) queueMicrotask(() => entry(ended.reason));
  return () => void calls.delete(entry);
}

function wait(nc: NatsConnection): Waiting {
  const all: Waiting = { calls: new Set(), ended: undefined };
  const wake = (reason: unknown): void => {
    all.ended = { reason };
    for (const call of [...all.calls]) call(reason);
  };
  nc.closed().then(wake, wake);
  waiting.set(nc, all);
  return all;
}
