/**
 * Checks the connection's options (servers, credentials, TLS) and makes frozen settings of them.
 *
 * @module
 */

import { durationMillis } from "../util/duration.ts";
import { ConfigError } from "../errors/mod.ts";
import { OPTION_KEYS } from "./publisher.ts";
import type { AuthMode, ConnectionConfig, PublisherOptions, TlsConfig } from "../types/mod.ts";
import { applyRules, type Fields, fieldsOf, missing, type Place } from "./fields.ts";
import { secretString, seedFault, withSecrets } from "./secrets.ts";
import { inboxPrefix } from "./templates.ts";
import { parseServers, type ServerUrl, serverUrls, type TransportKind } from "./servers.ts";
import { choice, flag, nonEmptyString, timeout } from "./values.ts";

/** The authentication. Its credentials are readable, but nothing prints them. */
export type ConnectionAuth =
  | { readonly mode: "none" }
  | { readonly mode: "user_password"; readonly username: string; readonly password: string }
  | { readonly mode: "jwt"; readonly jwt: string; readonly nkeySeed: string }
  | { readonly mode: "nkey"; readonly nkeySeed: string }
  | { readonly mode: "token"; readonly token: string };

/** The settings of a dial. Frozen; nothing prints the credentials and the TLS key. */
export interface ConnectionSettings {
  /** Servers as URLs, schemes in lower case. */
  readonly servers: readonly string[];
  /** The transport of all servers. */
  readonly transport: TransportKind;
  /** The authentication. */
  readonly auth: ConnectionAuth;
  /** Present, perhaps empty, if TLS is required: a URL is `tls://`, or the caller set `tls`. */
  readonly tls?: TlsConfig;
  /** Prefix of reply subjects. */
  readonly inboxPrefix?: string;
  /** The connection's name. */
  readonly name?: string;
  /** Milliseconds that a dial may take. */
  readonly connectTimeout?: number;
  /** Whether the client reconnects by itself. */
  readonly reconnect: boolean;
}

/** The fields that each mode requires; all others are refused. */
const CREDENTIALS: { readonly [mode in AuthMode]: readonly Credential[] } = {
  none: [],
  user_password: ["username", "password"],
  jwt: ["jwt", "nkeySeed"],
  nkey: ["nkeySeed"],
  token: ["token"],
};

type Credential = "username" | "password" | "jwt" | "nkeySeed" | "token";

const TABLE = {
  authMode: { rule: choice(["none", "user_password", "jwt", "nkey", "token"]) },
  inboxPrefix: { rule: inboxPrefix },
  name: { rule: nonEmptyString },
  connectTimeout: { rule: timeout },
  reconnect: { rule: flag },
  tls: { rule: tlsConfig },
} as const;

const SECRETS = {
  username: { rule: secretString },
  password: { rule: secretString },
  jwt: { rule: secretString },
  nkeySeed: { rule: secretString },
  token: { rule: secretString },
} as const;

/**
 * Checks the connection's options of a SinkConfig: options of the publisher are allowed and ignored, any other key is
 * refused. The error for an unknown scheme lists the schemes of the available transports (default: all).
 */
export function checkConnection(
  config: ConnectionConfig & Partial<PublisherOptions>,
  available?: readonly TransportKind[],
): ConnectionSettings {
  const fields = fieldsOf(config, OPTION_KEYS.camel, { field: "", spelling: "camel" });
  return settle(checkConnectionFields(fields, available), fields);
}

/** Returns the connection's options as they were written, with every rule checked. Credentials are secrets. */
export function checkConnectionFields(fields: Fields, available?: readonly TransportKind[]): ConnectionConfig {
  const { url, ...options } = applyRules(fields, { url: { rule: serverUrls(available) }, ...TABLE });
  if (url === undefined) throw missing(fields.place("url"));
  checkTlsFits(url, options.tls, fields);
  return withSecrets({ url, ...options }, checkCredentials(options.authMode ?? "none", fields));
}

/**
 * Requires all credentials of one mode and refuses the others. An empty string, as an unset variable leaves it, counts as
 * missing: the client would send no credential.
 */
