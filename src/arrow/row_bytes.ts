/**
 * Computes how many bytes of Arrow buffers the rows of a column reference: fixed widths, offsets and variable bytes,
 * without dictionaries and validity bits. Works column by column, so that a value costs a few operations.
 *
 * Throws nothing: references outside of a buffer count as nothing, and are refused when they are encoded.
 *
 * @module
 */

import { lowerBound } from "../util/lower_bound.ts";
import { memberTable } from "./access.ts";
import { type ColumnView, isNull } from "./column.ts";
import { constantWeight, offsetWidth } from "./type_bytes.ts";

/** Views contain strings of up to this size. */
const INLINE = 12;

/** How many items are weighed at once, however many a block of rows references. */
const ITEMS = 1024;

/** Adds to `weights[i]` the bytes that slot `first + i` of a column references. */
export function addWeights(column: ColumnView, first: number, weights: Float64Array): void {
  const constant = constantWeight(column.type);
  if (constant !== undefined) {
    if (constant > 0) { for (let i = 0; i < weights.length; i++) weights[i]! += constant; }
    return;
  }
  const { type } = column;
  switch (type.kind) {
    case "text":
    case "binary":
      return type.layout === "views" ? addViews(column, first, weights) : addSpans(column, first, weights);
    case "list":
    case "map":
      return addLists(column, first, weights);
    case "struct":
      return addAll(column.children, first, weights);
    case "union":
      return type.dense ? addDense(column, first, weights) : addSparse(column, first, weights);
    case "runs":
      return addRuns(column, first, weights);
  }
}

/** Returns an offset or size; -1 if it is missing, or 2^53 or more. */
function wordAt(words: Int32Array, width: 4 | 8, slot: number): number {
  if (width === 4) return words[slot] ?? -1;
  const high = words[2 * slot + 1] ?? -1;
  return high < 0 || high >= 1 << 21 ? -1 : high * 2 ** 32 + (words[2 * slot]! >>> 0);
}

/** Returns how many slots of a block the column's own buffers hold. */
function countHeldSlots(column: ColumnView, first: number, weights: Float64Array): number {
  return Math.max(0, Math.min(weights.length, column.readable - first));
}

function addSpans(column: ColumnView, first: number, weights: Float64Array): void {
  const { offsets, bytes } = column;
  const width = offsetWidth(column.type);
  const count = countHeldSlots(column, first, weights);
  let start = count > 0 ? wordAt(offsets, width, first) : 0;
  for (let i = 0; i < count; i++) {
    const end = width === 4 ? offsets[first + i + 1]! : wordAt(offsets, width, first + i + 1);
    weights[i]! += width + (start >= 0 && end >= start && end <= bytes.length ? end - start : 0);
    start = end;
  }
}

function addViews(column: ColumnView, first: number, weights: Float64Array): void {
  const count = countHeldSlots(column, first, weights);
  for (let i = 0; i < count; i++) {
    const size = column.words[4 * (first + i)]!;
    weights[i]! += 16 + (size > INLINE && !isNull(column, first + i) ? size : 0);
  }
}

function addAll(columns: readonly ColumnView[], first: number, weights: Float64Array): void {
  for (const column of columns) addWeights(column, first, weights);
}

/** The items of rows: row `rows[i]` of the block has the items `[starts[i], ends[i])`. */
class ItemRanges {
  readonly rows: Int32Array;
  readonly starts: Float64Array;
  readonly ends: Float64Array;
  count = 0;

  /** Allocates one range per row. */
  constructor(rows: number) {
    this.rows = new Int32Array(rows);
    this.starts = new Float64Array(rows);
    this.ends = new Float64Array(rows);
  }

  /** Adds the items of a row. Skips a row without items. */
  add(row: number, start: number, count: number): void {
    if (!(start >= 0 && count > 0)) return;
    this.rows[this.count] = row;
    this.starts[this.count] = start;
    this.ends[this.count++] = start + count;
  }

  /** Returns the ranges within a number of slots. */
  within(slots: number): ItemRanges {
    if (this.ends.every((end) => end <= slots)) return this;
    const ranges = new ItemRanges(this.count);
    for (let i = 0; i < this.count; i++) {
      if (this.ends[i]! <= slots) ranges.add(this.rows[i]!, this.starts[i]!, this.ends[i]! - this.starts[i]!);
    }
    return ranges;
  }
}

function addLists(column: ColumnView, first: number, weights: Float64Array): void {
  const { type } = column;
  const fixed = type.kind === "list" && type.layout === "fixed";
  const views = type.kind === "list" && (type.layout === "views" || type.layout === "large_views");
  const width = offsetWidth(type);
  const ranges = new ItemRanges(weights.length);
  const count = countHeldSlots(column, first, weights);
  for (let i = 0; i < count; i++) {
    const slot = first + i;
    if (fixed) {
      ranges.add(i, slot * type.size, type.size);
      continue;
    }
    weights[i]! += views ? 2 * width : width;
    const start = wordAt(column.offsets, width, slot);
    // A null's view is not read: nulls may all point to the same million items.
    if (views) ranges.add(i, start, isNull(column, slot) ? 0 : wordAt(column.sizes, width, slot));
    else ranges.add(i, start, wordAt(column.offsets, width, slot + 1) - start);
  }
  for (const child of column.children) addItems(child, ranges, weights);
}

