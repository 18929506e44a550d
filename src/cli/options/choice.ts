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
 * @throws {UsageError} for another one
 */
export function wordOf<W extends string>(given: GivenOptions, name: string, words: readonly [W, ...W[]]): W {
  const value = given.values.get(name) ?? words[0];
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw new UsageError(`${originOf(given, name)} must be ${words.join(", ")}: received ${JSON.stringify(value)}`);
}
