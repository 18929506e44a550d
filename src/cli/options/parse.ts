/**
 * Defines the options of a command line, and reads them.
 *
 * @module
 */

import { parseArgs } from "node:util";
import { misspelt } from "../../util/nearest.ts";
import { UsageError } from "../errors.ts";

/** One option. */
export interface CliOption {
  /** Its name on the command line, without the dashes. A `flag` also has its `no-` form. */
  readonly name: string;
  /** Its short form of one letter, if it has one. */
  readonly short?: string;
  /** Its values: a string, an integer, a string per use, strings separated by commas, or none. */
  readonly type: "string" | "count" | "strings" | "names" | "flag";
  /** The placeholder of its value in the help. */
  readonly value?: string;
  /** The environment variable that can set it. */
  readonly env?: string;
  /** Its key in the configuration document, if it has one; with a point, a key of an object there. */
  readonly key?: string;
  /** Its default, for the help. */
  readonly byDefault?: string;
  /** What it does, in one line. */
  readonly help: string;
}

/** The options given on a command line. */
export interface GivenOptions {
  /** Values by name. */
  readonly values: ReadonlyMap<string, OptionValue>;
  /** The source of each value, as the user wrote it: `--stream`, or the variable's name. */
  readonly origins: ReadonlyMap<string, string>;
  /** Arguments that are not options. */
  readonly positionals: readonly string[];
}

/** Converts a value to the option's type; an invalid count stays a string, for the option's rule to refuse. */
export type OptionValue = string | number | boolean | readonly string[];

/** Credentials on the command line are visible to everyone who lists processes, and stay in the shell's history. */
const SECRETS: Readonly<Record<string, string>> = {
  password: "JETROW_PASSWORD",
  pass: "JETROW_PASSWORD",
  token: "JETROW_TOKEN",
  "auth-token": "JETROW_TOKEN",
  jwt: "JETROW_JWT",
  "nkey-seed": "JETROW_NKEY_SEED",
  nkey: "JETROW_NKEY_SEED",
  nkeyseed: "JETROW_NKEY_SEED",
  seed: "JETROW_NKEY_SEED",
};

/** Options of the `nats` command that have another name here. */
const NATS_NAMES: Readonly<Record<string, string>> = {
  server: "url",
  tlsfirst: "tls-handshake-first",
  "js-domain": "domain",
  "connection-name": "name",
};

/**
 * Reads a command line.
 *
 * @throws {UsageError} for an unknown option, a missing value or a credential; never repeats a value
 */
export function readArguments(args: readonly string[], options: readonly CliOption[]): GivenOptions {
  const byName = new Map(options.flatMap((option) => namesOf(option).map((name) => [name, option] as const)));
  const known = Object.fromEntries(
    [...byName].map(([name, { type, short }]) => [name, { type: kindOf(type), ...(short && { short }) }]),
  );
  const { tokens } = parseArgs({
    args: [...args],
    options: known,
    strict: false,
    tokens: true,
    allowPositionals: true,
  });
  const values = new Map<string, OptionValue>();
  const positionals: string[] = [];
  for (const token of tokens) {
    if (token.kind === "positional") positionals.push(token.value);
    if (token.kind === "option") read(token, byName, values);
  }
  return { values, origins: new Map([...values.keys()].map((name) => [name, `--${name}`])), positionals };
}

interface OptionToken {
  readonly name: string;
  readonly rawName: string;
  readonly value: string | undefined;
  readonly inlineValue: boolean | undefined;
}

function read(token: OptionToken, byName: ReadonlyMap<string, CliOption>, values: Map<string, OptionValue>): void {
  const option = byName.get(token.name);
  if (option === undefined) throw unknownOption(token, [...byName.keys()]);
  if (option.type === "flag") {
    if (token.inlineValue) throw new UsageError(`${token.rawName} takes no value`);
    values.set(option.name, token.name === option.name);
    return;
  }
  // A value may begin with a dash only after an equals sign: `--stream --subject x` lacks one.
  if (token.value === undefined || (!token.inlineValue && /^--?[a-z]/.test(token.value))) {
    throw new UsageError(`${token.rawName} needs a value`);
  }
  const given = values.get(option.name);
  if (given !== undefined && option.type !== "strings") throw new UsageError(`${token.rawName} is given twice`);
  values.set(option.name, valueOf(option, token.value, token.rawName, given));
}

function valueOf({ type }: CliOption, text: string, origin: string, given?: OptionValue): OptionValue {
  if (type === "names") return columnsIn(text, origin);
  if (type === "strings") return [...(given as readonly string[] | undefined ?? []), text];
  return type === "count" ? countOf(text) : text;
}

function columnsIn(text: string, origin: string): readonly string[] {
  const columns = text.split(",");
  if (!columns.includes("")) return columns;
  throw new UsageError(`${origin} must be names of columns, separated by commas: received ${JSON.stringify(text)}`);
}

/**
 * Reads options that were not given from the environment. An empty variable counts as not set.
 *
 * @throws {UsageError} if the variable of a flag is neither `true` nor `false`
 */
export function withEnvironment(
  given: GivenOptions,
  options: readonly CliOption[],
  env: Readonly<Record<string, string | undefined>>,
): GivenOptions {
  const values = new Map(given.values);
  const origins = new Map(given.origins);
  for (const option of options) {
    const text = option.env === undefined ? undefined : env[option.env];
    if (!text || values.has(option.name)) continue;
    values.set(option.name, option.type === "flag" ? flagOf(option, text) : valueOf(option, text, option.env!));
    origins.set(option.name, option.env!);
  }
  return { values, origins, positionals: given.positionals };
}

/** Returns the name by which an option's value was given. */
export function originOf({ origins }: Pick<GivenOptions, "origins">, name: string): string {
  return origins.get(name) ?? `--${name}`;
}

function flagOf({ env }: CliOption, text: string): boolean {
  if (text === "true" || text === "1") return true;
  if (text === "false" || text === "0") return false;
  throw new UsageError(`${env} must be true or false (1 or 0): received ${JSON.stringify(text.slice(0, 40))}`);
}

function countOf(text: string): number | string {
  return /^\d{1,15}$/.test(text) ? Number(text) : text;
}

function namesOf({ name, type }: CliOption): string[] {
  return type === "flag" ? [name, `no-${name}`] : [name];
}

function kindOf(type: CliOption["type"]): "string" | "boolean" {
  return type === "flag" ? "boolean" : "string";
}

function unknownOption({ name, rawName }: OptionToken, known: readonly string[]): UsageError {
  const variable = SECRETS[name.toLowerCase()];
  if (variable !== undefined) {
    return new UsageError(
      `${rawName} is not accepted on the command line, where other users of this machine can read it. ` +
        `Set ${variable} or use --config.`,
    );
  }
  const shown = rawName.length > 40 ? `${rawName.slice(0, 40)}...` : rawName;
  if (!rawName.startsWith("--")) {
    return new UsageError(
      `unknown option ${shown}: --help lists the options; put a file that begins with a dash after --`,
    );
  }
  const meant = NATS_NAMES[name] ?? misspelt(name, [...known, ...Object.keys(SECRETS)]) ??
    known.find((option) => option.startsWith(name));
  const hint = meant === undefined ? "" : `did you mean ${SECRETS[meant] ?? `--${meant}`}? `;
  return new UsageError(`unknown option ${shown}: ${hint}--help lists the options`);
}
