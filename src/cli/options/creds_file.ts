/**
 * Credentials in `.creds` files.
 *
 * @module
 */

import { ConfigError } from "../../errors/mod.ts";
import { parseCreds } from "../../options/creds.ts";
import type { LayerValue } from "./layers.ts";

/** Returns the credentials of a `.creds` file by their keys of the document; `field` is the name of the file in errors. */
export function credsIn(text: string, field: string): { readonly jwt: string; readonly nkey_seed: string } {
  try {
    const { jwt, nkeySeed } = parseCreds(text);
    return { jwt, nkey_seed: nkeySeed };
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new ConfigError(error.code, { field, rule: error.rule });
  }
}

/** Returns the settings that a `.creds` file gives. `read` is called once, when they are needed. */
export function credsSettings(origin: string, read: () => Promise<string>): readonly (readonly [string, LayerValue])[] {
  let creds: Promise<ReturnType<typeof credsIn>> | undefined;
  const once = () => creds ??= read().then((text) => credsIn(text, origin));
  return [
    ["jwt", { origin, read: async () => (await once()).jwt }],
    ["nkey_seed", { origin, read: async () => (await once()).nkey_seed }],
  ];
}
