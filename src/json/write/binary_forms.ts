/**
 * Writes bytes as base64url (RFC 4648 section 5) without padding, and as hex.
 *
 * @module
 */

import { flush, FULL, PIECE, scratch } from "../memory/scratch.ts";

const { bytes } = scratch;

const URL_ALPHABET = codesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_");
const HEX_DIGITS = codesOf("0123456789abcdef");
const QUOTE = 34;

/** The amount of input between two checks of the remaining room; a multiple of three. */
const STEP = PIECE - PIECE % 3;

function codesOf(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

/** Writes bytes as hex digits in lower case, quoted. */
export function putHex(position: number, source: Uint8Array, start: number, end: number): number {
  let p = position;
  bytes[p++] = QUOTE;
  for (let from = start; from < end; from += STEP) {
    if (p > FULL) p = flush(p);
    const last = Math.min(from + STEP, end);
    for (let at = from; at < last; at++) {
      const byte = source[at]!;
      bytes[p++] = HEX_DIGITS[byte >> 4]!;
      bytes[p++] = HEX_DIGITS[byte & 15]!;
    }
  }
  bytes[p] = QUOTE;
  return p + 1;
}

/** Writes bytes as base64url without padding, quoted. */
export function putBase64Url(position: number, source: Uint8Array, start: number, end: number): number {
  let p = position;
  bytes[p++] = QUOTE;
  for (let from = start; from < end; from += STEP) {
    if (p > FULL) p = flush(p);
    const last = Math.min(from + STEP, end);
    for (let at = from; at < last; at += 3) p = putTriple(p, source, at, last - at);
  }
  bytes[p] = QUOTE;
  return p + 1;
}

/** Writes up to three bytes, as one character more than their number. */
function putTriple(position: number, source: Uint8Array, at: number, left: number): number {
  const count = Math.min(left, 3);
  const triple = source[at]! << 16 | (count > 1 ? source[at + 1]! << 8 : 0) | (count > 2 ? source[at + 2]! : 0);
  for (let n = 0; n <= count; n++) bytes[position + n] = URL_ALPHABET[triple >> (18 - 6 * n) & 63]!;
  return position + count + 1;
}