/** Adds the weights of each row's items in a child. */
function addItems(child: ColumnView, ranges: ItemRanges, weights: Float64Array): void {
  const { rows, starts, ends, count } = ranges.within(capacity(child));
  const constant = constantWeight(child.type);
  if (constant !== undefined) {
    for (let i = 0; i < count; i++) weights[rows[i]!]! += (ends[i]! - starts[i]!) * constant;
    return;
  }
  const from = ascending(starts.subarray(0, count));
  const to = ascending(ends.subarray(0, count));
  const sums = sumsBefore(child, from, to);
  for (let i = 0; i < count; i++) {
    weights[rows[i]!]! += sums.to[indexOf(to, ends[i]!, i)]! - sums.from[indexOf(from, starts[i]!, i)]!;
  }
}

/** Returns how many slots a column has and its buffers hold. */
function capacity(column: ColumnView): number {
  const own = Math.min(column.length, column.readable);
  if (column.type.kind === "struct") return Math.min(own, ...column.children.map(capacity));
  return own;
}

function ascending(numbers: Float64Array): Float64Array {
  for (let i = 1; i < numbers.length; i++) if (numbers[i]! < numbers[i - 1]!) return numbers.slice().sort();
  return numbers;
}

/** Returns the index of a number among ascending ones; `guess` is right if the ranges ascend. */
function indexOf(numbers: Float64Array, wanted: number, guess: number): number {
  return numbers[guess] === wanted ? guess : lowerBound(0, numbers.length, (index) => numbers[index]!, wanted);
}

/**
 * Returns the weights of all items before each start and before each end of ranges, both ascending. Items between ranges
 * are not read and weigh nothing, and items of several ranges are read once: the work is at most that of encoding them.
 */
function sumsBefore(
  column: ColumnView,
  from: Float64Array,
  to: Float64Array,
): { from: Float64Array; to: Float64Array } {
  const sums = { from: new Float64Array(from.length), to: new Float64Array(to.length) };
  const block = new Float64Array(ITEMS);
  let sum = 0;
  let begun = 0;
  let ended = 0;
  while (begun < from.length) {
    // If the next range begins after the last end, every earlier range has ended: nothing is in between.
    let last = begun;
    while (last + 1 < from.length && from[last + 1]! <= to[last]!) last++;
    const end = to[last]!;
    for (let at = from[begun]!; at < end; at += ITEMS) {
      const items = block.subarray(0, Math.min(ITEMS, end - at)).fill(0);
      addWeights(column, at, items);
      for (let i = 0; i < items.length;) {
        while (from[begun] === at + i) sums.from[begun++] = sum;
        while (to[ended] === at + i) sums.to[ended++] = sum;
        const next = Math.min(items.length, (from[begun] ?? end) - at, to[ended]! - at);
        for (; i < next; i++) sum += items[i]!;
      }
    }
    while (to[ended] === end) sums.to[ended++] = sum;
  }
  return sums;
}

function addSparse(column: ColumnView, first: number, weights: Float64Array): void {
  for (let i = 0; i < weights.length; i++) weights[i]! += 1;
  addAll(column.children, first, weights);
}

function addDense(column: ColumnView, first: number, weights: Float64Array): void {
  const table = memberTable(column.type.kind === "union" ? column.type.codes : []);
  const ranges: ItemRanges[] = [];
  const count = countHeldSlots(column, first, weights);
  for (let i = 0; i < count; i++) {
    weights[i]! += 1 + 4;
    const member = table[column.codes[first + i]! + 128]!;
    if (member >= 0) (ranges[member] ??= new ItemRanges(count)).add(i, column.offsets[first + i]!, 1);
  }
  ranges.forEach((items, member) => addItems(column.children[member]!, items, weights));
}

/** A run counts at its first row; a block's first slot counts the run that contains it. */
function addRuns(column: ColumnView, first: number, weights: Float64Array): void {
  const bits = column.type.kind === "runs" ? column.type.bits : 32;
  const count = bits === 64 ? column.words.length >> 1 : column.numbers.length;
  const endAt = (run: number): number => bits === 64 ? wordAt(column.words, 8, run) : column.numbers[run]!;
  const begin = column.bitOffset + first;
  const ranges = new ItemRanges(weights.length);
  let slot = 0;
  for (let run = lowerBound(0, count, endAt, begin + 1); run < count && slot < weights.length; run++) {
    weights[slot]! += bits / 8;
    ranges.add(slot, run, 1);
    slot = Math.max(slot + 1, endAt(run) - begin);
  }
  addItems(column.children[0]!, ranges, weights);
}
