/**
 * What the command calls the library's options.
 *
 * @module
 */

import { SECRET_VARIABLES } from "./document.ts";
import { CONNECTION_OPTIONS, PUBLISHER_OPTIONS } from "./table.ts";

/**
 * A flag, or the variable of a credential, for each of the library's names that is no plain word; those that are
 * (`ttl`, `stream`) are keys of the configuration document, too.
 */
const NAMES: ReadonlyMap<string, string> = new Map(
  [
    ...[...CONNECTION_OPTIONS, ...PUBLISHER_OPTIONS].map(({ name }) => [libraryName(name), `--${name}`] as const),
    ...SECRET_VARIABLES.map(([variable, key]) => [libraryName(key), variable] as const),
  ].filter(([name]) => !/^[a-z]+$/.test(name)),
);

/** Names as a text has them: not within a subject, a quoted value or a longer name. */
const NAME = /(?<![\w.$*>"-])[a-z][\w.]*\w(?![\w">*-]|\.[\w*>])/g;

/**
 * A text of the library, for who gives options on a command line.
 *
 * @param text a message or a remedy
 * @returns the same, with the options' names as they are on the command line
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * assert.equal(inCommandsWords("Create it, or set createStream."), "Create it, or set --create-stream.");
 * assert.equal(inCommandsWords('orders.createStream "createStream"'), 'orders.createStream "createStream"');
 * ```
 */
export function inCommandsWords(text: string): string {
  return text.replace(NAME, (name) => NAMES.get(name) ?? name);
}

/** `max-in-flight` is `maxInFlight`, `tls-ca` is `tls.ca`. */
function libraryName(name: string): string {
  const camel = (words: string) => words.replace(/[-_]([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return name.startsWith("tls-") ? `tls.${camel(name.slice(4))}` : camel(name);
}
