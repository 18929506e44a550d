/**
 * The connection's options: servers, credentials, TLS, and the frozen settings that come out of them. Nothing here
 * dials.
 *
 * @module
 */

import { durationMillis } from "../util/duration.ts";
import { ConfigError } from "../errors/mod.ts";
import { OPTION_KEYS } from "./publisher.ts";
import type { AuthMode, ConnectionConfig, PublisherOptions, TlsConfig } from "../types/mod.ts";
import { applyRules, type Fields, fieldsOf, missing, type Place } from "./fields.ts";
import { secretText, withSecrets } from "./secrets.ts";
import { seedFault } from "./seed.ts";
import { inboxPrefix } from "./templates.ts";
import { parseServers, type ServerUrl, serverUrls, type TransportKind } from "./servers.ts";
import { choice, flag, text, timeout } from "./values.ts";

/** How to prove who one is. The credentials are readable, and left out of everything that prints. */
export type ConnectionAuth =
  | { readonly mode: "none" }
  | { readonly mode: "user_password"; readonly username: string; readonly password: string }
  | { readonly mode: "jwt"; readonly jwt: string; readonly nkeySeed: string }
  | { readonly mode: "token"; readonly token: string };

/** What a dial needs to know. Frozen; credentials and the TLS key are left out of everything that prints. */
export interface ConnectionSettings {
  /** Servers as URLs, schemes in lower case. */
  readonly servers: readonly string[];
  /** How all of them are reached. */
  readonly transport: TransportKind;
  /** How to prove who one is. */
  readonly auth: ConnectionAuth;
  /** Present, if only as an empty object, where TLS is required: some URL is `tls://`, or the caller gave `tls`. */
  readonly tls?: TlsConfig;
  /** Prefix of reply subjects. */
  readonly inboxPrefix?: string;
  /** The connection's name. */
  readonly name?: string;
  /** Milliseconds that a dial may take. */
  readonly connectTimeout?: number;
  /** Whether the client dials again by itself. */
  readonly reconnect: boolean;
}

/** The fields that each mode requires; all others are refused. */
const CREDENTIALS: { readonly [mode in AuthMode]: readonly Credential[] } = {
  none: [],
  user_password: ["username", "password"],
  jwt: ["jwt", "nkeySeed"],
  token: ["token"],
};

type Credential = "username" | "password" | "jwt" | "nkeySeed" | "token";

const TABLE = {
  authMode: { rule: choice(["none", "user_password", "jwt", "token"]) },
  inboxPrefix: { rule: inboxPrefix },
  name: { rule: text },
  connectTimeout: { rule: timeout },
  reconnect: { rule: flag },
  tls: { rule: tlsConfig },
} as const;

const SECRETS = {
  username: { rule: secretText },
  password: { rule: secretText },
  jwt: { rule: secretText },
  nkeySeed: { rule: secretText },
  token: { rule: secretText },
} as const;

/**
 * Checks the connection's options. Takes a whole SinkConfig: keys of the publisher are allowed and left unread, any
 * other key is refused. Errors name the schemes of the transports that are at hand; absent: of all.
 */
export function checkConnection(
  config: ConnectionConfig & Partial<PublisherOptions>,
  atHand?: readonly TransportKind[],
): ConnectionSettings {
  const fields = fieldsOf(config, OPTION_KEYS.camel, { field: "", spelling: "camel" });
  return settle(checkConnectionFields(fields, atHand), fields);
}

/** The connection's options as they were written, every rule checked; credentials by {@linkcode withSecrets}. */
export function checkConnectionFields(fields: Fields, atHand?: readonly TransportKind[]): ConnectionConfig {
  const { url, ...options } = applyRules(fields, { url: { rule: serverUrls(atHand) }, ...TABLE });
  if (url === undefined) throw missing(fields.place("url"));
  checkTlsFits(url, options.tls, fields);
  return withSecrets({ url, ...options }, checkCredentials(options.authMode ?? "none", fields));
}

/**
 * One method only, and all of it. An empty text is what an unset variable leaves: the client would send no credential.
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
  throw new ConfigError("config.syntax", `${field} ${fault}`, { field });
}

function strayCredential(name: Credential, mode: AuthMode, fields: Fields): ConfigError {
  const { field } = fields.place(name);
  const modeField = fields.place("authMode").field;
  const [right] = Object.entries(CREDENTIALS).find(([, names]) => names.includes(name)) ?? [];
  const rule = `goes with ${modeField} ${right} only: received ${modeField} ${mode}`;
  return new ConfigError("config.conflict", `${field} ${rule}`, { field });
}

function requiredBy(modeField: string, mode: AuthMode, { spelling }: Fields, empty: boolean): string {
  const rule = `is required by ${modeField} ${mode}`;
  if (empty) return `${rule}: received an empty text`;
  return spelling === "camel" ? `${rule} (a copy of what parseConfig returned has no credentials)` : rule;
}

function checkTlsFits(url: string | readonly string[], tls: TlsConfig | undefined, fields: Fields): void {
  if (tls === undefined || parseServers(url, fields.place("url"))[0]?.transport !== "websocket") return;
  const { field } = fields.place("tls");
  throw new ConfigError("config.conflict", `${field} does not go with ws:// or wss://: the runtime has its own`, {
    field,
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

/** Whether there are TLS settings beside its being on; secret ones, which are not enumerable, too. */
export function hasTlsSettings({ tls }: ConnectionSettings): boolean {
  return tls !== undefined && (tls.key !== undefined || Object.keys(tls).length > 0);
}

/** The key, and a certificate whose file holds its key, too. */
function isSecret(name: string, value: unknown): boolean {
  return name === "key" || (typeof value === "string" && value.includes("PRIVATE KEY-----"));
}

/** An error shows none of it. */
function pem(value: unknown, place: Place): string {
  const written = secretText(value, place);
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
