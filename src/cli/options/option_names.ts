/**
 * Spells the library's options as the command's flags and variables.
 *
 * @module
 */

import { SECRET_VARIABLES } from "./document.ts";
import { FORM_OPTIONS } from "./forms.ts";
import { CONNECTION_OPTIONS } from "./table.ts";
import { PUBLISHER_OPTIONS } from "./publisher_table.ts";

const NAMES: ReadonlyMap<string, string> = new Map([
  ...[...CONNECTION_OPTIONS, ...PUBLISHER_OPTIONS, ...FORM_OPTIONS].map(({ name }) =>
    [libraryName(name), `--${name}`] as const
  ),
  ...SECRET_VARIABLES.map(([variable, key]) => [libraryName(key), variable] as const),
  ["resource", "--resource"],
  ["operations", "--operation"],
  ["operationValues", "--operation-value"],
  ["retry.budget", "--retry"],
]);

/** Returns the flag or the variable of an option of the library. */
export function flagOf(option: string): string {
  return NAMES.get(option) ?? option;
}

/** `max-in-flight` becomes `maxInFlight`, `tls-ca` becomes `tls.ca`, `json-int64` becomes `json.int64`. */
function libraryName(name: string): string {
  const camel = (words: string) => words.replace(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  const [, group, part] = /^(tls|json)-(.*)$/.exec(name) ?? [];
  return group === undefined ? camel(name) : `${group}.${camel(part!)}`;
}