function checkCredentials(mode: AuthMode, fields: Fields): { readonly [name in Credential]?: string } {
  const given = applyRules(fields, SECRETS);
  const wanted = CREDENTIALS[mode];
  const modeField = fields.place("authMode").field;
  for (const name of Object.keys(given) as Credential[]) {
    if (!wanted.includes(name)) throw strayCredential(name, mode, fields);
  }
  for (const name of wanted) {
    if (!given[name]) throw missing(fields.place(name), requiredBy(modeField, mode, fields, given[name] === ""));
  }
  const fault = given.nkeySeed === undefined ? undefined : seedFault(given.nkeySeed);
  if (fault === undefined) return given;
  const { field } = fields.place("nkeySeed");
  throw new ConfigError("config.syntax", { field, rule: fault });
}

function strayCredential(name: Credential, mode: AuthMode, fields: Fields): ConfigError {
  const { field } = fields.place(name);
  const modeField = fields.place("authMode").field;
  const modes = Object.entries(CREDENTIALS).flatMap(([mode, names]) => names.includes(name) ? [mode] : []);
  return new ConfigError("config.conflict", {
    field,
    rule: `requires ${modeField} ${modes.join(" or ")}`,
    received: `${modeField} ${mode}`,
  });
}

function requiredBy(modeField: string, mode: AuthMode, { spelling }: Fields, empty: boolean): string {
  const rule = `is required by ${modeField} ${mode}`;
  if (empty) return `${rule}: received an empty string`;
  return spelling === "camel" ? `${rule} (a copy of what parseConfig returned has no credentials)` : rule;
}

function checkTlsFits(url: string | readonly string[], tls: TlsConfig | undefined, fields: Fields): void {
  if (tls === undefined || parseServers(url, fields.place("url"))[0]?.transport !== "websocket") return;
  const { field } = fields.place("tls");
  throw new ConfigError("config.conflict", {
    field,
    rule: "cannot be combined with ws:// or wss://: the runtime has its own TLS",
  });
}

function tlsConfig(value: unknown, place: Place): TlsConfig {
  const fields = fieldsOf(value, ["ca", "cert", "key", "handshakeFirst"], place);
  const config = applyRules(fields, {
    ca: { rule: pem },
    cert: { rule: pem },
    key: { rule: pem },
    handshakeFirst: { rule: flag },
  });
  const { cert, key } = config;
  if (key !== undefined && cert === undefined) throw missing(fields.place("cert"), "is required by the key");
  if (cert !== undefined && key === undefined) throw missing(fields.place("key"), "is required by the cert");
  const part = (secret: boolean) => {
    return Object.fromEntries(Object.entries(config).filter(([name, value]) => isSecret(name, value) === secret));
  };
  return withSecrets(part(false), part(true));
}

/** Whether a TLS setting is secret: the key, or a certificate whose PEM also holds its key. */
function isSecret(name: string, value: unknown): boolean {
  return name === "key" || (typeof value === "string" && value.includes("PRIVATE KEY-----"));
}

/** A PEM string, which no error shows. */
function pem(value: unknown, place: Place): string {
  const written = secretString(value, place);
  if (written === "") throw missing(place, "must not be empty");
  return written;
}

function settle(config: ConnectionConfig, fields: Fields): ConnectionSettings {
  const servers = parseServers(config.url, fields.place("url"));
  const tls = config.tls ?? (servers.some(isTlsOverTcp) ? Object.freeze({}) : undefined);
  const { inboxPrefix, name, connectTimeout } = config;
  return Object.freeze({
    servers: Object.freeze(servers.map(({ href }) => href)),
    transport: servers[0]!.transport,
    auth: authOf(config),
    ...(tls && { tls }),
    ...(inboxPrefix !== undefined && { inboxPrefix }),
    ...(name !== undefined && { name }),
    ...(connectTimeout !== undefined && { connectTimeout: durationMillis(connectTimeout, "connectTimeout") }),
    reconnect: config.reconnect ?? false,
  });
}

function isTlsOverTcp({ transport, secure }: ServerUrl): boolean {
  return transport === "tcp" && secure;
}

function authOf(config: ConnectionConfig): ConnectionAuth {
  const mode = config.authMode ?? "none";
  const secrets = Object.fromEntries(CREDENTIALS[mode].map((name) => [name, config[name]]));
  return withSecrets({ mode }, secrets) as ConnectionAuth;
}
