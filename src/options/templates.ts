/**
 * Rules of templates, inbox prefixes and domains.
 *
 * @module
 */

import { commandLineBytes, MAX_COMMAND_LINE, tokensFault } from "../subject/name.ts";
import { replacePlaceholders, templateFault } from "../subject/template.ts";
import type { Place, Rule } from "./fields.ts";
import { broken, nonEmptyString } from "./values.ts";

/** The server refuses replies below some of these and treats others as calls of its API. */
const NO_INBOX: ReadonlySet<string> = new Set(["$JS", "$JSC", "$SYS", "$NRG", "$GR", "_R_", "_GR_", "$MQTT"]);

/**
 * A template, checked with the resource `x`: this finds mistakes in its fixed part. What a resource name breaks is found
 * when that resource is published.
 */
export function templateOf(faultOf: (expanded: string) => string | undefined): Rule<string> {
  return (value, place) => {
    const template = nonEmptyString(value, place);
    const fault = templateFault(template) ?? faultOf(replacePlaceholders(template, "x"));
    if (fault !== undefined) throw broken("config.syntax", place, fault, value);
    return template;
  };
}

/** The prefix of reply subjects. */
export function inboxPrefix(value: unknown, place: Place): string {
  const prefix = nonEmptyString(value, place);
  const fault = tokensFault(prefix) ?? inboxFault(prefix);
  if (fault !== undefined) throw broken("config.syntax", place, fault, value);
  return prefix;
}

/** A JetStream domain: one token. */
export function domainName(value: unknown, place: Place): string {
  const domain = nonEmptyString(value, place);
  const fault = domain.includes(".") ? "must not contain a dot" : tokensFault(domain);
  if (fault !== undefined) throw broken("config.syntax", place, fault, value);
  return domain;
}

function inboxFault(prefix: string): string | undefined {
  const [first = ""] = prefix.split(".");
  if (NO_INBOX.has(first)) return `must not be ${first}, which is reserved by the server, nor begin with it`;
  const longest = commandLineBytes(`s${prefix}`, ".b.c".length, 72, 72);
  return longest > MAX_COMMAND_LINE ? "must leave room on a command line of 4096 bytes" : undefined;
}
