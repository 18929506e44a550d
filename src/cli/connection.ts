/**
 * Connections of the command: dialled, used, closed.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { unlessAborted } from "../util/unless_aborted.ts";
import type { SinkConfig } from "../types/mod.ts";
import { connectHere } from "./runtime.ts";

/**
 * Dials, and closes what it dialled when the work is done.
 *
 * @param config the configuration
 * @param signal ends the wait for the dial
 * @param work what is done with the connection
 * @returns what the work gives
 * @example
 * ```ts ignore
 * const version = await withConnection(config, signal, (nc) => Promise.resolve(nc.info?.version));
 * ```
 */
export async function withConnection<T>(
  config: SinkConfig,
  signal: AbortSignal,
  work: (nc: NatsConnection) => Promise<T>,
): Promise<T> {
  const nc = await unlessAborted(connectHere(config), signal);
  try {
    return await work(nc);
  } finally {
    await nc.close();
  }
}
