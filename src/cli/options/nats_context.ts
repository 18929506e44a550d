/**
 * Reads a context of the `nats` command: a JSON file with the settings of a connection.
 *
 * @module
 */

import { seedIn } from "../../options/creds.ts";
import { describe } from "../../util/describe.ts";
import { UsageError } from "../errors.ts";
import { findContext } from "./context_file.ts";
import { credsSettings } from "./creds_file.ts";
import type { Layer, LayerValue } from "./layers.ts";
import { contentOf, pathOf, type Reference, secretOf, serversOf, type Surroundings } from "./nats_values.ts";
import { readObject, readText } from "./read_text.ts";

/** Returns the value of a setting for a field. */
type Read = (reference: Reference, around: Surroundings) => unknown;

const asWritten: Read = ({ value }) => value;

const pem: Read = (reference, around) => readText(pathOf(reference, around), `${reference.origin}:`, around.signal);

/** The file of an nkey has the seed on its own line, alone or as in a `.creds` file. */
const seed: Read = async (reference, around) => {
  const found = seedIn(await contentOf(reference, around));
  if (found !== undefined) return found;
  throw new UsageError(`${reference.origin} must name a file with a user's seed: a line that begins with SU`);
};

/** The fields with one string that becomes one setting: its key of the document, and how it is read. */
const FIELDS: ReadonlyMap<string, readonly [key: string, read: Read]> = new Map([
  ["url", ["url", ({ value }) => serversOf(value)]],
  ["user", ["username", asWritten]],
  ["password", ["password", secretOf]],
  ["token", ["token", secretOf]],
  ["nkey", ["nkey_seed", seed]],
  ["user_jwt", ["jwt", secretOf]],
  ["user_seed", ["nkey_seed", secretOf]],
  ["ca", ["tls.ca", pem]],
  ["cert", ["tls.cert", pem]],
  ["key", ["tls.key", pem]],
  ["inbox_prefix", ["inbox_prefix", asWritten]],
  ["jetstream_domain", ["domain", asWritten]],
]);

/** Fields that do not concern a connection. */
const IGNORED: ReadonlySet<string> = new Set(["name", "description", "color_scheme"]);

/** Fields that change a connection in ways that jetrow does not support, and the reason or what to do instead. */
const UNSUPPORTED: ReadonlyMap<string, string> = new Map([
  ["socks_proxy", "it connects without a proxy"],
  ["nsc", "it does not run nsc. Set creds to the user's .creds file"],
  ["jetstream_api_prefix", "it finds JetStream by its domain. Set jetstream_domain"],
  ["jetstream_event_prefix", "it reads no events"],
  ...["windows_cert_store", "windows_cert_match_by", "windows_cert_match", "windows_ca_certs_match"]
    .map((field) => [field, "it reads PEM files. Set ca, cert and key"] as const),
]);

/** The fields that belong to each way to authenticate. */
const AUTHENTICATIONS: readonly (readonly string[])[] = [
  ["user", "password"],
  ["token"],
  ["creds"],
  ["nkey"],
  ["user_jwt", "user_seed"],
];

/** Fields that have no effect without another one. */
const PAIRS = [["password", "user"], ["user_jwt", "user_seed"], ["user_seed", "user_jwt"]] as const;

/**
 * Returns the settings of a context. Files and variables that it refers to are read when they are needed.
 *
 * @throws {UsageError} if the context does not exist or has a field that jetrow cannot follow; never shows its value
 */
export async function contextLayer(name: string, origin: string, around: Surroundings): Promise<Layer> {
  const path = await findContext(name, origin, around);
  const label = path === name ? origin : `${origin} ${name}:`;
  const fields = usedFields(await readObject(path, label, around.signal));
  checkFields(fields, label, path);
  return new Map([...fields].flatMap(([field, value]) => settingsOf(field, value, `${field} of ${path}`, around)));
}

/** Returns the fields that are not empty: `nats` writes unused fields as empty ones. */
function usedFields(context: object): ReadonlyMap<string, unknown> {
  const isUsed = (value: unknown) =>
    value !== null && value !== "" && value !== false && !(Array.isArray(value) && value.length === 0);
  return new Map(Object.entries(context).filter(([field, value]) => isUsed(value) && !IGNORED.has(field)));
}

function checkFields(fields: ReadonlyMap<string, unknown>, label: string, path: string): void {
  for (const [field, value] of fields) {
    if (field === "creds" || FIELDS.has(field)) checkType(value, "string", `${label} ${field} of ${path}`);
    else if (field === "tls_first") checkType(value, "boolean", `${label} ${field} of ${path}`);
    else throw unusable(field, `${label} ${path}`);
  }
  const used = AUTHENTICATIONS.flatMap((names) => names.find((name) => fields.has(name)) ?? []);
  if (used.length > 1) {
    throw new UsageError(
      `${label} ${path} has ${used.join(" and ")}: a connection has one authentication. Remove all but one.`,
    );
  }
  for (const [field, other] of PAIRS) {
    if (fields.has(field) && !fields.has(other)) {
      throw new UsageError(`${label} ${path} has ${field} without ${other}. Set both.`);
    }
  }
}

/** Does not show the value, which may be a secret. */
function checkType(value: unknown, type: "string" | "boolean", called: string): void {
  const kind = typeof value;
  if (kind === type) return;
  throw new UsageError(`${called} must be a ${type}: received ${kind === "object" ? describe(value) : `a ${kind}`}`);
}

function unusable(field: string, file: string): UsageError {
  const reason = UNSUPPORTED.get(field);
  if (reason !== undefined) {
    return new UsageError(`${file} has ${field}, which jetrow does not support: ${reason}.`);
  }
  return new UsageError(`${file} has ${JSON.stringify(field.slice(0, 40))}, which jetrow does not know`);
}

function settingsOf(
  field: string,
  value: unknown,
  origin: string,
  around: Surroundings,
): readonly (readonly [string, LayerValue])[] {
  if (field === "tls_first") return [["tls.handshake_first", { origin, read: () => true }]];
  const reference = { value: value as string, origin };
  if (field === "creds") return credsSettings(origin, () => contentOf(reference, around));
  const [key, read] = FIELDS.get(field)!;
  return [[key, { origin, read: () => read(reference, around) }]];
}
