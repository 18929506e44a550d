/**
 * Hashes strings with a common prefix by SHA-256, in hex. The implementation is `@noble/hashes`, or the runtime's own if
 * an entry point has set a faster one.
 *
 * @module
 */

import { sha256 } from "@noble/hashes/sha2.js";

/** The SHA-256 of bytes as 64 lower-case hex digits. */
export type HexSha256 = (bytes: Uint8Array) => string;

/** Hashes strings that all begin with one prefix. */
export interface PrefixHash {
  /** The beginning of each string to hash: the end of the prefix, or all of it. */
  readonly rest: Uint8Array;
  /** Writes the hash of the prefix and a string that begins with `rest` as 64 hex digits into `target` from `at`. */
  write(text: Uint8Array, target: Uint8Array, at: number): void;
}

const BLOCK = 64;
const HIGH_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => "0123456789abcdef".charCodeAt(byte >>> 4));
const LOW_DIGIT = Uint8Array.from({ length: 256 }, (_, byte) => "0123456789abcdef".charCodeAt(byte & 15));

let own: HexSha256 | undefined;

/** Sets the runtime's own SHA-256 for all later hashes; undefined sets `@noble/hashes`. */
export function useOwnSha256(hash: HexSha256 | undefined): void {
  own = hash;
}

/**
 * Returns a hasher of strings with a prefix. The runtime's own SHA-256 hashes them whole; otherwise the state after the
 * prefix's whole blocks is kept, so that a string costs a block or two.
 */
export function hashAfter(prefix: Uint8Array): PrefixHash {
  if (own === undefined) return keptState(prefix);
  const hash = own;
  return { rest: prefix, write: (text, target, at) => writeDigits(hash(text), target, at) };
}

function keptState(prefix: Uint8Array): PrefixHash {
  const whole = prefix.length - (prefix.length % BLOCK);
  const kept = sha256.create().update(prefix.subarray(0, whole));
  const state = kept.clone();
  const digest = new Uint8Array(sha256.outputLen);
  return {
    rest: prefix.subarray(whole),
    write(text, target, at) {
      kept._cloneInto(state).update(text).digestInto(digest);
      writeHex(digest, target, at);
    },
  };
}

/** Writes bytes in lower-case hex. */
export function writeHex(bytes: Uint8Array, target: Uint8Array, at: number): void {
  for (let i = 0; i < bytes.length; i++, at += 2) {
    const byte = bytes[i]!;
    target[at] = HIGH_DIGIT[byte]!;
    target[at + 1] = LOW_DIGIT[byte]!;
  }
}

function writeDigits(digits: string, target: Uint8Array, at: number): void {
  for (let i = 0; i < digits.length; i++) target[at + i] = digits.charCodeAt(i);
}
