/**
 * The configuration document that a command line, the environment and a file make together.
 *
 * @module
 */

import { parseConfig } from "../../options/document.ts";
import { ConfigError } from "../../errors/mod.ts";
import { OPTION_KEYS } from "../../options/publisher.ts";
import type { SinkConfig } from "../../types/mod.ts";
import { bytesOf } from "../bytes.ts";
import { InputError } from "../input/error.ts";
import type { CliIo } from "../io.ts";
import { jsonFault } from "./json_position.ts";
import { type CliOption, type GivenOptions, originOf } from "./parse.ts";
import { UsageError } from "../errors.ts";

type Document = Record<string, unknown>;

const KEYS: ReadonlySet<string> = new Set(OPTION_KEYS.snake);

/** Variables that hold credentials, and their keys. They have no options. */
export const SECRET_VARIABLES: readonly (readonly [variable: string, key: string])[] = [
  ["JETROW_PASSWORD", "password"],
  ["JETROW_TOKEN", "token"],
  ["JETROW_JWT", "jwt"],
  ["JETROW_NKEY_SEED", "nkey_seed"],
];

/** Which credentials mean which mode, where none is named. */
const MODES: readonly (readonly [key: string, mode: string])[] = [
  ["token", "token"],
  ["jwt", "jwt"],
  ["nkey_seed", "nkey"],
  ["username", "user_password"],
  ["password", "user_password"],
];

/**
 * The configuration: the file's, over it the environment's, over it the command line's.
 *
 * @throws {ConfigError} when an option is wrong; it is named as the caller wrote it
 * @throws {UsageError} when a file cannot be read
 */
export async function configOf(
  given: GivenOptions,
  options: readonly CliOption[],
  { env, signal }: Pick<CliIo, "env" | "signal">,
  byDefault: Readonly<Record<string, string>> = {},
): Promise<SinkConfig> {
  const path = given.values.get("config");
  const document: Document = {
    ...byDefault,
    ...(typeof path === "string" ? await readDocument(path, originOf(given, "config"), options, signal) : {}),
  };
  const origins = new Map<string, string>();
  await addCredentialsFile(given, document, signal);
  for (const [variable, key] of SECRET_VARIABLES) {
    if (!env[variable]) continue;
    document[key] = env[variable];
    origins.set(key, variable);
  }
  for (const { name, key } of options) {
    const value = given.values.get(name);
    if (key === undefined || value === undefined) continue;
    document[key] = value;
    origins.set(key, originOf(given, name));
  }
  addHeaders(given, document, origins);
  await addTls(given, document, origins, signal);
  // Only what is not there: a null of the file's is refused like any other wrong value.
  if (document.auth_mode === undefined) {
    document.auth_mode = MODES.find(([key]) => document[key] !== undefined)?.[1] ?? "none";
  }
  if (document.name === undefined) document.name = "jetrow";
  return parseDocument(
    document,
    origins,
    typeof path === "string" ? `${originOf(given, "config")} ${path}` : undefined,
  );
}

/** Parses the document; an error names the flag or the variable that the user wrote. */
function parseDocument(document: Document, origins: ReadonlyMap<string, string>, file: string | undefined): SinkConfig {
  try {
    return parseConfig(document);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const name = error.code === "config.missing" ? placeFor(error.field) : origins.get(error.field);
    if (error.code === "config.unknown" || (name ?? file) === undefined) throw error;
    const { code, field, rule, received } = error;
    if (name !== undefined) throw new ConfigError(code, { field: name, rule, received });
    throw new ConfigError(code, { field, rule: `${rule} (in ${file})`, received });
  }
}

/** Where a value that is missing would be given. */
function placeFor(key: string): string {
  const [variable] = SECRET_VARIABLES.find(([, secret]) => secret === key) ?? [];
  return variable ?? `--${key.replaceAll(/[._]/g, "-")}`;
}

async function readDocument(
  path: string,
  origin: string,
  options: readonly CliOption[],
  signal: AbortSignal,
): Promise<Document> {
  const text = (await readText(path, origin, signal)).replace(/^\ufeff/, "");
  const fault = jsonFault(text);
  if (fault !== undefined) {
    throw new UsageError(`${origin} ${path} is not valid JSON: line ${fault.line}, column ${fault.column}`);
  }
  const document: unknown = JSON.parse(text);
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new UsageError(`${origin} ${path} must hold a JSON object`);
  }
  refuseOptionsOfRun(`${origin} ${path}`, document, options);
  return { ...document };
}

/** Options of the command itself are none of a connection or a destination: what is nearest to them would not help. */
function refuseOptionsOfRun(where: string, document: object, options: readonly CliOption[]): void {
  for (const { name, key, env } of options) {
    const spelt = name.replaceAll("-", "_");
    if (key !== undefined || env === undefined || !Object.hasOwn(document, spelt) || KEYS.has(spelt)) continue;
    throw new UsageError(
      `${where} has ${JSON.stringify(spelt)}, which is not a key of the document: use --${name} or ${env}`,
    );
  }
}

/** The form of .creds files: each value between a line that begins it and one that ends it. */
async function addCredentialsFile(given: GivenOptions, document: Document, signal: AbortSignal): Promise<void> {
  const path = given.values.get("creds");
  if (typeof path !== "string") return;
  const origin = originOf(given, "creds");
  const text = await readText(path, origin, signal);
  const between = (kind: string) => new RegExp(`-{3,}\\s*BEGIN ${kind}\\s*-{3,}\\s+(\\S+)\\s+-{3,}`).exec(text)?.[1];
  const jwt = between("NATS USER JWT");
  const seed = between("USER NKEY SEED");
  if (jwt === undefined || seed === undefined) throw new UsageError(`${origin} ${path} has no user JWT and seed`);
  Object.assign(document, { jwt, nkey_seed: seed });
}

function addHeaders(given: GivenOptions, document: Document, keys: Map<string, string>): void {
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

/** Adds to what the file has of the same kind; false where it has something else, which is left to be refused. */
function addTo(document: Document, key: string, added: Document): boolean {
  const there = document[key] === undefined ? {} : document[key];
  if (typeof there !== "object" || there === null || Array.isArray(there)) return false;
  document[key] = { ...there, ...added };
  return true;
}

async function addTls(
  given: GivenOptions,
  document: Document,
  keys: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const tls: Document = {};
  for (const part of ["ca", "cert", "key"] as const) {
    const path = given.values.get(`tls-${part}`);
    if (typeof path !== "string") continue;
    const origin = originOf(given, `tls-${part}`);
    tls[part] = await readText(path, origin, signal);
    keys.set(`tls.${part}`, origin);
  }
  const first = given.values.get("tls-handshake-first");
  if (first !== undefined) tls.handshake_first = first;
  if (Object.keys(tls).length > 0) addTo(document, "tls", tls);
}

/** Reads a file, which may be a named pipe, as the shell makes of `<(...)`. */
async function readText(path: string, option: string, signal: AbortSignal): Promise<string> {
  const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
  let text = "";
  try {
    for await (const chunk of bytesOf(path, { stdin: NO_BYTES, signal })) {
      text += decoder.decode(chunk, { stream: true });
    }
  } catch (error) {
    throw error instanceof InputError ? new UsageError(`${option} ${error.message}`) : error;
  }
  return text + decoder.decode();
}

/** Standard input is not read here: `-` is a file's name. */
const NO_BYTES: AsyncIterable<Uint8Array> = (async function* () {})();
