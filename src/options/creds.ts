/**
 * Reads the text of a `.creds` file: a user's JWT and the seed of the user's nkey.
 *
 * @module
 */

import { ConfigError } from "../errors/mod.ts";
import { secretString, seedFault } from "./secrets.ts";

/**
 * Returns the user's JWT and seed in the text of a `.creds` file, for `authMode` `"jwt"`. Reads what NATS clients read:
 * each value stands alone between two lines that begin and end with at least three dashes; the first is the JWT, the
 * second the seed. What the dashes enclose does not matter. Line ends may be LF or CRLF, and white space around lines
 * is ignored.
 *
 * The result holds secrets: do not print it.
 *
 * @param text the content of the file
 * @throws {ConfigError} if there is no JWT or no valid seed; the message has no part of the text
 * @example
 * ```ts
 * import { type ConnectionConfig, parseCreds } from "@jetrow/jetrow";
 * import { nkeys } from "@nats-io/nats-core";
 * import assert from "node:assert/strict";
 *
 * const seed = new TextDecoder().decode(nkeys.createUser().getSeed());
 * const text = `-----BEGIN NATS USER JWT-----
 * eyJ0eXAiOiJKV1QifQ.eyJuYW1lIjoibWUifQ.c2lnbmF0dXJl
 * ------END NATS USER JWT------
 *
 * -----BEGIN USER NKEY SEED-----
 * ${seed}
 * ------END USER NKEY SEED------
 * `;
 * const config: ConnectionConfig = { url: "tls://localhost", authMode: "jwt", ...parseCreds(text) };
 * assert.equal(config.nkeySeed, seed);
 * assert.throws(() => parseCreds("a.b.c"), { code: "config.syntax" });
 * ```
 */
export function parseCreds(text: string): { jwt: string; nkeySeed: string } {
  const [jwt, nkeySeed] = enclosedValues(secretString(text, { field: FIELD, spelling: "camel" }));
  if (jwt === undefined || !/^[\w-]+\.[\w-]+\.[\w-]+$/.test(jwt)) {
    throw broken("must have the user's JWT between its first two lines of dashes");
  }
  if (nkeySeed === undefined) throw broken("must have the user's seed between two lines of dashes after the JWT");
  const fault = seedFault(nkeySeed);
  if (fault !== undefined) throw broken(`must have a valid seed after the JWT: the seed ${fault}`);
  return { jwt, nkeySeed };
}

/**
 * Returns the seed in the text of a file for an nkey: the first line that begins as a seed does, as in a `.creds` file
 * or alone; undefined if there is none.
 */
export function seedIn(text: string): string | undefined {
  return linesOf(text).find((line) => /^S[AOU]/.test(line));
}

/** What errors call the text. */
const FIELD = "creds";

function broken(rule: string): ConfigError {
  return new ConfigError("config.syntax", { field: FIELD, rule });
}

/** Returns the lines that stand alone between two lines of dashes. */
function enclosedValues(text: string): readonly string[] {
  const lines = linesOf(text);
  const values: string[] = [];
  for (let i = 0; i + 2 < lines.length; i++) {
    if (!isDashed(lines[i]!) || isDashed(lines[i + 1]!) || !isDashed(lines[i + 2]!)) continue;
    values.push(lines[i + 1]!);
    // A line of dashes that ends a value does not begin the next one.
    i += 2;
  }
  return values;
}

function linesOf(text: string): readonly string[] {
  return text.replace(/^\ufeff/, "").split(/\r?\n/).map((line) => line.trim()).filter((line) => line !== "");
}

function isDashed(line: string): boolean {
  return line.startsWith("---") && line.endsWith("---");
}
