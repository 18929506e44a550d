/**
 * Writes JSON values as strings, without the silent changes of `JSON.stringify`.
 *
 * @module
 */

import { describe } from "../../util/describe.ts";
import { refuseValue } from "./fault.ts";

/** The maximum nesting of arrays and objects, which a value that contains itself exceeds. */
const DEEPEST = 1000;

/** The maximum number of characters of one value: the largest message of a nats-server has 64 MiB. */
const LONGEST = 64 * 1024 * 1024;

const encoder = new TextEncoder();

/**
 * Returns the JSON text of a value in UTF-8: null, a boolean, a finite number, a string, an array or a plain object of
 * such. A property that is undefined is left out. Throws a fault for anything else: for NaN, a bigint, a hole, a class instance,
 * a value that contains itself. Calls no `toJSON`.
 */
export function jsonBytes(value: unknown): Uint8Array {
  const parts: string[] = [];
  let length = 0;
  const put = (part: string): void => {
    length += part.length;
    if (length > LONGEST) refuseValue(`its JSON has more than ${LONGEST} characters`);
    parts.push(part);
  };
  write(value, 0, put);
  return encoder.encode(parts.join(""));
}

function write(value: unknown, depth: number, put: (part: string) => void): void {
  if (depth > DEEPEST) refuseValue(`a JSON value must not be nested deeper than ${DEEPEST} levels or contain itself`);
  if (value === null || typeof value === "boolean") return put(String(value));
  if (typeof value === "string") return put(JSON.stringify(value));
  if (typeof value === "number" && Number.isFinite(value)) return put(Object.is(value, -0) ? "-0" : String(value));
  if (Array.isArray(value)) return writeArray(value, depth + 1, put);
  if (typeof value === "object" && isPlain(value)) return writeObject(value, depth + 1, put);
  refuseValue(`expected a JSON value: received ${describe(value)}`);
}

function writeArray(items: readonly unknown[], depth: number, put: (part: string) => void): void {
  put("[");
  // Not by forEach: a hole is not a JSON value either.
  for (let at = 0; at < items.length; at++) {
    if (at > 0) put(",");
    write(items[at], depth, put);
  }
  put("]");
}

function writeObject(value: object, depth: number, put: (part: string) => void): void {
  let separator = "{";
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue;
    put(`${separator}${JSON.stringify(key)}:`);
    write(member, depth, put);
    separator = ",";
  }
  put(separator === "{" ? "{}" : "}");
}

/** Whether an object has no class: its prototype is that of object literals, of any realm, or null. */
function isPlain(value: object): boolean {
  const prototype = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
