/**
 * TCP and TLS on Deno, Bun and Node, by `@nats-io/transport-node`.
 *
 * @module
 */

import type { ConnectionOptions, NatsConnection } from "@nats-io/nats-core";
import * as transport from "@nats-io/transport-node";
import { isExtensible, witnessedTransport } from "./witnessed_transport.ts";

/** Dials with options of the NATS client and a witness. */
export type Connect = (options: ConnectionOptions) => Promise<NatsConnection>;

/** The exports of the package that are used; a version other than the pinned one may lack the last two. */
export interface TransportPackage {
  readonly connect: (options: never) => Promise<NatsConnection>;
  readonly NatsConnectionImpl?: unknown;
  readonly setTransportFactory?: unknown;
}

let loading: Promise<Connect> | undefined;

/** Dials over TCP or TLS. */
export async function connectNode(options: ConnectionOptions): Promise<NatsConnection> {
  loading ??= import("@nats-io/transport-node/lib/node_transport.js")
    .catch(() => undefined)
    .then((internals) => makeConnect(transport, internals));
  return await (await loading)(options);
}

/**
 * Returns a function that dials by the extended transport, or the package's public `connect` if the private module
 * lacks something that is extended. The public one gives less exact reasons for failed dials.
 */
export function makeConnect(transport: TransportPackage, internals: unknown): Connect {
  const { NodeTransport, nodeResolveHost } = (internals ?? {}) as Record<string, unknown>;
  const { NatsConnectionImpl, setTransportFactory } = transport;
  const { connect } = (NatsConnectionImpl ?? {}) as { readonly connect?: Connect };
  if (
    !isExtensible(NodeTransport) || typeof nodeResolveHost !== "function" ||
    typeof setTransportFactory !== "function" || typeof connect !== "function"
  ) {
    return transport.connect as Connect;
  }
  const Witnessed = witnessedTransport(NodeTransport);
  return (options) => {
    setTransportFactory({ factory: () => new Witnessed(), dnsResolveFn: nodeResolveHost });
    return connect.call(NatsConnectionImpl, options);
  };
}
