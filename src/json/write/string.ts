/**
 * Writes UTF-8 bytes as a JSON string. Only what JSON requires is escaped: `"`, `\` and U+0000 to U+001F. Each
 * maximal ill-formed subsequence becomes one U+FFFD, so that the output is valid UTF-8 whatever the input is.
 *
 * @module
 */

import { flush, FULL, PIECE, scratch } from "../memory/scratch.ts";
import { cutBefore, sequenceSize } from "../../util/utf8.ts";

const { bytes, view } = scratch;

const QUOTE = 34;
const BACKSLASH = 92;

/** The letters of the short escapes `\b \t \n \f \r`, by code; otherwise 0. */
const SHORT = new Uint8Array(32);
SHORT.set([98, 116, 110], 8);
SHORT.set([102, 114], 12);

/** A source of bytes, with a view for loads of four. */
export interface Source {
  readonly bytes: Uint8Array;
  readonly words: DataView;
}

/** Makes the source of a buffer: its own bytes, not their neighbours in the same memory. */
export function sourceOf(buffer: Uint8Array): Source {
  return { bytes: buffer, words: new DataView(buffer.buffer, buffer.byteOffset, buffer.byteLength) };
}

/** Writes a string of any length, quoted. */
export function putString(position: number, source: Uint8Array, words: DataView, start: number, end: number): number {
  bytes[position] = QUOTE;
  const p = end - start <= PIECE
    ? putEscaped(position + 1, source, words, start, end)
    : putPieces(position + 1, source, words, start, end);
  bytes[p] = QUOTE;
  return p + 1;
}

function putPieces(position: number, source: Uint8Array, words: DataView, start: number, end: number): number {
  let p = position;
  let from = start;
  while (end - from > PIECE) {
    if (p > FULL) p = flush(p);
    const cut = cutBefore(source, from, from + PIECE);
    p = putEscaped(p, source, words, from, cut);
    from = cut;
  }
  if (p > FULL) p = flush(p);
  return putEscaped(p, source, words, from, end);
}

/**
 * Returns the highest bit of each byte that cannot be copied: control characters, `"`, `\`, and non-ASCII bytes. Only
 * the lowest bit set is certain: a subtraction may borrow from the byte above.
 */
function special(word: number): number {
  const quote = word ^ 0x22222222;
  const slash = word ^ 0x5c5c5c5c;
  return (word | (word - 0x20202020) | (quote - 0x01010101) | (slash - 0x01010101)) & 0x80808080;
}

/**
 * Copies bytes that need no escape; {@linkcode putCareful} takes over at the first other byte.
 */
function putEscaped(position: number, source: Uint8Array, words: DataView, start: number, end: number): number {
  if (end - start < 8) return putFew(position, source, words, start, end);
  let p = position;
  let at = start;
  const last = end - 8;
  while (at < last) {
    const first = words.getInt32(at, true);
    const second = words.getInt32(at + 4, true);
    if ((special(first) | special(second)) !== 0) return putCareful(p, source, words, at, end);
    view.setInt32(p, first, true);
    view.setInt32(p + 4, second, true);
    at += 8;
    p += 8;
  }
  // The last eight bytes overlap those already written.
  const first = words.getInt32(last, true);
  const second = words.getInt32(last + 4, true);
  if ((special(first) | special(second)) !== 0) return putCareful(p, source, words, at, end);
  const tail = p - (at - last);
  view.setInt32(tail, first, true);
  view.setInt32(tail + 4, second, true);
  return tail + 8;
}

/** The same for fewer than eight bytes. */
function putFew(position: number, source: Uint8Array, words: DataView, start: number, end: number): number {
  if (end - start >= 4) {
    const first = words.getInt32(start, true);
    const last = words.getInt32(end - 4, true);
    if ((special(first) | special(last)) === 0) {
      view.setInt32(position, first, true);
      view.setInt32(position + (end - start) - 4, last, true);
      return position + (end - start);
    }
  }
  return putTail(position, source, start, end);
}

function putCareful(position: number, source: Uint8Array, words: DataView, start: number, end: number): number {
  let p = position;
  let at = start;
  while (at + 4 <= end) {
    const word = words.getInt32(at, true);
    view.setInt32(p, word, true);
    const found = special(word);
    if (found === 0) {
      at += 4;
      p += 4;
      continue;
    }
    const plain = (31 - Math.clz32(found & -found)) >> 3;
    at += plain;
    p += plain;
    const byte = source[at]!;
    if (byte < 0x80) {
      p = putEscape(p, byte);
      at++;
      continue;
    }
    do {
      const size = sequenceSize(source, at, end);
      p = putSequence(p, source, at, size);
      at += size > 0 ? size : -size;
    } while (at < end && source[at]! >= 0x80);
  }
  return at < end ? putTail(p, source, at, end) : p;
}

function putTail(position: number, source: Uint8Array, start: number, end: number): number {
  let p = position;
  let at = start;
  while (at < end) {
    const byte = source[at]!;
    if (byte >= 0x80) {
      const size = sequenceSize(source, at, end);
      p = putSequence(p, source, at, size);
      at += size > 0 ? size : -size;
    } else {
      at++;
      if (byte >= 0x20 && byte !== QUOTE && byte !== BACKSLASH) bytes[p++] = byte;
      else p = putEscape(p, byte);
    }
  }
  return p;
}

function putEscape(position: number, byte: number): number {
  bytes[position] = BACKSLASH;
  if (byte >= 0x20) {
    bytes[position + 1] = byte;
    return position + 2;
  }
  const letter = SHORT[byte]!;
  if (letter !== 0) {
    bytes[position + 1] = letter;
    return position + 2;
  }
  view.setUint32(position + 1, 0x30303075, true);
  const low = byte & 15;
  bytes[position + 4] = 48 + (byte >> 4);
  bytes[position + 5] = low < 10 ? 48 + low : 87 + low;
  return position + 6;
}

function putSequence(position: number, source: Uint8Array, at: number, size: number): number {
  if (size < 0) {
    view.setUint32(position, 0xbdbfef, true);
    return position + 3;
  }
  bytes[position] = source[at]!;
  bytes[position + 1] = source[at + 1]!;
  if (size > 2) bytes[position + 2] = source[at + 2]!;
  if (size > 3) bytes[position + 3] = source[at + 3]!;
  return position + size;
}
