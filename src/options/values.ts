/**
 * Rules of single values: strings, booleans, whole numbers, durations, choices, functions, signals.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { durationMillis } from "../util/duration.ts";
import { ConfigError, type ConfigErrorCode } from "../errors/mod.ts";
import type { Place, Rule } from "./fields.ts";

/** The longest delay of `setTimeout` in milliseconds; a longer one fires at once. */
export const LONGEST_TIMER = 2 ** 31 - 1;

/** Makes the error of a value that breaks a rule. */
export function broken(code: ConfigErrorCode, { field }: Place, rule: string, value: unknown): ConfigError {
  return new ConfigError(code, { field, rule, received: describe(value) });
}

/** A string that UTF-8 can encode; it may be empty. */
export function wellFormedString(value: unknown, place: Place): string {
  if (typeof value !== "string") throw broken("config.type", place, "must be a string", value);
  if (value.isWellFormed()) return value;
  throw broken("config.syntax", place, "must not contain a lone surrogate, which UTF-8 cannot encode", value);
}

/** A string that is not empty. */
export function nonEmptyString(value: unknown, place: Place): string {
  const written = wellFormedString(value, place);
  if (written === "") throw broken("config.syntax", place, "must not be empty", value);
  return written;
}

/** `true` or `false`. */
export function flag(value: unknown, place: Place): boolean {
  if (typeof value !== "boolean") throw broken("config.type", place, "must be true or false", value);
  return value;
}

/** A whole number in a range. */
export function count(least: number, most: number): Rule<number> {
  const rule = `must be a whole number from ${least} to ${most}`;
  return (value, place) => {
    if (typeof value !== "number" || (Number.isFinite(value) && !Number.isInteger(value)) || Number.isNaN(value)) {
      throw broken("config.type", place, rule, value);
    }
    if (value < least || value > most) throw broken("config.range", place, rule, value);
    return value;
  };
}

/** A duration, as it was written. */
export function duration(value: unknown, place: Place): number | string {
  durationMillis(value, place.field);
  return value as number | string;
}

/** A duration that a timer can wait for, as it was written. */
export function timeout(value: unknown, place: Place): number | string {
  if (durationMillis(value, place.field) <= LONGEST_TIMER) return value as number | string;
  throw broken("config.range", place, `must be at most ${LONGEST_TIMER} milliseconds, the longest timer`, value);
}

/** One of a list of strings. */
export function choice<const T extends string>(words: readonly T[]): Rule<T> {
  const rule = `must be one of ${words.join(", ")}`;
  return (value, place) => {
    const word = words.find((known) => known === value);
    if (word === undefined) {
      throw broken(typeof value === "string" ? "config.range" : "config.type", place, rule, value);
    }
    return word;
  };
}

/** A callback. */
export function listener<F extends (...args: never[]) => unknown>(value: unknown, place: Place): F {
  if (typeof value !== "function") throw broken("config.type", place, "must be a function", value);
  return value as F;
}

/** An AbortSignal of any realm. */
export function abortSignal(value: unknown, place: Place): AbortSignal {
  if (typeof value === "object" && value !== null && "aborted" in value) return value as AbortSignal;
  throw broken("config.type", place, "must be an AbortSignal", value);
}
