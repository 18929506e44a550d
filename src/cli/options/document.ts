/**
 * Builds the configuration document from the command line, the environment and a file.
 *
 * @module
 */

import { parseConfig } from "../../options/document.ts";
import { renderRule } from "../../errors/config.ts";
import { ConfigError } from "../../errors/mod.ts";
import { OPTION_KEYS } from "../../options/publisher.ts";
import type { SinkConfig } from "../../types/mod.ts";
import { UsageError } from "../errors.ts";
import type { CliIo } from "../io.ts";
import { credsIn } from "./creds_file.ts";
import { addLayer, addTo, type Document } from "./layers.ts";
import { addBodyColumns, addHeaders, addOperationValues } from "./mappings.ts";
import { natsLayers } from "./nats_layers.ts";
import { type CliOption, type GivenOptions, originOf } from "./parse.ts";
import { readObject, readText } from "./read_text.ts";

const KEYS: ReadonlySet<string> = new Set(OPTION_KEYS.snake);

/** Variables that hold credentials, and their keys. They have no options. */
export const SECRET_VARIABLES: readonly (readonly [variable: string, key: string])[] = [
  ["JETROW_PASSWORD", "password"],
  ["JETROW_TOKEN", "token"],
  ["JETROW_JWT", "jwt"],
  ["JETROW_NKEY_SEED", "nkey_seed"],
];

/** The mode that credentials imply if none is named. */
const MODES: readonly (readonly [key: string, mode: string])[] = [
  ["token", "token"],
  ["jwt", "jwt"],
  ["nkey_seed", "nkey"],
  ["username", "user_password"],
  ["password", "user_password"],
];

/**
 * Returns the configuration: the command line overrides variables, which override the document; what none of them gives
 * comes from a context of the `nats` command and from the variables of NATS.
 *
 * @throws {ConfigError} if an option is wrong; it is named as the caller wrote it
 * @throws {UsageError} if a file cannot be read or used
 */
export async function configOf(
  given: GivenOptions,
  options: readonly CliOption[],
  { env, signal }: Pick<CliIo, "env" | "signal">,
  byDefault: Readonly<Record<string, string>> = {},
): Promise<SinkConfig> {
  const path = given.values.get("config");
  const document: Document = typeof path === "string"
    ? await readDocument(path, originOf(given, "config"), options, signal)
    : {};
  const origins = new Map<string, string>();
  await addCredentialsFile(given, document, origins, signal);
  for (const [variable, key] of SECRET_VARIABLES) {
    if (!env[variable]) continue;
    document[key] = env[variable];
    origins.set(key, variable);
  }
  for (const { name, key } of options) {
    const value = given.values.get(name);
    if (key === undefined || value === undefined) continue;
    const [group, part] = key.split(".") as [string, string?];
    if (part === undefined) document[key] = value;
    else addTo(document, group, { [part]: value });
    origins.set(key, originOf(given, name));
  }
  addHeaders(given, document, origins);
  addOperationValues(given, document, origins);
  addBodyColumns(given, document, origins);
  await addTls(given, document, origins, signal);
  for (const layer of await natsLayers(given, { env, signal })) await addLayer(document, origins, layer);
  for (const [key, value] of Object.entries(byDefault)) if (document[key] === undefined) document[key] = value;
  // Only absent keys: a null in the file is refused like any other wrong value.
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

/** Parses the document; an error names the flag, the variable or the field of a context that the user wrote. */
function parseDocument(document: Document, origins: ReadonlyMap<string, string>, file: string | undefined): SinkConfig {
  try {
    return parseConfig(document);
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    const { code, field, received } = error;
    const rule = renderRule(error, (key) => originOfOption(origins, key, document));
    const name = origins.get(field) ?? (code === "config.missing" ? placeFor(field) : originOfParent(origins, field));
    if (code === "config.unknown" || (name ?? file) === undefined) throw error;
    if (name === undefined) throw new ConfigError(code, { field, rule: `${rule} (in ${file})`, received });
    const remedy = name === "--url" && code === "config.missing" ? ". Set --url, --context or NATS_URL." : "";
    throw new ConfigError(code, { field: name, rule: `${rule}${remedy}`, received });
  }
}

/** Returns the name of another option in a rule: as it was given, otherwise its flag. */
function originOfOption(origins: ReadonlyMap<string, string>, key: string, document: Document): string {
  const within = [...origins.keys()].find((origin) => origin === key || origin.startsWith(`${key}.`));
  if (within !== undefined) return origins.get(within)!;
  return document[key] === undefined ? placeFor(key) : key;
}

/** Returns what gave the list or mapping that a field is part of. */
function originOfParent(origins: ReadonlyMap<string, string>, field: string): string | undefined {
  return origins.get(/^(\w+)[.[]/.exec(field)?.[1] ?? "");
}

/** Returns where a missing value could be given. */
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
  const document = await readObject(path, origin, signal);
  refuseOptionsOfRun(`${origin} ${path}`, document, options);
  return document;
}

/** Options of the command itself are not options of a connection or destination: the nearest name would not help. */
function refuseOptionsOfRun(where: string, document: object, options: readonly CliOption[]): void {
  for (const { name, key, env } of options) {
    const spelt = name.replaceAll("-", "_");
    if (key !== undefined || env === undefined || !Object.hasOwn(document, spelt) || KEYS.has(spelt)) continue;
    throw new UsageError(
      `${where} has ${JSON.stringify(spelt)}, which is not a key of the document: use --${name} or ${env}`,
    );
  }
}

async function addCredentialsFile(
  given: GivenOptions,
  document: Document,
  origins: Map<string, string>,
  signal: AbortSignal,
): Promise<void> {
  const path = given.values.get("creds");
  if (typeof path !== "string") return;
  const origin = originOf(given, "creds");
  const file = `${origin} ${path}`;
  const creds = credsIn(await readText(path, origin, signal), file);
  Object.assign(document, creds);
  for (const key of Object.keys(creds)) origins.set(key, file);
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
