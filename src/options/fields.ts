/**
 * Reading options and documents: plain objects whose keys are known, each read once, and how the caller spells them.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";
import { nearestWord } from "./nearest.ts";

/** Options are spelt in camelCase, the JSON document in snake_case. */
export type Spelling = "camel" | "snake";

/** Keys of the other spelling that no edit distance finds: the namespace is an option of its own, or three keys. */
const ELSEWHERE: { readonly [spelling in Spelling]: ReadonlyMap<string, string> } = {
  camel: new Map(["tenant", "pipeline", "sinkConnection"].map((part) => [part, `namespace.${part}`])),
  snake: new Map([["namespace", "tenant, pipeline and sink_connection"]]),
};

/** A place in what the caller wrote, for rules and their errors. */
export interface Place {
  /** The field as the caller wrote it, its parents before it: `retry.budget`. */
  readonly field: string;
  /** How the fields below it are spelt. */
  readonly spelling: Spelling;
}

/** What a rule does: it gives the value back as its type, or throws a ConfigError for the place. */
export type Rule<T> = (value: unknown, place: Place) => T;

/**
 * An object whose keys are all known. Options are asked for by their camelCase name, however the caller spells them.
 */
export interface Fields {
  /** How its keys are spelt. */
  readonly spelling: Spelling;
  /** The value of an option; undefined where it is absent. Inherited properties are absent. */
  get(option: string): unknown;
  /** Where an option stands in what the caller wrote. */
  place(option: string): Place;
}

/**
 * The fields of a plain object, which errors call `called`. Throws when the value is none, or has a key that is not
 * known; the error names the nearest known key and never the value, which may belong to a misspelt `password`.
 */
export function fieldsOf(
  value: unknown,
  known: readonly string[],
  { field, spelling }: Place,
  called: string = field || (spelling === "camel" ? "options" : "document"),
): Fields {
  const source = plainObject(value, called);
  const spelt = new Set(known.map((option) => spell(option, spelling)));
  const path = (key: string) => field === "" ? key : `${field}.${key}`;
  for (const key of Object.keys(source)) {
    if (!spelt.has(key)) throw unknownKey(path(key), ELSEWHERE[spelling].get(key) ?? path(nearestWord(key, spelt)));
  }
  const place = (option: string) => ({ field: path(spell(option, spelling)), spelling });
  return { spelling, place, get: (option) => readOwn(source, spell(option, spelling), place(option).field) };
}

/** The values of some options, each by its rule; absent ones are left out. */
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

/** The error of an option that has to be there. */
export function missing({ field }: Place, why = "is required"): ConfigError {
  return new ConfigError("config.missing", `${field} ${why}`, { field });
}

/** The own enumerable properties of a plain object, each read once. */
export function ownEntries(value: unknown, field: string): readonly (readonly [name: string, value: unknown])[] {
  const source = plainObject(value, field);
  return Object.keys(source).map((key) => [key, readOwn(source, key, field)] as const);
}

/** Objects of another realm have another `Object.prototype`: it is known by having no prototype itself. */
function plainObject(value: unknown, field: string): object {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) {
    const prototype = Object.getPrototypeOf(value);
    if (prototype === null || Object.getPrototypeOf(prototype) === null) return value;
  }
  throw new ConfigError("config.type", `${field} must be a plain object: received ${kindOf(value)}`, { field });
}

/** A text is not shown: it may be a whole document, credentials and all. */
function kindOf(value: unknown): string {
  if (typeof value === "string") return "a text";
  const kind = describe(value);
  return kind === "an object" ? "an instance of a class" : kind;
}

function readOwn(source: object, key: string, field: string): unknown {
  if (!Object.hasOwn(source, key)) return undefined;
  try {
    return (source as Record<string, unknown>)[key];
  } catch {
    throw new ConfigError("config.type", `${field} must be readable: its getter throws`, { field });
  }
}

function spell(option: string, spelling: Spelling): string {
  return spelling === "camel" ? option : option.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function unknownKey(field: string, nearest: string): ConfigError {
  return new ConfigError("config.unknown", `${describe(field)} is no option: the nearest is ${nearest}`, { field });
}
