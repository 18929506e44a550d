/**
 * Options that are one of a few words.
 *
 * @module
 */

import { type GivenOptions, originOf } from "./parse.ts";
import { UsageError } from "../errors.ts";

/**
 * An option's word; the first one where it is not given.
 *
 * @param given what was given
 * @param name the option
 * @param words what it may be
 * @returns the word
 * @throws {UsageError} for another one
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const given = { values: new Map([["progress", "plain"]]), origins: new Map(), positionals: [] };
 * assert.equal(wordOf(given, "progress", ["auto", "plain"]), "plain");
 * assert.throws(() => wordOf(given, "progress", ["auto", "none"]), /--progress must be auto, none: received "plain"/);
 * ```
 */
export function wordOf<W extends string>(given: GivenOptions, name: string, words: readonly [W, ...W[]]): W {
  const value = given.values.get(name) ?? words[0];
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw new UsageError(`${originOf(given, name)} must be ${words.join(", ")}: received ${JSON.stringify(value)}`);
}
