/**
 * jetrow on any runtime with WebSocket: everything of the main entry point, and `connect` for `ws://` and `wss://`.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import type { ConnectionConfig, PublisherOptions } from "../types/mod.ts";
import { connectBy } from "./connect.ts";

export * from "../../mod.ts";

/**
 * Dials a server, once, by `ws://` or `wss://`. The connection does not reconnect
 * after it is lost, unless `reconnect` is set. Several URLs are tried in order. `wss://` never falls back to
 * plaintext. The runtime decides which authorities are trusted, so `tls` settings are refused.
 *
 * @param config the connection's options; also accepts a whole SinkConfig
 * @returns the connection; the caller closes it
 * @throws {ConfigError} if an option is wrong; nothing was dialled
 * @throws {ConnectionError} if no server could be used; the message has each server and its reason
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
