/** A caller's own connection on Deno, dialled by `@nats-io/transport-deno`. */

import type { ConnectionOptions, NatsConnection } from "@nats-io/nats-core";
import type { ConnectionConfig } from "../../src/types/mod.ts";

/** The package's name; not a literal where it is imported, so that type checking does not need JSR. */
export const TRANSPORT_DENO: string = "@nats-io/transport-deno";

/** Dials with the URLs of the configuration and the client's own defaults, without reconnecting. */
export async function connect({ url }: ConnectionConfig): Promise<NatsConnection> {
  const transport: { connect(options: ConnectionOptions): Promise<NatsConnection> } = await import(TRANSPORT_DENO);
  return await transport.connect({ servers: typeof url === "string" ? url : [...url], reconnect: false });
}
