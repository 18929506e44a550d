/**
 * Rules of templates, inbox prefixes and domains.
 *
 * @module
 */

import {
  commandLineBytes,
  MAX_COMMAND_LINE,
  streamNameFault,
  subjectFault,
  tokenFault,
  tokensFault,
} from "../subject/name.ts";
import { replacePlaceholders, rowPlaceholders, templateFault, templateParts } from "../subject/template.ts";
import type { Place } from "./fields.ts";
import { broken, nonEmptyString } from "./values.ts";

/** The server refuses replies below some of these and treats others as calls of its API. */
const NO_INBOX: ReadonlySet<string> = new Set(["$JS", "$JSC", "$SYS", "$NRG", "$GR", "_R_", "_GR_", "$MQTT"]);

/**
 * The template of a stream's name, checked with the resource `x`: this finds mistakes in its fixed part. What a resource
 * name breaks is found when that resource is published.
 */
export function streamTemplate(value: unknown, place: Place): string {
  const template = nonEmptyString(value, place);
  const fault = streamFault(template);
  if (fault !== undefined) throw broken("config.syntax", place, fault, value);
  return template;
}

/** The template of a subject, checked with `x` for the resource and for each value of a row. */
export function subjectTemplate(value: unknown, place: Place): string {
  const template = nonEmptyString(value, place);
  const fault = templateFault(template) ?? subjectFault(replacePlaceholders(templateParts(template), "x")) ??
    fallbackFault(template);
  if (fault !== undefined) throw broken("config.syntax", place, fault, value);
  return template;
}

function streamFault(template: string): string | undefined {
  if (rowPlaceholders(template).length > 0) {
    return "must not contain {row.NAME}: all rows of a resource go to one stream";
  }
  return templateFault(template, false) ?? streamNameFault(replacePlaceholders(templateParts(template), "x"));
}

/** A fallback stands where a value does: it must be one token. */
function fallbackFault(template: string): string | undefined {
  for (const { written, fallback } of rowPlaceholders(template)) {
    if (fallback === undefined) continue;
    const fault = tokenFault(fallback);
    if (fault !== undefined) return `has a wrong fallback in ${written}: it ${fault}`;
  }
  return undefined;
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
  const fault = tokenFault(domain);
  if (fault !== undefined) throw broken("config.syntax", place, fault, value);
  return domain;
}

function inboxFault(prefix: string): string | undefined {
  const [first = ""] = prefix.split(".");
  if (NO_INBOX.has(first)) return `must not be ${first}, which is reserved by the server, nor begin with it`;
  const longest = commandLineBytes(`s${prefix}`, ".b.c".length, 72, 72);
  return longest > MAX_COMMAND_LINE ? "must leave room on a command line of 4096 bytes" : undefined;
}
