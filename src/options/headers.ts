/**
 * Rules of the caller's headers and of `ttl`.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { durationNanos } from "../util/duration.ts";
import { ConfigError, type ConfigErrorCode } from "../errors/mod.ts";
import { templateParts } from "../subject/template.ts";
import { ownEntries, type Place } from "./fields.ts";
import { broken } from "./values.ts";

/**
 * Servers before 2.11 search the whole header block for `Nats-Msg-Id`. If they find it in another header's name or value,
 * they do not see the id and store duplicates.
 */
export const ID_HEADER = "Nats-Msg-Id";

/** Headers that jetrow writes itself, in lower case: a second one in any spelling would be ambiguous. */
const OWN: ReadonlySet<string> = new Set(["content-type", "filament-operation"]);

const SECOND = 1_000_000_000n;

/**
 * Checks headers and returns them frozen, as they were written. A value may contain `{row.NAME}`.
 *
 * Names are what NATS clients accept: ASCII from `!` to `~` without the colon. The server interprets headers that begin
 * with `Nats-`, and `Nats-Msg-Id` may occur only in its own header.
 */
export function headerTemplates(value: unknown, place: Place): Readonly<Record<string, string>> {
  const entries = ownEntries(value, place.field);
  for (const [name, text] of entries) {
    checkName(name, place.field);
    checkValue(name, text, place.field);
  }
  return Object.freeze(Object.fromEntries(entries) as Record<string, string>);
}

/**
 * Returns the headers as pairs in the order written. Values have no white space around them, as NATS clients send them.
 */
export function headerPairs(
  headers: Readonly<Record<string, string>>,
): readonly (readonly [name: string, value: string])[] {
  return Object.freeze(Object.entries(headers).map(([name, text]) => Object.freeze([name, text.trim()] as const)));
}

/**
 * Checks a time to live: a duration string of at least one second, or `never`. A number is refused, because it would be
 * milliseconds here and seconds in `Nats-TTL`.
 */
export function timeToLive(value: unknown, place: Place): string {
  const rule = "must be a duration string of at least one second, such as 90s, or never";
  if (typeof value !== "string") {
    const why = typeof value === "number" ? " (a number would be milliseconds here and seconds in NATS)" : "";
    throw broken("config.type", place, rule + why, value);
  }
  if (value === "never") return value;
  if (nanosOf(value, place, rule) < SECOND) throw broken("config.range", place, rule, value);
  return value;
}

/** Formats a time to live for `Nats-TTL`: `never`, whole seconds as digits, otherwise seconds as a Go duration. */
export function ttlHeader(ttl: string): string {
  if (ttl === "never") return ttl;
  const nanos = durationNanos(ttl, "ttl");
  const fraction = nanos % SECOND;
  if (fraction === 0n) return `${nanos / SECOND}`;
  return `${nanos / SECOND}.${`${fraction}`.padStart(9, "0").replace(/0+$/, "")}s`;
}

function nanosOf(value: string, place: Place, rule: string): bigint {
  try {
    return durationNanos(value, place.field);
  } catch (error) {
    throw broken((error as ConfigError).code, place, rule, value);
  }
}

function checkName(name: string, field: string): void {
  const lower = name.toLowerCase();
  const refuse = (code: ConfigErrorCode, rule: string): never => {
    throw new ConfigError(code, { field, rule, received: describe(name) });
  };
  if (!/^[!-9;-~]+$/.test(name)) refuse("config.syntax", "must have names of visible ASCII characters without a colon");
  if (lower.startsWith("nats-")) refuse("config.conflict", "must not have names that begin with Nats-");
  if (lower.endsWith(ID_HEADER.toLowerCase()) || name.includes(ID_HEADER)) {
    refuse("config.conflict", `must not have names that contain ${ID_HEADER}`);
  }
  if (OWN.has(lower)) refuse("config.conflict", "must not have names that jetrow writes itself");
}

function checkValue(name: string, value: unknown, field: string): void {
  const refuse = (code: ConfigErrorCode, rule: string): never => {
    throw new ConfigError(code, { field, rule, received: `${describe(value)} for ${describe(name)}` });
  };
  if (typeof value !== "string") return refuse("config.type", "must have values that are strings");
  if (/[\r\n]/.test(value)) refuse("config.syntax", "must have values without CR and LF");
  if (templateParts(value).some(({ kind, written }) => kind !== "row" && /[{}]/.test(written))) {
    refuse("config.syntax", "must have values without braces other than {row.NAME}");
  }
  if (!value.isWellFormed()) refuse("config.syntax", "must have values without a lone surrogate");
  if (value.includes(ID_HEADER)) refuse("config.conflict", `must not have values that contain ${ID_HEADER}`);
}
