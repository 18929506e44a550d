/**
 * The options of a connection.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";

/**
 * How a connection proves who it is.
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
export type AuthMode = "none" | "user_password" | "jwt" | "token";

/**
 * TLS settings, where the runtime has them. Texts are PEM.
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
  /** Certificate authorities to trust, PEM. */
  readonly ca?: string;
  /** Client certificate, PEM; goes with `key`. */
  readonly cert?: string;
  /** Client key, PEM; goes with `cert`. */
  readonly key?: string;
  /** Start TLS before the server's first line; must match the server's `handshake_first`. */
  readonly handshakeFirst?: boolean;
}

/**
 * How to reach the server.
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
  /** `nats://`, `tls://`, `ws://` or `wss://`; one or several (an array, or separated by commas). */
  readonly url: string | readonly string[];
  /**
   * Which credentials are used. The mode's own fields are required, all others refused.
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
  /** With `jwt`: the user's seed, which signs the server's nonce. */
  readonly nkeySeed?: string;
  /** With `token`. */
  readonly token?: string;
  /**
   * Prefix of every reply subject.
   *
   * @default {"_INBOX"}
   */
  readonly inboxPrefix?: string;
  /** The connection's name, shown by the server's monitoring. */
  readonly name?: string;
  /**
   * How long each address of each server is given: milliseconds, or a Go duration text.
   *
   * @default {"10s"}
   */
  readonly connectTimeout?: number | string;
  /**
   * Whether the client dials again after it lost the connection. A publisher that saw it lost is over either way.
   *
   * @default {false}
   */
  readonly reconnect?: boolean;
  /** TLS settings for `nats://` and `tls://`. */
  readonly tls?: TlsConfig;
}

/**
 * A connection, which stays the caller's, or a function that dials one, which is then closed by who dialled.
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
