/**
 * The forms of values: their rules, their defaults, and the forms of one column.
 *
 * @module
 */

import type { JsonForms, JsonValueForms } from "../types/mod.ts";
import { describe } from "../util/describe.ts";
import { applyRules, fieldsOf, ownEntries, type Place } from "./fields.ts";
import { choice } from "./values.ts";

/** The forms of one column's values, each chosen. */
export type ColumnForms = Required<JsonValueForms>;

const RULES = {
  int64: { rule: choice(["number", "string", "safe"]), default: "number" },
  decimal: { rule: choice(["number", "string"]), default: "number" },
  nonFinite: { rule: choice(["string", "null"]), default: "string" },
  timestamp: { rule: choice(["iso", "s", "ms", "us", "ns"]), default: "iso" },
  naive: { rule: choice(["none", "Z"]), default: "none" },
  infinity: { rule: choice(["extremes", "duckdb"]), default: "extremes" },
  nulls: { rule: choice(["keep", "omit"]), default: "keep" },
  binary: { rule: choice(["base64", "base64url", "hex"]), default: "base64" },
} as const;

/** The names of the forms. */
export const FORM_NAMES = Object.keys(RULES) as readonly (keyof ColumnForms)[];

/** Every value in the form that `docs/messages.md` lists for its type. */
export const DEFAULT_FORMS: ColumnForms = Object.freeze({
  int64: RULES.int64.default,
  decimal: RULES.decimal.default,
  nonFinite: RULES.nonFinite.default,
  timestamp: RULES.timestamp.default,
  naive: RULES.naive.default,
  infinity: RULES.infinity.default,
  nulls: RULES.nulls.default,
  binary: RULES.binary.default,
});

/** Checks the option `json` and returns it frozen, as it was written. */
export function jsonForms(value: unknown, place: Place): JsonForms {
  const fields = fieldsOf(value, [...FORM_NAMES, "columns"], place);
  const columns = fields.get("columns");
  const forms = applyRules<Partial<ColumnForms>>(fields, RULES);
  return Object.freeze({
    ...forms,
    ...(columns !== undefined && { columns: formsByColumn(columns, fields.place("columns")) }),
  });
}

function formsByColumn(value: unknown, { field, spelling }: Place): Readonly<Record<string, JsonValueForms>> {
  const entries = ownEntries(value, field).map(([column, forms]) => {
    const name = /^[\w-]+$/.test(column) ? `.${column}` : `[${describe(column)}]`;
    const fields = fieldsOf(forms, FORM_NAMES, { field: field + name, spelling });
    return [column, Object.freeze(applyRules<Partial<ColumnForms>>(fields, RULES))] as const;
  });
  return Object.freeze(Object.fromEntries(entries));
}

/** Returns the forms of a column, or without a name those of all others. */
export function formsOf(json: JsonForms | undefined, column?: string): ColumnForms {
  const { columns = {}, ...all } = json ?? {};
  const own = column !== undefined && Object.hasOwn(columns, column) ? columns[column] : undefined;
  return { ...DEFAULT_FORMS, ...all, ...own };
}
