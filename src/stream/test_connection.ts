/**
 * Checks that a connection reaches a JetStream, and which.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { accountOf } from "./account.ts";
import { type ReadingOptions, resolveReading } from "../options/reading.ts";

/**
 * The account's JetStream usage. Limits are absent if the account has none.
 *
 * @example
 * ```ts
 * import type { JetStreamUse } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const isNearlyFull = ({ storage, maxStorage = Infinity }: JetStreamUse) => storage > 0.9 * maxStorage;
 * assert.ok(isNearlyFull({ streams: 1, consumers: 0, storage: 95, memory: 0, maxStorage: 100 }));
 * ```
 */
export interface JetStreamUse {
  /** Streams of the account. */
  readonly streams: number;
  /** Consumers of the account. */
  readonly consumers: number;
  /** Bytes of file storage in use. */
  readonly storage: number;
  /** Bytes of memory storage in use. */
  readonly memory: number;
  /** The limit of file storage in bytes. */
  readonly maxStorage?: number;
  /** The limit of memory storage in bytes. */
  readonly maxMemory?: number;
  /** The JetStream domain. */
  readonly domain?: string;
  /** The API level; absent for servers below 2.11. */
  readonly apiLevel?: number;
}

/**
 * The server and the JetStream that a connection reaches.
 *
 * @example
 * ```ts
 * import type { ConnectionTest } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const jetstream = { streams: 2, consumers: 0, storage: 4096, memory: 0 };
 * const test: ConnectionTest = { server: "n1", version: "2.15.2", jetstream };
 * assert.equal(test.jetstream.streams, 2);
 * ```
 */
export interface ConnectionTest {
  /** The server's name. */
  readonly server: string;
  /** Its version. */
  readonly version: string;
  /** The account's JetStream. */
  readonly jetstream: JetStreamUse;
}

/**
 * Requests the account's JetStream usage (`$JS.API.INFO`), which shows in one round trip that the connection works, the
 * user has permission, and JetStream is on.
 *
 * Throws a ConnectionError: `connection.no_jetstream`, `connection.permission`, `connection.no_answer` or
 * `connection.closed`; and the signal's reason after an abort.
 *
 * @param nc the connection
 * @param options `domain`, `inboxPrefix` and `signal`; also accepts a whole SinkConfig
 *
 * @example
 * ```ts
 * import type { NatsConnection } from "@nats-io/nats-core";
 * import assert from "node:assert/strict";
 *
 * const answer = { type: "io.nats.jetstream.api.v1.account_info_response", streams: 3, limits: { max_storage: -1 } };
 * const data = new TextEncoder().encode(JSON.stringify(answer));
 * const nc = {
 *   info: { server_name: "n1", version: "2.15.2" },
 *   request: () => Promise.resolve({ data }),
 *   closed: () => new Promise(() => {}),
 * } as unknown as NatsConnection;
 * const { server, version, jetstream } = await testConnection(nc);
 * assert.deepEqual([server, version, jetstream.streams], ["n1", "2.15.2", 3]);
 * ```
 */
export async function testConnection(nc: NatsConnection, options: ReadingOptions = {}): Promise<ConnectionTest> {
  const account = await accountOf(nc, resolveReading(options));
  const { limits, api, domain } = account;
  return {
    server: nc.info?.server_name ?? "",
    version: nc.info?.version ?? "",
    jetstream: {
      streams: numberOr0(account.streams),
      consumers: numberOr0(account.consumers),
      storage: numberOr0(account.storage),
      memory: numberOr0(account.memory),
      ...(limits.max_storage > 0 && { maxStorage: limits.max_storage }),
      ...(limits.max_memory > 0 && { maxMemory: limits.max_memory }),
      ...(typeof domain === "string" && { domain }),
      ...(typeof api?.level === "number" && { apiLevel: api.level }),
    },
  };
}

function numberOr0(value: unknown): number {
  return typeof value === "number" ? value : 0;
}
