/**
 * The `connect` of the runtime that the command runs on.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { checkConnection } from "../options/connection.ts";
import type { SinkConfig } from "../types/mod.ts";

/** Dials with the runtime's own `connect`. */
export async function connectHere(config: SinkConfig): Promise<NatsConnection> {
  const { connect } = await entry();
  return await connect(config);
}

/** Returns the name of the package that provides a connection's transport. */
export function transportHere(config: SinkConfig): string {
  const { transport } = checkConnection(config);
  return transport === "websocket" ? "WebSocket of @nats-io/nats-core" : "@nats-io/transport-node";
}

function entry(): Promise<{ connect(config: SinkConfig): Promise<NatsConnection> }> {
  if ("Deno" in globalThis) return import("../runtime/deno.ts");
  if ("Bun" in globalThis) return import("../runtime/bun.ts");
  return import("../runtime/node.ts");
}
