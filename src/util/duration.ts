/**
 * Durations: milliseconds as a number, or text as Go writes it.
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
/** No duration of less than 292 years needs more; it keeps hostile digits away from BigInt. */
const LONGEST_TEXT = 128;

const RULE = "must be a positive duration: milliseconds as a number, or text such as 5s, 1m30s or 100ms";
/** Of text, which may come from where there are no numbers: a command line, a variable. */
const TEXT_RULE = "must be a positive duration with its unit, such as 5s, 1m30s or 100ms";

/**
 * Milliseconds of a duration: a positive number is milliseconds already, text is Go's notation (`1h2m3.5s`, `100us`).
 *
 * The result may be fractional. Anything else is a {@linkcode ConfigError}: text without a unit, with white space, an
 * exponent or a minus sign, zero, and what is longer than Go's 292 years.
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

/** As {@linkcode parseDuration}, naming the option in the error. */
export function durationMillis(value: unknown, field: string): number {
  if (typeof value === "string") return Number(durationNanos(value, field)) / 1e6;
  if (typeof value !== "number") throw refusal("config.type", field, value);
  if (!(value > 0 && value * 1e6 <= Number(LONGEST))) throw refusal("config.range", field, value);
  return value;
}

/** Nanoseconds of a positive duration text. */
export function durationNanos(text: string, field: string): bigint {
  const nanos = text.length <= LONGEST_TEXT ? sumOfParts(text) : undefined;
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
  const rule = typeof value === "string" ? TEXT_RULE : RULE;
  return new ConfigError(code, `${field} ${rule}: received ${describe(value)}`, { field });
}
