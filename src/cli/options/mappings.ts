/**
 * Options that together make one object of the configuration document.
 *
 * @module
 */

import { UsageError } from "../errors.ts";
import { addTo, type Document } from "./layers.ts";
import { type GivenOptions, originOf } from "./parse.ts";

/** Adds `--header` to the headers of the document. */
export function addHeaders(given: GivenOptions, document: Document, keys: Map<string, string>): void {
  const lines = given.values.get("header");
  if (!Array.isArray(lines)) return;
  const origin = originOf(given, "header");
  const headers = lines.map((line: string) => {
    const [, name, value] = /^([^:]+):[ \t]*(.*)$/s.exec(line) ?? [];
    if (name === undefined || value === undefined) throw new UsageError(`${origin} must be 'Name: value'`);
    return [name, value] as const;
  });
  const twice = headers.find(([name], at) => headers.findIndex(([other]) => other === name) < at);
  if (twice !== undefined) throw new UsageError(`${origin} gives ${JSON.stringify(twice[0])} twice`);
  if (addTo(document, "headers", Object.fromEntries(headers))) keys.set("headers", origin);
}

/** Adds `--operation-value` to the operations of the document. */
export function addOperationValues(given: GivenOptions, document: Document, keys: Map<string, string>): void {
  const lines = given.values.get("operation-value");
  if (!Array.isArray(lines)) return;
  const origin = originOf(given, "operation-value");
  const values = lines.map((line: string) => {
    const at = line.lastIndexOf("=");
    if (at < 0) throw new UsageError(`${origin} must be 'VALUE=OPERATION': received ${JSON.stringify(line)}`);
    return [line.slice(0, at), line.slice(at + 1)] as const;
  });
  const twice = values.find(([value], at) => values.findIndex(([other]) => other === value) < at);
  if (twice !== undefined) throw new UsageError(`${origin} gives ${JSON.stringify(twice[0])} twice`);
  if (addTo(document, "operation_values", Object.fromEntries(values))) keys.set("operation_values", origin);
}

/** Sets the body columns of the document: `--pick` and `--omit` exclude each other. */
export function addBodyColumns(given: GivenOptions, document: Document, keys: Map<string, string>): void {
  const [name, other] = ["pick", "omit"].filter((name) => given.values.has(name));
  if (other !== undefined) {
    throw new UsageError(`${originOf(given, other)} must not be set with ${originOf(given, name!)}`);
  }
  if (name === undefined) return;
  document.body_columns = { [name]: given.values.get(name) };
  keys.set("body_columns", originOf(given, name));
}
