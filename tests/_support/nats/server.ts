/**
 * A real nats-server for tests, benches and the demo, with its own store, which are removed at the end of the block.
 *
 * ```ts
 * await using server = await startNatsServer({ config: "max_payload: 1MB" });
 * const nc = await connect({ servers: server.url });
 * ```
 *
 * Works on Deno, Node and Bun.
 *
 * @module
 */

import { natsServerBinary } from "./binary.ts";
import type { ServerConfig } from "./config.ts";
import { freePorts } from "./ports.ts";
import { type NatsServer, PortTaken, ServerProcess } from "./server_process.ts";

export type { ServerConfig, ServerTls } from "./config.ts";
export type { NatsServer, RestartOptions } from "./server_process.ts";

/** How a server is started. */
export interface NatsServerOptions extends ServerConfig {
  /** The server's name. @default a random one */
  readonly name?: string;
  /** The program to run. @default what `natsServerBinary()` finds */
  readonly binary?: string;
}

/** How often a start is retried after another process was faster to bind a port. */
const TRIES = 5;

/**
 * Starts a nats-server on free ports of 127.0.0.1 with a temporary store, and waits until it is ready.
 *
 * @param options its configuration
 * @returns the running server, to be held by `await using`
 */
export async function startNatsServer(options: NatsServerOptions = {}): Promise<NatsServer> {
  const binary = options.binary ?? await natsServerBinary();
  const name = options.name ?? randomName();
  return await withFreePorts(async () => {
    const [client, monitor, websocket, cluster] = await freePorts(4) as [number, number, number, number];
    const server = new ServerProcess({
      binary,
      name,
      ports: { client, monitor, websocket, cluster },
      config: options,
    });
    return await startOrDispose(server, () => server.restart());
  });
}

/** Retries with other ports while other processes are faster to bind them. */
export async function withFreePorts<T>(start: () => Promise<T>): Promise<T> {
  for (let tries = 1;; tries++) {
    try {
      return await start();
    } catch (error) {
      if (!(error instanceof PortTaken) || tries === TRIES) throw error;
    }
  }
}

/** Starts `server`; disposes it if that fails. */
export async function startOrDispose<T extends AsyncDisposable>(
  started: T,
  start: () => Promise<unknown>,
): Promise<T> {
  try {
    await start();
    return started;
  } catch (error) {
    await started[Symbol.asyncDispose]();
    throw error;
  }
}

/** Returns a name that no other server has. */
export function randomName(): string {
  return `jetrow-${crypto.randomUUID().slice(0, 8)}`;
}
