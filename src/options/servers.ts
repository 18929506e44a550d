/**
 * Parses server URLs.
 *
 * @module
 */

import { ConfigError } from "../errors/mod.ts";
import { missing, type Place, type Rule } from "./fields.ts";
import { broken } from "./values.ts";

/** The transport of a list of URLs: one for all of them. */
export type TransportKind = "tcp" | "websocket";

/** A server to dial. */
export interface ServerUrl {
  /** The URL: scheme in lower case, host, port where one is given; for WebSocket also path and query. */
  readonly href: string;
  /** Whether it never falls back to plaintext: `tls://` and `wss://`. */
  readonly secure: boolean;
  /** The transport of its scheme. */
  readonly transport: TransportKind;
}

const SCHEMES: ReadonlyMap<string, TransportKind> = new Map([
  ["nats", "tcp"],
  ["tls", "tcp"],
  ["ws", "websocket"],
  ["wss", "websocket"],
]);

const CREDENTIALS_RULE = "must not contain credentials or @. Set an auth mode with its own options (username and " +
  "password, token, nkey seed, or jwt and nkey seed)";

const ALL: readonly TransportKind[] = ["tcp", "websocket"];

/**
 * Returns the rule of the `url` option. The rule returns the value as it was written, an array as a frozen copy. The error
 * for an unknown scheme lists the schemes of the available transports.
 */
export function serverUrls(available: readonly TransportKind[] = ALL): Rule<string | readonly string[]> {
  return (value, place) => {
    if (typeof value !== "string" && !Array.isArray(value)) {
      throw broken("config.type", place, "must be a string or an array of strings", value);
    }
    const written = typeof value === "string" ? value : Object.freeze([...value]);
    parseServers(written, place, available);
    return written;
  };
}

/** Parses a string or an array of strings, each of which may list several servers separated by commas. */
export function parseServers(
  value: string | readonly unknown[],
  place: Place,
  available: readonly TransportKind[] = ALL,
): readonly ServerUrl[] {
  const entries = typeof value === "string" ? [value] : value;
  for (const entry of entries) {
    if (typeof entry !== "string") throw broken("config.type", place, "must be an array of strings", entry);
  }
  const strings = (entries as readonly string[]).flatMap((entry) => entry.split(/,[ \t]*/));
  if (strings.length === 0) throw missing(place, "must name at least one server: received an empty array");
  // A password may contain a comma, a slash or a question mark: if there is an @ anywhere, no part of the list is shown.
  if (strings.some((text) => text.includes("@"))) {
    throw new ConfigError("config.syntax", { field: place.field, rule: CREDENTIALS_RULE });
  }
  const servers = strings.map((text) => parseServer(text, place, available));
  if (new Set(servers.map(({ transport }) => transport)).size > 1) {
    const shown = servers.map(({ href }) => shownUrl(href)).join(",");
    throw broken("config.conflict", place, "must not mix ws:// or wss:// with nats:// or tls://", shown);
  }
  return servers;
}

function parseServer(text: string, place: Place, available: readonly TransportKind[]): ServerUrl {
  const fault = (rule: string) => broken("config.syntax", place, rule, text.replace(/[?#].*$/s, "?..."));
  const [, written, rest] = /^([a-z]+):\/\/(.*)$/is.exec(text) ?? [];
  const scheme = written?.toLowerCase() ?? "";
  const transport = SCHEMES.get(scheme);
  if (rest === undefined || transport === undefined) throw fault(`must begin with ${schemesOf(available)}`);
  const [, authority, tail] = /^([^/?#]*)(.*)$/s.exec(rest) as unknown as [string, string, string];
  checkAuthority(authority, fault);
  checkTail(tail, transport, fault);
  const href = `${scheme}://${authority}${tail === "/" ? "" : tail}`;
  return { href, transport, secure: scheme === "tls" || scheme === "wss" };
}

function schemesOf(transports: readonly TransportKind[]): string {
  const known = [...SCHEMES].filter(([, transport]) => transports.includes(transport));
  const schemes = known.map(([scheme]) => `${scheme}://`);
  return `${schemes.slice(0, -1).join(", ")} or ${schemes.at(-1)}`;
}

function checkAuthority(authority: string, fault: (rule: string) => ConfigError): void {
  const [, host, port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority) ?? [];
  if (host === undefined) throw fault("must have an IPv6 address in brackets and nothing but a port after the host");
  if (!isHost(host)) throw fault("must have a host: a name, an IPv4 address or an IPv6 address in brackets");
  if (port !== undefined && !(/^\d{1,5}$/.test(port) && Number(port) >= 1 && Number(port) <= 65_535)) {
    throw fault("must have a port from 1 to 65535");
  }
}

/** Accepts what `URL` accepts as the host of an http URL, as NATS clients do, but nothing that `URL` repairs. */
function isHost(host: string): boolean {
  if (!/^(?:\[[\da-fA-F:.]+\]|[\p{L}\p{N}._~-]+)$/u.test(host)) return false;
  try {
    return new URL(`http://${host}`).hostname !== "";
  } catch {
    return false;
  }
}

/** Refuses path and query except for WebSocket, where a proxy may need them. */
function checkTail(tail: string, transport: TransportKind, fault: (rule: string) => ConfigError): void {
  if (transport === "tcp" && tail !== "" && tail !== "/") throw fault("must end after the port");
  if (/[\s\p{Cc}#\\]/u.test(tail)) {
    throw fault("must not contain a fragment, white space, a backslash or a control character");
  }
}

/** Formats a URL for errors: without path and query, which may contain a token. */
export function shownUrl(href: string): string {
  return /^\w+:\/\/[^/?#]*/.exec(href)?.[0] ?? "";
}
