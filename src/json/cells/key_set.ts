/**
 * The set of keys of one map, which finds a repeated key. Keys are compared in the form in which they are written, with
 * U+FFFD in place of invalid UTF-8.
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

/** Differs in each process, so that keys that collide cannot be chosen in advance. */
const SEED = Math.floor(Math.random() * 4294967296) | 0;

/** From this many keys on they are hashed: a few are compared faster. */
const FEW = 8;

/**
 * Probes after which the runtime's own set takes over: with half of the places free, 64 in a row are taken only if
 * an attacker has found keys that collide.
 */
const MOST_PROBES = 64;

/** Makes an empty set. */
export function keySet(hash: (source: Uint8Array, start: number, end: number) => number = seededHash): KeySet {
  const sources: Uint8Array[] = [];
  const starts: number[] = [];
  const ends: number[] = [];
  let count = 0;
  let table = new Int32Array(0);
  let names: Set<string> | undefined;

  const equal = (key: number, source: Uint8Array, start: number, end: number): boolean => {
    const from = starts[key]!;
    if (ends[key]! - from !== end - start) return false;
    const other = sources[key]!;
    for (let n = end - start - 1; n >= 0; n--) if (other[from + n] !== source[start + n]) return false;
    return true;
  };
  /** Returns the index of a key in the table, or the free index for it; -1 after too many probes. */
  const indexOf = (source: Uint8Array, start: number, end: number): number => {
    const mask = table.length - 1;
    let index = hash(source, start, end) & mask;
    for (let probes = 0; probes < MOST_PROBES; probes++) {
      if (table[index] === 0 || equal(table[index]! - 1, source, start, end)) return index;
      index = (index + 1) & mask;
    }
    return -1;
  };
  const useNames = (): Set<string> => {
    names = new Set();
    for (let key = 0; key < count; key++) names.add(nameOf(sources[key]!, starts[key]!, ends[key]!));
    return names;
  };
  const rehash = (): void => {
    table = new Int32Array(count * 8);
    for (let key = 0; key < count; key++) {
      const index = indexOf(sources[key]!, starts[key]!, ends[key]!);
      if (index < 0) return void useNames();
      table[index] = key + 1;
    }
  };
  const has = (source: Uint8Array, start: number, end: number): boolean => {
    if (count >= FEW) {
      if (names === undefined && (count === FEW || count * 2 >= table.length)) rehash();
      const index = names === undefined ? indexOf(source, start, end) : -1;
      if (index >= 0) {
        if (table[index] !== 0) return true;
        table[index] = count + 1;
        return false;
      }
      const known = names ?? useNames();
      const name = nameOf(source, start, end);
      return known.size === known.add(name).size;
    }
    for (let key = 0; key < count; key++) if (equal(key, source, start, end)) return true;
    return false;
  };
  return {
    clear() {
      count = 0;
      names = undefined;
    },
    add(source, start, end) {
      if (!isValid(source, start, end)) {
        const text = encoder.encode(decoder.decode(source.slice(start, end)));
        return this.add(text, 0, text.length);
      }
      if (has(source, start, end)) return false;
      sources[count] = source;
      starts[count] = start;
      ends[count] = end;
      count++;
      return true;
    },
  };
}

function nameOf(source: Uint8Array, start: number, end: number): string {
  return decoder.decode(source.subarray(start, end));
}

/** FNV-1a from a random start. */
function seededHash(source: Uint8Array, start: number, end: number): number {
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
