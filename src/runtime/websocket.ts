/**
 * Dials by the runtime's own WebSocket.
 *
 * @module
 */

import { type ConnectionOptions, type NatsConnection, wsconnect } from "@nats-io/nats-core";
import { ConfigError } from "../errors/mod.ts";
import type { Transport, Witness } from "./dial.ts";

/** The transport for `ws://` and `wss://`. */
export const websocket: Transport = {
  kind: "websocket",
  connect: (options: ConnectionOptions): Promise<NatsConnection> => {
    if (typeof WebSocket === "undefined") {
      throw new ConfigError("config.conflict", {
        field: "url",
        rule: "must be nats:// or tls://: this runtime has no WebSocket (Node has it from version 22 on)",
      });
    }
    const { witness } = options as { readonly witness?: Witness };
    return wsconnect({ ...options, wsFactory: (url: string) => witnessed(url, witness) } as ConnectionOptions);
  },
};

/** The client reports every failure as "connection refused"; the socket's own events have the runtime's reason. */
function witnessed(url: string, witness?: Witness): Promise<{ socket: WebSocket; encrypted: boolean }> {
  const socket = new WebSocket(url);
  socket.addEventListener("error", (event) => {
    const { message, error } = event as { message?: unknown; error?: unknown };
    const text = typeof message === "string" && message !== "" ? message : (error as Error | undefined)?.message;
    if (witness?.connected === false && text) witness.errors.push(new Error(text));
  });
  return Promise.resolve({ socket, encrypted: url.startsWith("wss:") });
}
