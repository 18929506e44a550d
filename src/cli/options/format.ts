/**
 * Decides between output for a person and for a program.
 *
 * @module
 */

import type { TextOut } from "../io.ts";
import type { CliOption, GivenOptions } from "./parse.ts";
import { wordOf } from "./choice.ts";

/** The formats of results. */
export type Format = "table" | "json";

/** The option that decides it. */
export const FORMAT_OPTION: CliOption = {
  name: "format",
  type: "string",
  value: "FORMAT",
  env: "JETROW_FORMAT",
  byDefault: "auto",
  help: "table, json, or auto: a table on a terminal, JSON in a pipe",
};

/**
 * Returns the format: the requested one, otherwise a table on a terminal and JSON elsewhere.
 *
 * @throws {UsageError} for another word
 */
export function formatOf(given: GivenOptions, out: TextOut): Format {
  const word = wordOf(given, "format", ["auto", "table", "json"]);
  if (word !== "auto") return word;
  return out.columns === undefined ? "json" : "table";
}
