/**
 * The set of keys of one map, to find a repeated one. Keys are compared as they are written, after U+FFFD.
 *
 * @module
 */

import { sequenceSize } from "../../util/utf8.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/**
 * A set of keys that is cleared for each map and keeps its memory. Keys are not copied out of their buffers.
 */
export interface KeySet {
  /** Forgets all keys. */
  clear(): void;
  /** Adds a key. Returns false if the set has it already. */
  add(source: Uint8Array, start: number, end: number): boolean;
}

/** Not the same twice, so that nobody can choose keys that all fall on one place. */
const SEED = Math.floor(Math.random() * 4294967296) | 0;

/** From this many keys on they are hashed: a few are compared faster. */
const FEW = 8;

/** An empty set. */
export function keySet(): KeySet {
  const sources: Uint8Array[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let count = 0;
  let table = new Int32Array(0);

  const equal = (key: number, source: Uint8Array, start: number, end: number): boolean => {
    const from = starts[key]!;
    if (ends[key]! - from !== end - start) return false;
    const other = sources[key]!;
    for (let n = end - start - 1; n >= 0; n--) if (other[from + n] !== source[start + n]) return false;
    return true;
  };
  /** The table's place of a key: where it is, or where it would go. */
  const placeOf = (source: Uint8Array, start: number, end: number): number => {
    const mask = table.length - 1;
    let place = hash(source, start, end) & mask;
    while (table[place] !== 0 && !equal(table[place]! - 1, source, start, end)) place = (place + 1) & mask;
    return place;
  };
  const rehash = (): void => {
    table = new Int32Array(count * 8);
    for (let key = 0; key < count; key++) table[placeOf(sources[key]!, starts[key]!, ends[key]!)] = key + 1;
  };
  const isThere = (source: Uint8Array, start: number, end: number): boolean => {
    if (count >= FEW) {
      if (count === FEW || count * 2 >= table.length) rehash();
      const place = placeOf(source, start, end);
      if (table[place] !== 0) return true;
      table[place] = count + 1;
      return false;
    }
    for (let key = 0; key < count; key++) if (equal(key, source, start, end)) return true;
    return false;
  };
  return {
    clear() {
      count = 0;
    },
    add(source, start, end) {
      if (!isValid(source, start, end)) {
        const text = encoder.encode(decoder.decode(source.slice(start, end)));
        return this.add(text, 0, text.length);
      }
      if (isThere(source, start, end)) return false;
      sources[count] = source;
      starts[count] = start;
      ends[count] = end;
      count++;
      return true;
    },
  };
}

function hash(source: Uint8Array, start: number, end: number): number {
  let h = SEED;
  for (let at = start; at < end; at++) h = Math.imul(h ^ source[at]!, 0x01000193);
  return h ^ (h >>> 15);
}

function isValid(source: Uint8Array, start: number, end: number): boolean {
  let at = start;
  while (at < end) {
    if (source[at]! < 0x80) {
      at++;
      continue;
    }
    const size = sequenceSize(source, at, end);
    if (size < 0) return false;
    at += size;
  }
  return true;
}
