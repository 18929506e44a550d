/**
 * Why a file cannot be read or written, in words.
 *
 * @module
 */

const WORDS: Readonly<Record<string, string>> = {
  ENOENT: "no such file",
  EISDIR: "it is a directory",
  EACCES: "permission denied",
  EPERM: "permission denied",
  ENOTDIR: "a part of its path is no folder",
  ENOSPC: "the disk is full",
};

/**
 * What the operating system has against it.
 *
 * @param error what reading or writing threw
 * @returns words for what happens often, else the system's code
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { readFile } from "node:fs/promises";
 *
 * assert.equal(await readFile("/no/such").catch(fileFault), "no such file");
 * assert.equal(fileFault({ code: "EMFILE" }), "EMFILE");
 * ```
 */
export function fileFault(error: unknown): string {
  const { code } = error as { readonly code?: string };
  return code === undefined ? String(error) : WORDS[code] ?? code;
}
