/**
 * The `connect` of the runtime that the command runs on.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { checkConnection, hasTlsSettings } from "../options/connection.ts";
import type { SinkConfig } from "../types/mod.ts";

/**
 * Dials as this runtime does.
 *
 * @param config the configuration
 * @returns the connection
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const config = { url: "nats://127.0.0.1:1", stream: "S", subject: "s" };
 * await assert.rejects(connectHere(config), { code: "connection.refused" });
 * ```
 */
export async function connectHere(config: SinkConfig): Promise<NatsConnection> {
  const { connect } = await entry();
  return await connect(config);
}

/**
 * What carries the bytes: on Deno it depends on whether JSR could be reached when the command was installed.
 *
 * @param config the configuration
 * @returns a package's name
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const config = { url: "wss://broker.example", stream: "S", subject: "s" };
 * assert.equal(await transportHere(config), "WebSocket of @nats-io/nats-core");
 * ```
 */
export async function transportHere(config: SinkConfig): Promise<string> {
  const settings = checkConnection(config);
  if (settings.transport === "websocket") return "WebSocket of @nats-io/nats-core";
  if (!("Deno" in globalThis) || hasTlsSettings(settings)) return "@nats-io/transport-node";
  const { transportInUse } = await import("../runtime/tcp_deno.ts");
  return await transportInUse();
}

function entry(): Promise<{ connect(config: SinkConfig): Promise<NatsConnection> }> {
  if ("Deno" in globalThis) return import("../runtime/deno.ts");
  if ("Bun" in globalThis) return import("../runtime/bun.ts");
  return import("../runtime/node.ts");
}
