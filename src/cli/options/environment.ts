/**
 * Finds misspelt environment variables, which the command would otherwise ignore.
 *
 * @module
 */

import { misspelt } from "../../util/nearest.ts";
import { SECRET_VARIABLES } from "./document.ts";
import type { CliOption } from "./parse.ts";

const PREFIX = "JETROW_";

/** Returns a line for each variable whose name is similar to that of an option. Values are not repeated. */
export function misspeltVariables(
  env: Readonly<Record<string, string | undefined>>,
  options: readonly CliOption[],
): string[] {
  const variables = [...options.flatMap(({ env }) => env ?? []), ...SECRET_VARIABLES.map(([variable]) => variable)];
  const known = variables.map((variable) => variable.slice(PREFIX.length));
  return namesIn(env).flatMap((name) => {
    const meant = name.startsWith(PREFIX) ? misspelt(name.slice(PREFIX.length), known) : undefined;
    return meant === undefined ? [] : [`${name} is not used: did you mean ${PREFIX}${meant}?`];
  });
}

/** Deno lists variables only to a program that may read all of them. */
function namesIn(env: Readonly<Record<string, string | undefined>>): string[] {
  try {
    return Object.keys(env);
  } catch {
    return [];
  }
}
