/**
 * TCP and TLS on Deno: by `@nats-io/transport-deno`, which exists on JSR only, else by `@nats-io/transport-node`.
 *
 * @module
 */

import type { ConnectionOptions, NatsConnection } from "@nats-io/nats-core";
import { type ConnectionSettings, hasTlsSettings } from "../options/connection.ts";
import { connectNode } from "./tcp_node.ts";

/** Which package carries TCP. */
export type TcpPackage = "@nats-io/transport-deno" | "@nats-io/transport-node";

type Connect = (options: ConnectionOptions) => Promise<NatsConnection>;

let loading: Promise<Connect | undefined> | undefined;

/** Asked for once a process: where JSR cannot be reached, each try may cost a look-up. */
function transportDeno(): Promise<Connect | undefined> {
  loading ??= import("@nats-io/transport-deno").then((module) => module.connect as Connect, () => undefined);
  return loading;
}

/**
 * Which package carries TCP and TLS here; what `jetrow check` prints.
 *
 * @returns the package's name
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.ok((await transportInUse()).startsWith("@nats-io/transport-"));
 * ```
 */
export async function transportInUse(): Promise<TcpPackage> {
  return await transportDeno() ? "@nats-io/transport-deno" : "@nats-io/transport-node";
}

/**
 * Dials over TCP or TLS. A connection with TLS settings of its own goes by transport-node: transport-deno takes no
 * client certificate, and certificate authorities as files only.
 *
 * @param options options of the NATS client, with a witness
 * @param settings the settings that they were made of
 * @returns the connection
 * @example
 * ```ts ignore
 * const nc = await connectDeno(natsOptions(settings, "nats://127.0.0.1:4222"), settings);
 * ```
 */
export async function connectDeno(options: ConnectionOptions, settings: ConnectionSettings): Promise<NatsConnection> {
  const connect = hasTlsSettings(settings) ? undefined : await transportDeno();
  return await (connect ?? connectNode)(options);
}
