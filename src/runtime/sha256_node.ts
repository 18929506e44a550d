/**
 * The SHA-256 of Node and Bun for message ids: an id of 152 bytes takes 0.55 us on Node and 0.4 on Bun, with the hash
 * state kept by `@noble/hashes` 1.6 and 1.4. On Deno the call alone takes as long as noble's whole hash: there it is
 * not used.
 *
 * @module
 */

import * as crypto from "node:crypto";
import { useOwnSha256 } from "../hash/sha256.ts";

/** Has message ids hashed by `crypto.hash`, where there is one: Node has it from 20.12 on. */
export function useNodeSha256(): void {
  const hash: typeof crypto.hash | undefined = crypto.hash;
  if (hash !== undefined) useOwnSha256((bytes) => hash("sha256", bytes, "hex"));
}
