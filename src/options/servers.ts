/**
 * The rules of server URLs.
 *
 * @module
 */

import { ConfigError } from "../errors/mod.ts";
import { missing, type Place, type Rule } from "./fields.ts";
import { broken } from "./values.ts";

/** How a list of URLs is reached: one transport for all of them. */
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

const ALL: readonly TransportKind[] = ["tcp", "websocket"];

/**
 * The rule of the option, which gives it back as it was written, an array as a frozen copy. To a URL without a known
 * scheme it answers with those of the transports at hand.
 */
export function serverUrls(atHand: readonly TransportKind[] = ALL): Rule<string | readonly string[]> {
  return (value, place) => {
    if (typeof value !== "string" && !Array.isArray(value)) {
      throw broken("config.type", place, "must be a text or an array of texts", value);
    }
    const written = typeof value === "string" ? value : Object.freeze([...value]);
    parseServers(written, place, atHand);
    return written;
  };
}

/** The servers of a text or an array, either of which may list several separated by commas. */
export function parseServers(
  value: string | readonly unknown[],
  place: Place,
  atHand: readonly TransportKind[] = ALL,
): readonly ServerUrl[] {
  const entries = typeof value === "string" ? [value] : value;
  for (const entry of entries) {
    if (typeof entry !== "string") throw broken("config.type", place, "must list texts", entry);
  }
  const texts = (entries as readonly string[]).flatMap((entry) => entry.split(/,[ \t]*/));
  if (texts.length === 0) throw missing(place, "must name at least one server: received an empty array");
  // A password may hold a comma, a slash or a question mark: with an @ anywhere no part of the list is shown.
  if (texts.some((text) => text.includes("@"))) {
    throw new ConfigError("config.syntax", `${place.field} must have no credentials and no @: use an auth mode`, {
      field: place.field,
    });
  }
  const servers = texts.map((text) => parseServer(text, place, atHand));
  if (new Set(servers.map(({ transport }) => transport)).size > 1) {
    const shown = servers.map(({ href }) => shownUrl(href)).join(",");
    throw broken("config.conflict", place, "must not mix ws:// or wss:// with nats:// or tls://", shown);
  }
  return servers;
}

function parseServer(text: string, place: Place, atHand: readonly TransportKind[]): ServerUrl {
  const fault = (rule: string) => broken("config.syntax", place, rule, text.replace(/[?#].*$/s, "?..."));
  const [, written, rest] = /^([a-z]+):\/\/(.*)$/is.exec(text) ?? [];
  const scheme = written?.toLowerCase() ?? "";
  const transport = SCHEMES.get(scheme);
  if (rest === undefined || transport === undefined) throw fault(`must begin with ${schemesOf(atHand)}`);
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

/** What `URL` takes for the host of an http URL, which is how the NATS clients read it, but nothing that it repairs. */
function isHost(host: string): boolean {
  if (!/^(?:\[[\da-fA-F:.]+\]|[\p{L}\p{N}._~-]+)$/u.test(host)) return false;
  try {
    return new URL(`http://${host}`).hostname !== "";
  } catch {
    return false;
  }
}

/** A proxy may want a path and a query for WebSocket; for the others both are mistakes. */
function checkTail(tail: string, transport: TransportKind, fault: (rule: string) => ConfigError): void {
  if (transport === "tcp" && tail !== "" && tail !== "/") throw fault("must end after the port");
  if (/[\s\p{Cc}#\\]/u.test(tail)) throw fault("must have no fragment, white space, backslash or control character");
}

/** A URL as errors may show it: without path and query, which may carry a token. */
export function shownUrl(href: string): string {
  return /^\w+:\/\/[^/?#]*/.exec(href)?.[0] ?? "";
}
