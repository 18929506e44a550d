/**
 * The rules of static headers and of `ttl`: what may stand in a message's header block.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { durationNanos } from "../util/duration.ts";
import { ConfigError, type ConfigErrorCode } from "../errors/mod.ts";
import { ownEntries, type Place } from "./fields.ts";
import { broken } from "./values.ts";

/**
 * Servers before 2.11 take the first `Nats-Msg-Id` anywhere in the block for the header, and where that is another
 * header's ending or value they find no id: rows are stored twice without a word.
 */
const ID_HEADER = "Nats-Msg-Id";

/** Written by jetrow itself, in any case: readers of either spelling would see two. */
const OWN: ReadonlySet<string> = new Set(["content-type", "filament-operation"]);

const SECOND = 1_000_000_000n;

/**
 * Static headers, as they were written; frozen.
 *
 * Names are what NATS clients accept: ASCII from `!` to `~` without the colon. `Nats-` begins what the server obeys,
 * and `Nats-Msg-Id` may stand nowhere but in its own header.
 */
export function staticHeaders(value: unknown, place: Place): Readonly<Record<string, string>> {
  const entries = ownEntries(value, place.field);
  for (const [name, text] of entries) {
    checkName(name, place.field);
    checkValue(name, text, place.field);
  }
  return Object.freeze(Object.fromEntries(entries) as Record<string, string>);
}

/**
 * The headers as pairs, in the order written and with the values as NATS clients send and read them: without white
 * space around them.
 */
export function headerPairs(
  headers: Readonly<Record<string, string>>,
): readonly (readonly [name: string, value: string])[] {
  return Object.freeze(Object.entries(headers).map(([name, text]) => Object.freeze([name, text.trim()] as const)));
}

/**
 * A time to live, as it was written: a duration text of at least one second, or `never`. A number is refused: here it
 * would be milliseconds, in `Nats-TTL` it is seconds.
 */
export function timeToLive(value: unknown, place: Place): string {
  const rule = "must be a duration text of at least one second, such as 90s, or never";
  if (typeof value !== "string") {
    const why = typeof value === "number" ? " (a number would be milliseconds here and seconds in NATS)" : "";
    throw broken("config.type", place, rule + why, value);
  }
  if (value === "never") return value;
  if (nanosOf(value, place, rule) < SECOND) throw broken("config.range", place, rule, value);
  return value;
}

/** A time to live as `Nats-TTL` has it: `never`, whole seconds as digits, else seconds as a Go duration. */
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
  if (!/^[!-9;-~]+$/.test(name)) {
    throw headerError("config.syntax", field, name, "must be of visible ASCII characters without a colon");
  }
  if (lower.startsWith("nats-")) throw headerError("config.conflict", field, name, "must not begin with Nats-");
  if (lower.endsWith(ID_HEADER.toLowerCase()) || name.includes(ID_HEADER)) {
    throw headerError("config.conflict", field, name, `must not contain ${ID_HEADER}`);
  }
  if (OWN.has(lower)) throw headerError("config.conflict", field, name, "is written by jetrow itself");
}

function checkValue(name: string, value: unknown, field: string): void {
  const received = `: received ${describe(value)}`;
  if (typeof value !== "string") throw headerError("config.type", field, name, `must be a text${received}`);
  if (/[\r\n]/.test(value)) throw headerError("config.syntax", field, name, `must have no CR or LF${received}`);
  if (!value.isWellFormed()) {
    throw headerError("config.syntax", field, name, `must have no half of a surrogate pair${received}`);
  }
  if (value.includes(ID_HEADER)) {
    throw headerError("config.conflict", field, name, `must not contain ${ID_HEADER}${received}`);
  }
}

function headerError(code: ConfigErrorCode, field: string, name: string, rule: string): ConfigError {
  return new ConfigError(code, `${field}: ${describe(name)} ${rule}`, { field });
}
