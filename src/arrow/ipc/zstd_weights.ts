/**
 * Checks the Huffman weights of a ZSTD block. The portable decoder decodes weights until all bits are used, and never
 * ends if damaged weights use none.
 *
 * Source: RFC 8878, sections 3.1.1.3.1.1, 4.1.1 and 4.2.1.
 *
 * @module
 */

import { damaged } from "./fault.ts";

/** The maximum accuracy of the table that codes the weights, and the maximum number of weights of a block. */
const LARGEST_ACCURACY = 6;
const MOST_WEIGHTS = 255;
/** The size of a literals header with compressed literals, by its size format. */
const HEADER_BYTES = [3, 3, 4, 5] as const;

/** Throws if the weights of a compressed block do not end. */
export function checkWeights(block: Uint8Array): void {
  const first = block[0] ?? 0;
  if ((first & 3) !== 2) return; // its literals have no Huffman tree of their own
  const at = HEADER_BYTES[(first >> 2 & 3) as 0 | 1 | 2 | 3];
  const size = block[at] ?? 0;
  if (size >= 128) return; // its weights are not compressed
  const weights = block.subarray(at + 1, at + 1 + size);
  const { table, end } = readTable(weights);
  const last = weights.at(-1) ?? 0;
  if (last === 0) damaged("the weights of a ZSTD block are cut");
  const isRead = countWeights(weights, table, 8 * end, 8 * size - 8 + (31 - Math.clz32(last)));
  if (!isRead) damaged("the weights of a ZSTD block do not end");
}

interface Table {
  readonly accuracy: number;
  /** For each state, the number of bits that it reads and the state to which they are added. */
  readonly bits: readonly number[];
  readonly next: readonly number[];
}

/** Decodes the weights with two states in turn, from bit `position` down to bit `end`. */
function countWeights(data: Uint8Array, { accuracy, bits, next }: Table, end: number, position: number): boolean {
  const bases = [0, 0];
  const widths = [accuracy, accuracy];
  for (let weight = 0; weight <= MOST_WEIGHTS + 2; weight++) {
    const which = weight & 1;
    position -= widths[which]!;
    if (position < end) return true;
    const state = bases[which]! + bitsAt(data, position, widths[which]!);
    bases[which] = next[state] ?? 0;
    widths[which] = bits[state] ?? 0;
  }
  return false;
}

function bitsAt(data: Uint8Array, position: number, count: number): number {
  const at = position >> 3;
  return ((data[at] ?? 0) | (data[at + 1] ?? 0) << 8 | (data[at + 2] ?? 0) << 16) >> (position & 7) &
    ((1 << count) - 1);
}

/** Reads the table of states, and its end. */
function readTable(data: Uint8Array): { readonly table: Table; readonly end: number } {
  const accuracy = (data[0]! & 15) + 5;
  if (!(accuracy <= LARGEST_ACCURACY)) damaged("the weights of a ZSTD block have a table that is too large");
  const { counts, end } = readCounts(data, accuracy);
  const size = 1 << accuracy;
  const symbols = new Array<number>(size).fill(0);
  let high = size;
  counts.forEach((count, symbol) => count === -1 && (symbols[--high] = symbol));
  let state = 0;
  counts.forEach((count, symbol) => {
    for (let i = 0; i < count; i++) {
      symbols[state] = symbol;
      do state = (state + (size >> 1) + (size >> 3) + 3) & (size - 1); while (state >= high);
    }
  });
  const seen = counts.map(Math.abs);
  const numbers = symbols.map((symbol) => seen[symbol]!++);
  const bits = numbers.map((number) => accuracy - (31 - Math.clz32(number)));
  return { table: { accuracy, bits, next: numbers.map((number, i) => (number << bits[i]!) - size) }, end };
}

/** Reads the number of states of each symbol: -1 for one at the end of the table. */
function readCounts(data: Uint8Array, accuracy: number): { readonly counts: readonly number[]; readonly end: number } {
  const counts: number[] = [];
  let position = 4;
  let left = 1 << accuracy;
  while (left > 0 && counts.length < 256) {
    const width = 31 - Math.clz32(left + 1);
    const small = (1 << width + 1) - 1 - left - 1;
    let value = bitsAt(data, position, width + 1);
    const low = value & ((1 << width) - 1);
    if (low < small) {
      value = low;
      position += width;
    } else {
      if (value >= 1 << width) value -= small;
      position += width + 1;
    }
    counts.push(value - 1);
    left -= Math.abs(value - 1);
    for (let repeats = 3; value === 1 && repeats === 3; position += 2) {
      repeats = bitsAt(data, position, 2);
      for (let i = 0; i < repeats; i++) counts.push(0);
    }
  }
  if (left !== 0) damaged("the weights of a ZSTD block have a broken table");
  return { counts, end: (position + 7) >> 3 };
}
