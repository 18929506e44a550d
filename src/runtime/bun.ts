/**
 * jetrow on Bun: everything of the main entry point, and `connect`, which dials TCP, TLS and WebSocket.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import type { ConnectionConfig, PublisherOptions } from "../types/mod.ts";
import { connectBy } from "./connect.ts";
import { useNodeSha256 } from "./sha256_node.ts";
import { connectNode } from "./tcp_node.ts";

export * from "../../mod.ts";

/**
 * Dials a server, once: TCP, TLS and WebSocket. The connection does not reconnect after it is lost, unless
 * `reconnect` is set. Several URLs are tried in order. `tls://` and `wss://` never fall back to plaintext,
 * and `nats://` with `tls` settings requires TLS too. All URLs of a process that sets `reconnect` should be of one
 * transport: the NATS client reconnects with the one that was used last. A
 * `tls://` URL with an IP address requires that address in the certificate (an IP SAN). The connection is printed as its
 * server; do not print its inner objects, which hold the credentials and the client's key.
 *
 * @param config the connection's options; also accepts a whole SinkConfig
 * @returns the connection; the caller closes it
 * @throws {ConfigError} if an option is wrong; nothing was dialled
 * @throws {ConnectionError} if no server could be used; the message has each server and its reason
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { connect, isJetrowError } from "@jetrow/jetrow/bun";
 *
 * try {
 *   await connect({ url: "nats://127.0.0.1:1" });
 * } catch (error) {
 *   assert.ok(isJetrowError(error) && error.code === "connection.refused");
 * }
 * ```
 */
export function connect(config: ConnectionConfig & Partial<PublisherOptions>): Promise<NatsConnection> {
  useNodeSha256();
  return connectBy(config, connectNode);
}
