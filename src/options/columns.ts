/**
 * Rules of the options that name columns: ids, operations, bodies.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";
import { option, type OptionName, type Wording, words } from "../errors/wording.ts";
import type { BodyColumns, Operation, PublisherOptions } from "../types/mod.ts";
import { applyRules, type Fields, fieldsOf, missing, ownEntries, type Place } from "./fields.ts";
import { ID_HEADER } from "./headers.ts";
import { broken, choice, nonEmptyString } from "./values.ts";

const operationWord = choice(["insert", "update", "delete"]);

/** One column's name, or a list of names. Returns a frozen copy of a list. */
export function columnOrColumns(value: unknown, place: Place): string | readonly string[] {
  if (!Array.isArray(value)) {
    if (typeof value === "string") return nonEmptyString(value, place);
    throw broken("config.type", place, "must be a column's name or a list of names", value);
  }
  if (value.length === 0) throw broken("config.range", place, "must name at least one column", value);
  return columnNames(value, place);
}

/** Checks the strings of a mapping to operations. Returns a frozen copy. */
export function operationValues(value: unknown, place: Place): Readonly<Record<string, Operation>> {
  const entries = ownEntries(value, place.field);
  if (entries.length === 0) throw broken("config.range", place, "must map at least one string", value);
  return Object.freeze(Object.fromEntries(
    entries.map(([from, to]) => [from, operationWord(to, { ...place, field: `${place.field}.${from}` })]),
  ));
}

/** Checks `{ pick }` or `{ omit }`. Returns a frozen copy. */
export function bodyColumns(value: unknown, place: Place): BodyColumns {
  const fields = fieldsOf(value, ["pick", "omit"], place);
  const { pick, omit } = applyRules(fields, { pick: { rule: columnNames }, omit: { rule: columnNames } });
  if (pick !== undefined && omit !== undefined) {
    throw new ConfigError("config.conflict", { field: place.field, rule: "must have either pick or omit, not both" });
  }
  if (pick?.length === 0) throw broken("config.range", fields.place("pick"), "must name at least one column", pick);
  if (pick !== undefined) return Object.freeze({ pick });
  if (omit !== undefined) return Object.freeze({ omit });
  throw missing(place, "must have pick or omit");
}

/** A value of `Content-Type`. */
export function contentType(value: unknown, place: Place): string {
  const type = nonEmptyString(value, place);
  if (type.includes(ID_HEADER)) throw broken("config.conflict", place, `must not contain ${ID_HEADER}`, value);
  if (/^[!-~]+(?:[ \t]+[!-~]+)*$/.test(type) && !/[{}]/.test(type)) return type;
  throw broken("config.syntax", place, "must be visible ASCII characters without braces", value);
}

/** Options whose effect is in the standard headers. */
const IN_STANDARD_HEADERS = ["operationColumn", "contentType", "expectedStream"] as const;

/** Refuses options that contradict each other. */
export function checkColumnOptions(options: Omit<PublisherOptions, "stream" | "subject">, fields: Fields): void {
  const conflict = (name: keyof PublisherOptions, rule: Wording): ConfigError =>
    new ConfigError("config.conflict", { field: fields.place(name).field, rule });
  const other = (name: keyof PublisherOptions): OptionName => option(fields.place(name).field);
  if (options.operationValues !== undefined && options.operationColumn === undefined) {
    throw conflict("operationValues", words`must not be set without ${other("operationColumn")}`);
  }
  if (options.standardHeaders === false) {
    const unsent = IN_STANDARD_HEADERS.find((name) => options[name] !== undefined && options[name] !== false);
    if (unsent !== undefined) throw conflict(unsent, words`must not be set if ${other("standardHeaders")} is false`);
  }
  const formed = (["bodyColumns", "json"] as const).find((name) => options[name] !== undefined);
  if (options.rawBodyColumn !== undefined && formed !== undefined) {
    throw conflict("rawBodyColumn", words`must not be set with ${other(formed)}: one column is the whole body`);
  }
}

function columnNames(value: unknown, place: Place): readonly string[] {
  if (!Array.isArray(value)) throw broken("config.type", place, "must be a list of column names", value);
  const names = value.map((name, at) => nonEmptyString(name, { ...place, field: `${place.field}[${at}]` }));
  const twice = names.find((name, at) => names.indexOf(name) < at);
  if (twice === undefined) return Object.freeze(names);
  const rule = "must not name a column twice";
  throw new ConfigError("config.conflict", { field: place.field, rule, received: describe(twice) });
}
