/**
 * A server and the streams that publish benches write to.
 *
 * @module
 */

import { jetstreamManager, type StreamConfig } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import process from "node:process";
import { type NatsServer, type NatsServerOptions, startNatsServer } from "../../tests/_support/nats/server.ts";
import type { connect as connectNode } from "../../src/runtime/node.ts";

/** The stream of the publish benches. */
export const STREAM = "BENCH";
/** The subject of their rows. */
export const SUBJECT = "bench.rows";

/** Dials as a user of this runtime does. */
export type Connect = typeof connectNode;

/** The runtime's name. */
export function runtimeName(): "deno" | "bun" | "node" {
  if ("Deno" in globalThis) return "deno";
  return process.versions.bun === undefined ? "node" : "bun";
}

/** This runtime's `connect`. */
export async function runtimeConnect(): Promise<Connect> {
  switch (runtimeName()) {
    case "deno":
      return (await import("../../src/runtime/deno.ts")).connect;
    case "bun":
      return (await import("../../src/runtime/bun.ts")).connect;
    case "node":
      return (await import("../../src/runtime/node.ts")).connect;
  }
}

/** A server, and a connection that creates streams. */
export class Stage implements AsyncDisposable {
  readonly server: NatsServer;
  readonly connect: Connect;
  readonly #control: NatsConnection;

  private constructor(server: NatsServer, connect: Connect, control: NatsConnection) {
    this.server = server;
    this.connect = connect;
    this.#control = control;
  }

  /** Starts a server. */
  static async open(options: NatsServerOptions = {}): Promise<Stage> {
    const server = await startNatsServer(options);
    const connect = await runtimeConnect();
    return new Stage(server, connect, await connect({ url: server.url }));
  }

  /** Replaces the stream by a new, empty one. */
  async freshStream(
    storage: "file" | "memory",
    subjects: readonly string[] = [SUBJECT],
    more: Partial<StreamConfig> = {},
  ): Promise<void> {
    await this.#replace({ name: STREAM, subjects: [...subjects], storage, ...more });
  }

  /** New, empty streams in memory that allow batches; the subject of each ends in its name. */
  async freshStreams(names: readonly string[], prefix: string): Promise<void> {
    for (const name of names) {
      const batches = { allow_atomic: true, allow_batched: true };
      await this.#replace({ name, subjects: [`${prefix}.${name}`], storage: "memory", ...batches });
    }
  }

  async #replace(config: Partial<StreamConfig> & { readonly name: string }): Promise<void> {
    const manager = await jetstreamManager(this.#control);
    await manager.streams.delete(config.name).catch(() => {});
    await manager.streams.add(config);
  }

  /** How many messages the stream holds. */
  async stored(): Promise<number> {
    const manager = await jetstreamManager(this.#control);
    return (await manager.streams.info(STREAM)).state.messages;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#control.close();
    await this.server[Symbol.asyncDispose]();
  }
}
