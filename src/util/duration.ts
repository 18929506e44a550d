/**
 * Parses durations: milliseconds as a number, or a string as Go writes it.
 *
 * @module
 */

import { describe } from "./describe.ts";
import { ConfigError } from "../errors/mod.ts";

/** Nanoseconds of each unit of Go's `time.ParseDuration`; the micro sign is U+00B5 or the Greek letter U+03BC. */
const UNITS: ReadonlyMap<string, bigint> = new Map([
  ["ns", 1n],
  ["us", 1_000n],
  ["\u00b5s", 1_000n],
  ["\u03bcs", 1_000n],
  ["ms", 1_000_000n],
  ["s", 1_000_000_000n],
  ["m", 60_000_000_000n],
  ["h", 3_600_000_000_000n],
]);

/** Go's longest duration, about 292 years: nanoseconds in a signed 64-bit integer. */
const LONGEST = 2n ** 63n - 1n;
/** No duration below 292 years needs more characters. Keeps long hostile strings away from BigInt. */
const MAX_CHARACTERS = 128;

const RULE = "must be a positive duration: milliseconds as a number, or a string such as 5s, 1m30s or 100ms";
/** The rule for a string, which may come from a command line or a variable, where every value is a string. */
const STRING_RULE = "must be a positive duration with its unit, such as 5s, 1m30s or 100ms";

/**
 * Returns the milliseconds of a duration, which may be fractional. A positive number is already in milliseconds; a
 * string has the notation of Go's `time.ParseDuration` (`1h2m3.5s`, `100us`).
 *
 * @throws {ConfigError} If a string has no unit, or has white space, an exponent or a minus sign (`config.syntax`), if
 * the duration is zero or above Go's 292 years (`config.range`), and for a value of another type (`config.type`).
 *
 * @example
 * ```ts
 * import { parseDuration } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * assert.equal(parseDuration("1m30s"), 90_000);
 * assert.equal(parseDuration("1.5s"), 1_500);
 * assert.equal(parseDuration(250), 250);
 * assert.throws(() => parseDuration("5"), { code: "config.syntax" });
 * ```
 */
export function parseDuration(text: string | number): number {
  return durationMillis(text, "duration");
}

/** Does the same as {@linkcode parseDuration} and names the option in the error. */
export function durationMillis(value: unknown, field: string): number {
  if (typeof value === "string") return Number(durationNanos(value, field)) / 1e6;
  if (typeof value !== "number") throw refusal("config.type", field, value);
  if (!(value > 0 && value * 1e6 <= Number(LONGEST))) throw refusal("config.range", field, value);
  return value;
}

/** Returns the nanoseconds of a duration string. */
export function durationNanos(text: string, field: string): bigint {
  const nanos = text.length <= MAX_CHARACTERS ? sumOfParts(text) : undefined;
  if (nanos === undefined) throw refusal("config.syntax", field, text);
  if (nanos <= 0n || nanos > LONGEST) throw refusal("config.range", field, text);
  return nanos;
}

function sumOfParts(text: string): bigint | undefined {
  const part = /(\d+(?:\.\d*)?|\.\d+)(ns|us|\u00b5s|\u03bcs|ms|s|m|h)/y;
  part.lastIndex = text.startsWith("+") ? 1 : 0;
  let sum: bigint | undefined;
  while (part.lastIndex < text.length) {
    const [, digits, unit] = part.exec(text) ?? [];
    if (digits === undefined || unit === undefined) return undefined;
    sum = (sum ?? 0n) + scaled(digits, UNITS.get(unit)!);
  }
  return sum;
}

function scaled(digits: string, unit: bigint): bigint {
  const [whole = "", fraction = ""] = digits.split(".");
  const scale = 10n ** BigInt(fraction.length);
  return BigInt(whole || "0") * unit + BigInt(fraction || "0") * unit / scale;
}

function refusal(code: "config.type" | "config.range" | "config.syntax", field: string, value: unknown): ConfigError {
  const rule = typeof value === "string" ? STRING_RULE : RULE;
  return new ConfigError(code, { field, rule, received: describe(value) });
}
