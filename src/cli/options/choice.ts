/**
 * Options whose value is one of a few words.
 *
 * @module
 */

import { type GivenOptions, originOf } from "./parse.ts";
import { UsageError } from "../errors.ts";

/**
 * Returns an option's word, or the first word if the option is not given.
 *
 * @throws {UsageError} for another word
 */
export function wordOf<W extends string>(given: GivenOptions, name: string, words: readonly [W, ...W[]]): W {
  const value = given.values.get(name) ?? words[0];
  const word = words.find((one) => one === value);
  if (word !== undefined) return word;
  throw new UsageError(
    `${originOf(given, name)} must be one of ${words.join(", ")}: received ${JSON.stringify(value)}`,
  );
}
