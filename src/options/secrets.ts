/**
 * Makes objects whose credentials are readable as properties and nowhere else.
 *
 * @module
 */

import { nkeys } from "@nats-io/nats-core";
import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";
import type { Place } from "./fields.ts";

/** Node, Deno and Bun print an object by its method of this name. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** Checks a string whose value no error shows. */
export function secretString(value: unknown, { field }: Place): string {
  if (typeof value === "string") return value;
  const kind = typeof value === "object" ? describe(value) : `a ${typeof value}`;
  throw new ConfigError("config.type", { field, rule: "must be a string", received: kind });
}

/**
 * Returns a frozen copy of an object with additional secrets. Secrets are non-enumerable accessors whose values live in
 * closures: printing, `JSON.stringify`, spreading, `structuredClone` and `Object.assign` leave them out. (Data
 * properties would not do: Bun prints them even if they are not enumerable.)
 */
export function withSecrets<V extends object, S extends object>(visible: V, secrets: S): Readonly<V & S> {
  const copy = { ...visible };
  for (const [name, value] of Object.entries(secrets)) Object.defineProperty(copy, name, { get: () => value });
  if (Object.keys(secrets).length > 0) Object.defineProperty(copy, INSPECT, { value: printVisible });
  return Object.freeze(copy) as Readonly<V & S>;
}

function printVisible(this: object, _depth: number, options: unknown, inspect?: unknown): unknown {
  const visible = { ...this };
  return typeof inspect === "function" ? inspect(visible, options) : visible;
}

/** Returns the rule that a string breaks as a user's seed, without the string; undefined for a valid one. */
export function seedFault(seed: string): string | undefined {
  if (!/^SU[A-Z2-7]{56}$/.test(seed)) return "must be a user seed: 58 letters and digits that begin with SU";
  try {
    nkeys.fromSeed(new TextEncoder().encode(seed));
    return undefined;
  } catch {
    return "must be a user seed as it was issued: its checksum is wrong";
  }
}
