/** Checks for tests of options: all properties of a refusal, and the absence of secrets. */

import assert from "node:assert/strict";
import { inspect } from "node:util";
import { ConfigError, type ConfigErrorCode } from "../../src/errors/mod.ts";

/** What a refusal must be. */
export interface Refusal {
  readonly code: ConfigErrorCode;
  readonly field: string;
  /** What the message must say about the value, and about the rule if that matters. */
  readonly says: string;
}

/** Asserts that a call throws this ConfigError, whose message begins with the field; returns the error. */
export function refuses(run: () => unknown, { code, field, says }: Refusal): ConfigError {
  let thrown: unknown;
  try {
    run();
  } catch (error) {
    thrown = error;
  }
  assert.ok(thrown instanceof ConfigError, `no ConfigError but ${inspect(thrown)}: ${field} ${says}`);
  assert.equal(thrown.code, code, thrown.message);
  assert.equal(thrown.field, field, thrown.message);
  assert.ok(thrown.message.replace(/^(Unknown [\w ]+ )?"?/, "").startsWith(field), thrown.message);
  assert.ok(thrown.message.includes(says), `${thrown.message} does not say ${says}`);
  assert.ok(!thrown.message.includes("\n"), "more than one line");
  return thrown;
}

/** Every string that a value is printed as, with and without hidden properties. */
export function printings(value: unknown): readonly string[] {
  const options = { depth: Infinity, showHidden: true, getters: true };
  const nested = { nested: [value], map: new Map([[1, value]]) };
  return [
    String(value),
    `${value}`,
    JSON.stringify(value) ?? "",
    JSON.stringify([value], null, 2),
    inspect(value),
    inspect(value, options),
    inspect(nested, options),
    Deno.inspect(value),
    Deno.inspect(value, options),
    Deno.inspect(nested, options),
    JSON.stringify({ ...value as object }),
    inspect(structuredClone(value)),
    Object.entries(value as object).join(),
  ];
}

/** Asserts that no printed form of a value contains the secret, nor an error's cause, stack or properties. */
export function keepsSecret(value: unknown, secret: string): void {
  for (const printed of printings(value)) assert.ok(!printed.includes(secret), printed);
  if (!(value instanceof Error)) return;
  for (const text of [value.message, value.stack ?? "", String(value)]) assert.ok(!text.includes(secret), text);
  if (value.cause !== undefined) keepsSecret(value.cause, secret);
}
