/**
 * The options of a connection.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";

/**
 * The authentication of a connection.
 *
 * @example
 * ```ts
 * import { type AuthMode, parseConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const authMode: AuthMode = "token";
 * const document = { url: "nats://localhost", stream: "S", subject: "s", auth_mode: authMode, token: "t" };
 * assert.equal(parseConfig(document).authMode, "token");
 * ```
 */
export type AuthMode = "none" | "user_password" | "jwt" | "nkey" | "token";

/**
 * The TLS settings of a connection. Strings are PEM.
 *
 * @example
 * ```ts
 * import type { ConnectionConfig, TlsConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const tls: TlsConfig = { ca: "-----BEGIN CERTIFICATE-----...", handshakeFirst: true };
 * const config: ConnectionConfig = { url: "tls://localhost", tls };
 * assert.ok(config.tls?.handshakeFirst);
 * ```
 */
export interface TlsConfig {
  /** The certificate authorities to trust, PEM. */
  readonly ca?: string;
  /** The client certificate, PEM. Requires `key`. */
  readonly cert?: string;
  /** The client key, PEM. Requires `cert`. */
  readonly key?: string;
  /** Starts TLS before the server's first line. Must match the server's `handshake_first`. */
  readonly handshakeFirst?: boolean;
}

/**
 * The servers and how to connect to them.
 *
 * @example
 * ```ts
 * import type { ConnectionConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const config: ConnectionConfig = { url: ["tls://a.example", "tls://b.example"], authMode: "token", token: "t" };
 * assert.equal(config.url.length, 2);
 * ```
 */
export interface ConnectionConfig {
  /** One or several URLs (an array, or separated by commas): `nats://`, `tls://`, `ws://` or `wss://`. */
  readonly url: string | readonly string[];
  /**
   * The authentication. The fields of the mode are required, other credentials are refused.
   *
   * @default {"none"}
   */
  readonly authMode?: AuthMode;
  /** With `user_password`. */
  readonly username?: string;
  /** With `user_password`. */
  readonly password?: string;
  /** With `jwt`: the user's JWT. */
  readonly jwt?: string;
  /** With `jwt` and `nkey`: the user's seed, which signs the server's nonce. */
  readonly nkeySeed?: string;
  /** With `token`. */
  readonly token?: string;
  /**
   * The prefix of reply subjects.
   *
   * @default {"_INBOX"}
   */
  readonly inboxPrefix?: string;
  /** The name of the connection in the server's monitoring. */
  readonly name?: string;
  /**
   * The timeout for each address of each server: milliseconds, or a Go duration string.
   *
   * @default {"10s"}
   */
  readonly connectTimeout?: number | string;
  /**
   * Reconnects after a lost connection. A publisher never survives a lost connection, whatever this is set to.
   *
   * @default {false}
   */
  readonly reconnect?: boolean;
  /** The TLS settings for `nats://` and `tls://`. */
  readonly tls?: TlsConfig;
}

/**
 * A connection, which jetrow never closes unless it is handed over (`ownsConnection`), or a function that opens one,
 * which jetrow closes.
 *
 * @example
 * ```ts
 * import { connect, type Dial } from "@jetrow/jetrow/web";
 * import assert from "node:assert/strict";
 *
 * const dial: Dial = () => connect({ url: "ws://localhost:8080" });
 * assert.equal(typeof dial, "function");
 * ```
 */
export type Dial = NatsConnection | (() => Promise<NatsConnection>);
