/**
 * Adds connection settings to the document if no earlier source has set them.
 *
 * @module
 */

/** The configuration document while it is being built. */
export type Document = Record<string, unknown>;

/** A setting that is read only if it is used. */
export interface LayerValue {
  /** Its name in errors. */
  readonly origin: string;
  /** Returns the value. */
  readonly read: () => unknown;
}

/** Settings by their key of the document; a part of `tls` as `tls.ca`. */
export type Layer = ReadonlyMap<string, LayerValue>;

/** Keys of credentials. */
const CREDENTIALS: readonly string[] = ["username", "password", "jwt", "nkey_seed", "token"];

/** Adds the settings of a layer that the document does not have, and records their names for errors. */
export async function addLayer(document: Document, origins: Map<string, string>, layer: Layer): Promise<void> {
  const wantsCredential = credentialsWanted(document);
  for (const [key, { origin, read }] of layer) {
    if (CREDENTIALS.includes(key) ? !wantsCredential(key) : !isAbsent(document, key)) continue;
    const [group, part] = key.split(".") as [string, string?];
    if (part === undefined) document[key] = await read();
    else if (addTo(document, group, { [part]: await read() }) && !origins.has(group)) origins.set(group, origin);
    origins.set(key, origin);
  }
}

/**
 * Credentials belong together: if the document has any, those of the layer are omitted. Only a password, which may come
 * from a variable, is completed by the layer's user name.
 */
function credentialsWanted(document: Document): (key: string) => boolean {
  const given = CREDENTIALS.filter((key) => document[key] !== undefined);
  if (document.auth_mode === "none") return () => false;
  if (given.length === 0) return () => true;
  return (key) => key === "username" && given.join() === "password";
}

function isAbsent(document: Document, key: string): boolean {
  const [group, part] = key.split(".") as [string, string?];
  const value = document[group];
  if (part === undefined || typeof value !== "object" || value === null) return value === undefined;
  return !Object.hasOwn(value, part);
}

/** Adds to an object of the document. Returns false if the document has another value there, which is refused later. */
export function addTo(document: Document, key: string, added: Document): boolean {
  const present = document[key] === undefined ? {} : document[key];
  if (typeof present !== "object" || present === null || Array.isArray(present)) return false;
  document[key] = { ...present, ...added };
  return true;
}
