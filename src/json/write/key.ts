/**
 * The bytes before a value: `{"id":` or `,"name":`. Made once per column.
 *
 * @module
 */

import { PIECE, putBytes, scratch } from "../memory/scratch.ts";

const { bytes, view } = scratch;
const encoder = new TextEncoder();

/** A key's bytes, also as words of eight that are stored whole. */
export interface Key {
  readonly length: number;
  readonly bytes: Uint8Array;
  /** Three words: valid UTF-8 and zeros, so that no word is a NaN, whose bits an engine may change. */
  readonly words: Float64Array;
}

/** No key: for list items. */
export const NO_KEY: Key = makeKey("");

/** Makes a key of a string that is JSON already, such as `,"name":`. */
export function makeKey(json: string): Key {
  const text = encoder.encode(json);
  const padded = new Uint8Array(24);
  padded.set(text.subarray(0, 24));
  return { length: text.length, bytes: text, words: new Float64Array(padded.buffer) };
}

/** Cached keys: batches of one stream have the same names, and making a key costs half a microsecond. */
const made = new Map<string, Key>();

/** Limits of the cache: keys, and characters of a name. */
const MOST_KEPT = 4096;
const LONGEST_KEPT = 64;

/** The keys of objects by the array of their names: an object may have more keys than the cache keeps. */
const madeOf = new WeakMap<object, readonly Key[]>();
const namesOf = new WeakMap<object, readonly Key[]>();

/** Returns the keys of an object's members, made once per array: the pieces of a batch share the array. */
export function memberKeys<T extends object | string>(
  members: readonly T[],
  nameOf: (member: T) => string,
): readonly Key[] {
  let keys = madeOf.get(members);
  if (keys === undefined) {
    keys = members.map((member, at) => nameKey(at === 0 ? "{" : ",", nameOf(member)));
    madeOf.set(members, keys);
  }
  return keys;
}

/** Returns the same keys without what separates members: `"id":`. */
export function bareKeys<T extends object | string>(
  members: readonly T[],
  nameOf: (member: T) => string,
): readonly Key[] {
  let keys = namesOf.get(members);
  if (keys === undefined) {
    keys = members.map((member) => nameKey("", nameOf(member)));
    namesOf.set(members, keys);
  }
  return keys;
}

/** Makes the key of a column. `JSON.stringify` escapes what JSON requires, and lone surrogates. */
function nameKey(before: string, name: string): Key {
  if (name.length > LONGEST_KEPT) return makeKey(`${before}${JSON.stringify(name)}:`);
  const known = made.get(before + name);
  if (known !== undefined) return known;
  if (made.size >= MOST_KEPT) made.clear();
  const key = makeKey(`${before}${JSON.stringify(name)}:`);
  made.set(before + name, key);
  return key;
}

/** Writes a key. */
export function putKey(position: number, key: Key): number {
  const { length, words } = key;
  view.setFloat64(position, words[0]!, true);
  if (length > 8) {
    view.setFloat64(position + 8, words[1]!, true);
    if (length > 16) {
      view.setFloat64(position + 16, words[2]!, true);
      if (length > 24) return putLongKey(position, key);
    }
  }
  return position + length;
}

function putLongKey(position: number, key: Key): number {
  if (key.length > PIECE) return putBytes(position, key.bytes, 0, key.length);
  bytes.set(key.bytes, position);
  return position + key.length;
}

/** Writes a key and `null`. */
export function putNull(position: number, key: Key): number {
  const p = putKey(position, key);
  view.setUint32(p, 0x6c6c756e, true);
  return p + 4;
}
