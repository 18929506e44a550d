/**
 * Bytes as base64 (RFC 4648 section 4, padded) and as UUIDs.
 *
 * @module
 */

import { flush, FULL, scratch } from "../memory/scratch.ts";

const { bytes, view } = scratch;

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const QUOTE = 34;
const PAD = 61;

/** The two characters of 12 bits, the first in the lower byte. */
const PAIRS = Uint16Array.from(
  { length: 4096 },
  (_, n) => ALPHABET.charCodeAt(n >> 6) | ALPHABET.charCodeAt(n & 63) << 8,
);

/** The two hexadecimal digits of a byte, the first in the lower byte. */
const HEX = Uint16Array.from({ length: 256 }, (_, n) => {
  const text = n.toString(16).padStart(2, "0");
  return text.charCodeAt(0) | text.charCodeAt(1) << 8;
});

/** The amount of input that makes at most one part of output. */
const STEP = 24_576;

/** Writes bytes as base64, quoted. */
export function putBase64(position: number, source: Uint8Array, words: DataView, start: number, end: number): number {
  let p = position;
  bytes[p++] = QUOTE;
  let from = start;
  while (end - from > STEP) {
    if (p > FULL) p = flush(p);
    p = putTriples(p, source, words, from, from + STEP);
    from += STEP;
  }
  if (p > FULL) p = flush(p);
  const whole = end - (end - from) % 3;
  p = putTriples(p, source, words, from, whole);
  if (whole < end) p = putRest(p, source, whole, end);
  bytes[p] = QUOTE;
  return p + 1;
}

/** Whole triples: twelve bytes at a time, as three big-endian words. */
function putTriples(position: number, source: Uint8Array, words: DataView, start: number, end: number): number {
  let p = position;
  let at = start;
  for (; at + 12 <= end; at += 12, p += 16) {
    const a = words.getInt32(at);
    const b = words.getInt32(at + 4);
    const c = words.getInt32(at + 8);
    view.setInt32(p, PAIRS[a >>> 20]! | PAIRS[(a >>> 8) & 4095]! << 16, true);
    view.setInt32(p + 4, PAIRS[(a & 255) << 4 | b >>> 28]! | PAIRS[(b >>> 16) & 4095]! << 16, true);
    view.setInt32(p + 8, PAIRS[(b >>> 4) & 4095]! | PAIRS[(b & 15) << 8 | c >>> 24]! << 16, true);
    view.setInt32(p + 12, PAIRS[(c >>> 12) & 4095]! | PAIRS[c & 4095]! << 16, true);
  }
  for (; at < end; at += 3, p += 4) {
    const triple = source[at]! << 16 | source[at + 1]! << 8 | source[at + 2]!;
    view.setInt32(p, PAIRS[triple >> 12]! | PAIRS[triple & 4095]! << 16, true);
  }
  return p;
}

function putRest(position: number, source: Uint8Array, start: number, end: number): number {
  const two = end - start === 2;
  const triple = source[start]! << 16 | (two ? source[start + 1]! << 8 : 0);
  view.setUint32(position, PAIRS[triple >> 12]! | PAIRS[triple & 4095]! << 16, true);
  if (!two) bytes[position + 2] = PAD;
  bytes[position + 3] = PAD;
  return position + 4;
}

/** Writes sixteen bytes as a UUID, quoted. */
export function putUuid(position: number, source: Uint8Array, start: number): number {
  let p = position;
  bytes[p++] = QUOTE;
  for (let at = 0; at < 16; at++) {
    if (at === 4 || at === 6 || at === 8 || at === 10) bytes[p++] = 45;
    view.setUint16(p, HEX[source[start + at]!]!, true);
    p += 2;
  }
  bytes[p] = QUOTE;
  return p + 1;
}
