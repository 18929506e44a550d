/**
 * Opens the command's connections.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import type { SinkConfig } from "../types/mod.ts";
import { openUnlessAborted } from "../util/abort.ts";
import { connectHere } from "./runtime.ts";

/** Connects, calls `work`, and closes the connection. An abort ends the wait for the connection. */
export async function withConnection<T>(
  config: SinkConfig,
  signal: AbortSignal,
  work: (nc: NatsConnection) => Promise<T>,
): Promise<T> {
  const nc = await connectUnlessAborted(config, signal);
  try {
    return await work(nc);
  } finally {
    await nc.close();
  }
}

/** Connects; rejects with the signal's reason if it aborts first, and closes the connection if it still opens. */
export async function connectUnlessAborted(config: SinkConfig, signal: AbortSignal): Promise<NatsConnection> {
  signal.throwIfAborted();
  return await openUnlessAborted(connectHere(config), signal, (nc) => nc.close());
}
