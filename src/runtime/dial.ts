/**
 * Dials the servers of a configuration, one after another, until one answers.
 *
 * @module
 */

import type { ConnectionOptions, NatsConnection } from "@nats-io/nats-core";
import type { ConnectionSettings } from "../options/connection.ts";
import { ConfigError } from "../errors/mod.ts";
import type { TransportKind } from "../options/servers.ts";
import { natsOptions, secretsOf, timeoutOf } from "./nats_options.ts";
import { connectionError, type Failure, readFailure } from "./dial_failure.ts";
import { whileAlone } from "./gate.ts";

/** Records errors while one server is dialled. */
export interface Witness {
  /** Every error that was thrown, for all addresses of the host. */
  readonly errors: unknown[];
  /** Whether the dial has succeeded; later errors do not belong to it. */
  connected: boolean;
}

/** A runtime's way to dial. */
export interface Transport {
  /** The kind of transport; only one kind dials at a time. */
  readonly kind: TransportKind;
  /** Dials; the options hold a {@linkcode Witness} for transports that use it. */
  readonly connect: (options: ConnectionOptions) => Promise<NatsConnection>;
}

/**
 * Dials the servers in the given order, and returns the first connection. Each address of each server has the whole
 * timeout.
 *
 * The servers are dialled one by one, not as one list, since the client reports the last one's failure only.
 *
 * @throws {ConnectionError} if no server could be used; it names each with its reason
 */
export async function dialAny(settings: ConnectionSettings, transport: Transport): Promise<NatsConnection> {
  const failures: Failure[] = [];
  for (const url of settings.servers) {
    const witness: Witness = { errors: [], connected: false };
    try {
      return await dialOne(settings, url, transport, witness);
    } catch (error) {
      if (error instanceof ConfigError) throw error;
      failures.push(readFailure({
        url,
        errors: [...witness.errors, ...(error === undefined ? [] : [error])],
        timeout: timeoutOf(settings),
        tls: settings.tls !== undefined,
        secrets: secretsOf(settings),
      }));
    }
  }
  throw connectionError(failures);
}

async function dialOne(
  settings: ConnectionSettings,
  url: string,
  transport: Transport,
  witness: Witness,
): Promise<NatsConnection> {
  return await whileAlone(transport.kind, async () => {
    const nc = await transport.connect({ ...natsOptions(settings, url), witness } as ConnectionOptions);
    witness.connected = true;
    // Within the gate: the client reads URLs by the rules of the transport that was set last.
    if (settings.reconnect) nc.setServers([...settings.servers]);
    return nc;
  });
}
