/**
 * jetrow on any runtime with WebSocket: everything of the main entry, and `connect`, which dials `ws://` and `wss://`.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import type { ConnectionConfig, PublisherOptions } from "../types/mod.ts";
import { connectBy } from "./connect.ts";

export * from "../../mod.ts";

/**
 * Dials a server, once, by `ws://` or `wss://`. The connection does not dial again
 * after it is lost, unless `reconnect` asks for it. Several URLs are tried in their order. `wss://` never falls back to
 * plaintext; whom to trust is the runtime's own affair, and `tls` settings are refused.
 *
 * @param config the connection's options; a whole SinkConfig will do
 * @returns the connection, which is the caller's to close
 * @throws {ConfigError} when an option is wrong; nothing was dialled
 * @throws {ConnectionError} when no server answered well; the message has each server and its reason
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect, isJetrowError } from "@jetrow/jetrow/web";
 *
 * try {
 *   await connect({ url: "ws://127.0.0.1:1" });
 * } catch (error) {
 *   assert.ok(isJetrowError(error) && error.code === "connection.refused");
 * }
 * ```
 */
export function connect(config: ConnectionConfig & Partial<PublisherOptions>): Promise<NatsConnection> {
  return connectBy(config);
}
