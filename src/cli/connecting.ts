/**
 * Connections of the command: dialled, used, closed.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import type { SinkConfig } from "../types.ts";
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

/**
 * Waits for what cannot be called back, a dial for one: an abort leaves it behind.
 *
 * @param promise what is waited for
 * @param signal ends the wait
 * @returns its result
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(await unlessAborted(Promise.resolve(1), new AbortController().signal), 1);
 * await assert.rejects(unlessAborted(new Promise(() => {}), AbortSignal.abort(new Error("no"))), /no/);
 * ```
 */
export async function unlessAborted<T>(promise: Promise<T>, signal: AbortSignal): Promise<T> {
  promise.catch(() => {}); // it may fail after an abort has settled the race
  if (signal.aborted) throw signal.reason;
  let abort: (() => void) | undefined;
  const aborted = new Promise<never>((_, reject) => abort = () => reject(signal.reason));
  signal.addEventListener("abort", abort!, { once: true });
  try {
    return await Promise.race([promise, aborted]);
  } finally {
    signal.removeEventListener("abort", abort!);
  }
}
