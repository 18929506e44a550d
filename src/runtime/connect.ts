/**
 * The common part of the runtimes' `connect` functions.
 *
 * @module
 */

import type { ConnectionOptions, NatsConnection } from "@nats-io/nats-core";
import { checkConnection } from "../options/connection.ts";
import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";
import { shownUrl } from "../options/servers.ts";
import type { ConnectionConfig, PublisherOptions } from "../types/mod.ts";
import { dialAny } from "./dial.ts";
import { setPrintedForm } from "./printed_form.ts";
import { websocket } from "./websocket.ts";

/** How a runtime dials `nats://` and `tls://`. */
export type DialTcp = (options: ConnectionOptions) => Promise<NatsConnection>;

/**
 * Checks the configuration and dials: `ws://` and `wss://` by WebSocket, other URLs by the runtime's own transport.
 *
 * @throws {ConfigError} if an option is wrong; nothing was dialled
 * @throws {ConnectionError} if no server could be used
 */
export async function connectBy(
  config: ConnectionConfig & Partial<PublisherOptions>,
  dialTcp?: DialTcp,
): Promise<NatsConnection> {
  const settings = checkConnection(config, dialTcp === undefined ? ["websocket"] : undefined);
  if (settings.transport === "websocket") return setPrintedForm(await dialAny(settings, websocket));
  if (dialTcp === undefined) {
    throw new ConfigError("config.conflict", {
      field: "url",
      rule: "must be ws:// or wss:// for this entry, which has only WebSocket",
      received: describe(shownUrl(settings.servers[0] ?? "")),
    });
  }
  return setPrintedForm(await dialAny(settings, { kind: "tcp", connect: dialTcp }));
}
