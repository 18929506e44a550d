/**
 * Checked settings become options of the NATS client.
 *
 * Credentials and keys go in as functions and accessors, never as data properties: the client keeps its options in the
 * connection, and a runtime that prints a connection would print them.
 *
 * @module
 */

import {
  type Authenticator,
  type ConnectionOptions,
  jwtAuthenticator,
  nkeyAuthenticator,
  type TlsOptions,
} from "@nats-io/nats-core";
import type { ConnectionSettings } from "../options/connection.ts";

/** How long a dial waits for a server's address to answer, in milliseconds, unless the configuration says. */
const CONNECT_TIMEOUT = 10_000;

/** Options of the NATS client for one server. */
export function natsOptions(settings: ConnectionSettings, url: string): ConnectionOptions {
  const authenticator = authenticatorOf(settings);
  const tls = tlsOptions(settings);
  return {
    servers: [url],
    // A list of servers is dialled in its order: the first is the one the caller wants.
    noRandomize: true,
    reconnect: settings.reconnect,
    // Servers that the cluster names are of use to a client that dials again, and to no other.
    ignoreClusterUpdates: !settings.reconnect,
    timeout: timeoutOf(settings),
    // The client would make an Error with a stack a request.
    noAsyncTraces: true,
    ...(authenticator && { authenticator }),
    ...(tls && { tls }),
    ...(settings.name !== undefined && { name: settings.name }),
    ...(settings.inboxPrefix !== undefined && { inboxPrefix: settings.inboxPrefix }),
  };
}

/** How long a dial of these settings waits. */
export function timeoutOf(settings: ConnectionSettings): number {
  return Math.max(1, Math.ceil(settings.connectTimeout ?? CONNECT_TIMEOUT));
}

/** Everything in these settings that must not appear in an error. */
export function secretsOf(settings: ConnectionSettings): readonly string[] {
  const { auth, tls } = settings;
  const all = [
    auth.mode === "user_password" ? auth.password : undefined,
    auth.mode === "token" ? auth.token : undefined,
    auth.mode === "jwt" ? auth.jwt : undefined,
    auth.mode === "jwt" || auth.mode === "nkey" ? auth.nkeySeed : undefined,
    tls?.key,
  ];
  return all.filter((secret) => secret !== undefined);
}

function authenticatorOf({ auth }: ConnectionSettings): Authenticator | undefined {
  switch (auth.mode) {
    case "none":
      return undefined;
    case "token":
      return () => ({ auth_token: auth.token });
    case "user_password":
      return () => ({ user: auth.username, pass: auth.password });
    case "jwt":
      return jwtAuthenticator(auth.jwt, new TextEncoder().encode(auth.nkeySeed));
    case "nkey":
      return nkeyAuthenticator(new TextEncoder().encode(auth.nkeySeed));
  }
}

/** Any value requires TLS: the client then refuses a server without. */
function tlsOptions({ tls }: ConnectionSettings): TlsOptions | undefined {
  if (tls === undefined) return undefined;
  const options: TlsOptions = tls.handshakeFirst ? { handshakeFirst: true } : {};
  for (const name of ["ca", "cert", "key"] as const) {
    const pem = tls[name];
    if (pem !== undefined) Object.defineProperty(options, name, { get: () => pem, enumerable: false });
  }
  return options;
}
