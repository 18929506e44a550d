/**
 * Reads options and documents: plain objects with known keys. Each value is read once, and errors spell its key as the
 * caller did.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";
import { probableWord } from "../util/nearest.ts";

/** The spelling of keys: camelCase for options, snake_case for the JSON document. */
export type Spelling = "camel" | "snake";

/** Suggestions for keys of the other form, where the namespace is one option or three keys of the document. */
const ELSEWHERE: { readonly [spelling in Spelling]: ReadonlyMap<string, string> } = {
  camel: new Map(["tenant", "pipeline", "sinkConnection"].map((part) => [part, `namespace.${part}`])),
  snake: new Map([["namespace", "tenant, pipeline and sink_connection"]]),
};

/** The position of a value in what the caller wrote, for rules and their errors. */
export interface Place {
  /** The field as the caller wrote it, its parents before it: `retry.budget`. */
  readonly field: string;
  /** The spelling of the fields below it. */
  readonly spelling: Spelling;
}

/** A rule: returns the value with its type, or throws a ConfigError for the position. */
export type Rule<T> = (value: unknown, place: Place) => T;

/**
 * An object whose keys are all known. Options are read by their camelCase name in either spelling.
 */
export interface Fields {
  /** The spelling of its keys. */
  readonly spelling: Spelling;
  /** Returns the value of an option, or undefined if it is absent. Inherited properties count as absent. */
  get(option: string): unknown;
  /** Returns the position of an option in what the caller wrote. */
  place(option: string): Place;
}

/**
 * Returns the fields of a plain object, which errors call `called`. Throws if the value is not a plain object or has an
 * unknown key. The error names the key that was probably meant, otherwise all known keys, and never the value, which may belong to a
 * misspelt `password`.
 */
export function fieldsOf(
  value: unknown,
  known: readonly string[],
  { field, spelling }: Place,
  called: string = field || (spelling === "camel" ? "options" : "document"),
): Fields {
  const source = plainObject(value, called);
  const spelt = known.map((option) => spell(option, spelling));
  const path = (key: string) => field === "" ? key : `${field}.${key}`;
  for (const key of Object.keys(source)) {
    if (spelt.includes(key)) continue;
    const meant = ELSEWHERE[spelling].get(key) ?? probableWord(key, spelt) ??
      (spelt.length === 1 ? spelt[0] : undefined);
    if (meant !== undefined) throw unknownKey(path(key), `did you mean ${JSON.stringify(path(meant))}?`);
    throw unknownKey(path(key), `use one of ${spelt.join(", ")}`);
  }
  const place = (option: string) => ({ field: path(spell(option, spelling)), spelling });
  return { spelling, place, get: (option) => readOwn(source, spell(option, spelling), place(option).field) };
}

/** Applies a rule to each option of the table. Absent options stay absent. */
export function applyRules<T extends object>(
  fields: Fields,
  table: { readonly [K in keyof T]: { readonly rule: Rule<T[K]> } },
): { readonly [K in keyof T]?: T[K] } {
  const values: { [K in keyof T]?: T[K] } = {};
  for (const option of Object.keys(table) as (keyof T & string)[]) {
    const value = fields.get(option);
    if (value !== undefined) values[option] = table[option].rule(value, fields.place(option));
  }
  return values;
}

/** Makes the error of a missing option. */
export function missing({ field }: Place, rule = "is required"): ConfigError {
  return new ConfigError("config.missing", { field, rule });
}

/** Returns the own enumerable properties of a plain object, each read once. */
export function ownEntries(value: unknown, field: string): readonly (readonly [name: string, value: unknown])[] {
  const source = plainObject(value, field);
  return Object.keys(source).map((key) => [key, readOwn(source, key, field)] as const);
}

/** Accepts objects of another realm: their `Object.prototype` is another one, which has no prototype itself. */
function plainObject(value: unknown, field: string): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const prototype = Object.getPrototypeOf(value);
    if (prototype === null || Object.getPrototypeOf(prototype) === null) return value;
  }
  throw new ConfigError("config.type", { field, rule: "must be a plain object", received: kindOf(value) });
}

/** Does not show a string: it may be a whole document with credentials. */
function kindOf(value: unknown): string {
  if (typeof value === "string") return "a string";
  const kind = describe(value);
  return kind === "an object" ? "an instance of a class" : kind;
}

function readOwn(source: object, key: string, field: string): unknown {
  if (!Object.hasOwn(source, key)) return undefined;
  try {
    return (source as Record<string, unknown>)[key];
  } catch {
    throw new ConfigError("config.type", { field, rule: "must be readable: its getter throws" });
  }
}

function spell(option: string, spelling: Spelling): string {
  return spelling === "camel" ? option : option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** Makes the error of an unknown option; `rule` names what to write instead. */
export function unknownKey(field: string, rule: string, what = "option"): ConfigError {
  return new ConfigError("config.unknown", { field, rule, subject: `Unknown ${what} ${describe(field)}:` });
}
