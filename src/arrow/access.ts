/**
 * Finds values that are not in the slot itself: behind a dictionary's index, in a run, in a union's member. Every index
 * is checked before it is followed.
 *
 * @module
 */

import { lazily } from "../util/lazily.ts";
import { lowerBound } from "../util/lower_bound.ts";
import { type ColumnView, isNull } from "./column.ts";
import { malformed } from "./fault.ts";

/** The value of the lowest bit of a 64-bit integer's high word. */
const HIGH = 4294967296;

/** Returns a 64-bit integer of two words; exact up to 2^53, beyond which no index or offset can be valid. */
export function wideAt(words: Int32Array, slot: number): number {
  const low = words[2 * slot]!;
  const high = words[2 * slot + 1]!;
  // Small ones stay integers: given a double, Bun compiles the arithmetic for doubles, which is ten times as slow.
  return high === 0 && low >= 0 ? low : high * HIGH + (low >>> 0);
}

/** Throws unless a slot that is not null can be read: the column's buffers may be shorter than its length. */
export function checkReadable(column: ColumnView, slot: number): void {
  if (slot >= column.length) malformed(`slot ${slot} is outside of its ${column.length}`);
  if (slot >= column.covered) malformed(`its validity bitmap ends before slot ${slot}`);
  if (slot >= column.readable && !isNull(column, slot)) malformed(`its buffers end before slot ${slot}`);
}

/** Whether {@linkcode checkReadable} can be skipped for slots below `needed`. */
export function allReadable(column: ColumnView, needed: number): boolean {
  return needed <= column.length && needed <= column.covered && needed <= column.readable;
}

/** A slot of a chunk of a dictionary. */
export interface Place {
  /** The chunk. */
  chunk: number;
  /** The slot in it. */
  slot: number;
}

/** The index of each chunk's first value in a dictionary, and the number of all values; computed once per dictionary. */
const chunkStarts = new WeakMap<readonly ColumnView[], readonly number[]>();

function startsOf(dictionary: readonly ColumnView[]): readonly number[] {
  const known = chunkStarts.get(dictionary);
  if (known !== undefined) return known;
  const made = [0];
  for (const chunk of dictionary) made.push(made[made.length - 1]! + chunk.length);
  chunkStarts.set(dictionary, made);
  return made;
}

/**
 * Returns a function that finds a dictionary column's value: it writes the number of its chunk and its slot in that
 * chunk to `place`. The slot must not be null.
 */
export function dictionaryPlace(column: ColumnView, place: Place): (slot: number) => void {
  const { numbers, words, dictionary } = column;
  const wide = column.type.kind === "dictionary" && column.type.bits === 64;
  const starts = startsOf(dictionary);
  const size = starts[dictionary.length]!;
  return (slot) => {
    const index = wide ? wideAt(words, slot) : numbers[slot]!;
    if (!(index >= 0 && index < size)) malformed(`dictionary index ${index} is outside of its ${size} values`);
    place.chunk = dictionary.length === 1 ? 0 : lowerBound(0, starts.length, (chunk) => starts[chunk]!, index + 1) - 1;
    place.slot = index - starts[place.chunk]!;
  };
}

/**
 * Returns a function that finds a slot's run. Run ends are checked when they are used: the run must end after the slot,
 * and the run before it must not.
 */
export function runFinder(column: ColumnView): (slot: number) => number {
  const { numbers, words, bitOffset } = column;
  const wide = column.type.kind === "runs" && column.type.bits === 64;
  const count = wide ? words.length >> 1 : numbers.length;
  const values = column.children[0]!.length;
  const endOf = (run: number): number => wide ? wideAt(words, run) : numbers[run]!;
  let run = 0;
  return (slot) => {
    const at = bitOffset + slot;
    if (!(run < count && at < endOf(run) && (run === 0 || at >= endOf(run - 1)))) {
      run = lowerBound(0, count, endOf, at + 1);
      if (run >= count) malformed(`its ${count} runs end before slot ${at}`);
      if (run > 0 && endOf(run - 1) > at) malformed(`its run ends do not ascend`);
    }
    if (run >= values) malformed(`run ${run} is outside of its ${values} values`);
    return run;
  };
}

/** The union's member for each type id from -128 to 127 (at index type id + 128); -1 for unused ids. */
export function memberTable(codes: readonly number[]): Int16Array {
  const table = new Int16Array(256).fill(-1);
  codes.forEach((code, member) => {
    if (code >= -128 && code < 128) table[code + 128] = member;
  });
  return table;
}

/** Tests a slot of a column. */
export type SlotTest = (slot: number) => boolean;

/**
 * Returns a function that tells whether a slot is written as null, looking through dictionaries, unions and runs. A slot
 * or an index out of range counts as a value: reading it then throws the fault. `also` returns a test of a column's
 * values, if any, for values that count as null too.
 */
export function nullTest(column: ColumnView, also?: (column: ColumnView) => SlotTest | undefined): SlotTest {
  const isNullIn = uncheckedNullTest(column, also);
  return (slot) => slot >= 0 && slot < column.length && isNullIn(slot);
}

/** Returns the same for slots that the column has. */
function uncheckedNullTest(column: ColumnView, also?: (column: ColumnView) => SlotTest | undefined): SlotTest {
  const own = (slot: number): boolean => slot < column.covered && isNull(column, slot);
  const { type, children, codes, offsets } = column;
  switch (type.kind) {
    case "dictionary": {
      const place: Place = { chunk: 0, slot: 0 };
      const find = dictionaryPlace(column, place);
      const valueOf = lazily((chunk) => nullTest(column.dictionary[chunk]!, also));
      return (slot) => {
        if (own(slot)) return true;
        find(slot);
        return valueOf(place.chunk)(place.slot);
      };
    }
    case "runs": {
      const find = runFinder(column);
      const values = nullTest(children[0]!, also);
      return (slot) => values(find(slot));
    }
    case "union": {
      const table = memberTable(type.codes);
      const members = children.map((child) => nullTest(child, also));
      return (slot) => members[table[codes[slot]! + 128]!]?.(type.dense ? offsets[slot]! : slot) ?? false;
    }
    default: {
      const more = also?.(column);
      return more === undefined ? own : (slot) => own(slot) || more(slot);
    }
  }
}
