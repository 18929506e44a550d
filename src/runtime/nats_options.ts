/**
 * Converts checked settings to options of the NATS client.
 *
 * Credentials and keys are passed as functions and accessors, never as data properties: the client keeps its options in
 * the connection, and a runtime that prints a connection would print them.
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

/** The default timeout of a dial to a server's address, in milliseconds. */
const CONNECT_TIMEOUT = 10_000;

/** Options of the NATS client for one server. */
export function natsOptions(settings: ConnectionSettings, url: string): ConnectionOptions {
  const authenticator = authenticatorOf(settings);
  const tls = tlsOptions(settings);
  return {
    servers: [url],
    // A list of servers is dialled in order: the caller prefers the first.
    noRandomize: true,
    reconnect: settings.reconnect,
    // The cluster's server names are useful only to a client that reconnects.
    ignoreClusterUpdates: !settings.reconnect,
    timeout: timeoutOf(settings),
    // Otherwise the client would create an Error with a stack for each request.
    noAsyncTraces: true,
    ...(authenticator && { authenticator }),
    ...(tls && { tls }),
    ...(settings.name !== undefined && { name: settings.name }),
    ...(settings.inboxPrefix !== undefined && { inboxPrefix: settings.inboxPrefix }),
  };
}

/** Returns the timeout of a dial with these settings. */
export function timeoutOf(settings: ConnectionSettings): number {
  return Math.max(1, Math.ceil(settings.connectTimeout ?? CONNECT_TIMEOUT));
}

/** Returns everything in these settings that must not appear in an error. */
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

/** Any value requires TLS: the client then refuses a server without it. */
function tlsOptions({ tls }: ConnectionSettings): TlsOptions | undefined {
  if (tls === undefined) return undefined;
  const options: TlsOptions = tls.handshakeFirst ? { handshakeFirst: true } : {};
  for (const name of ["ca", "cert", "key"] as const) {
    const pem = tls[name];
    if (pem !== undefined) Object.defineProperty(options, name, { get: () => pem, enumerable: false });
  }
  return options;
}
