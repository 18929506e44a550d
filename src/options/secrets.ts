/**
 * Credentials: readable as properties, and nowhere else.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";
import type { Place } from "./fields.ts";

/** Node, Deno and Bun all ask an object by this symbol how to print it. */
const INSPECT = Symbol.for("nodejs.util.inspect.custom");

/** A text whose value no error shows. */
export function secretText(value: unknown, { field }: Place): string {
  if (typeof value === "string") return value;
  const kind = typeof value === "object" ? describe(value) : `a ${typeof value}`;
  throw new ConfigError("config.type", `${field} must be a text: received ${kind}`, { field });
}

/**
 * A frozen copy of an object with secrets beside its own properties. They are accessors that are not enumerable, and
 * their values live in closures: printing, `JSON.stringify`, spreading, `structuredClone` and `Object.assign` leave
 * them out. (Bun prints data properties also when they are not enumerable.) Without secrets it is a plain frozen copy.
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
