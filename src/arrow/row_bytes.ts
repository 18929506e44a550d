/**
 * How many bytes of Arrow buffers the rows of a column reference: fixed widths, offsets and variable bytes, without
 * dictionaries and validity bits. Counted column by column, so that it costs a few operations a value.
 *
 * Nothing is refused here: what points outside of its buffers counts as nothing, and is refused when it is encoded.
 *
 * @module
 */

import { lowerBound } from "../util/lower_bound.ts";
import { type ColumnView, isNull } from "./column.ts";
import type { FieldType } from "./field_type.ts";

/** Views hold text up to this size themselves. */
const INLINE = 12;

/** Items that one block of rows may reference to be weighed one by one: beyond, each counts as one offset. */
const MOST_ITEMS = 1 << 24;

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

/**
 * What a piece of a column's rows references beside its rows' own weights: the last offset, and the rest of the bits.
 */
export function pieceWeight(type: FieldType): number {
  switch (type.kind) {
    case "bool":
      return 7 / 8;
    case "text":
    case "binary":
      return type.layout === "views" ? 0 : offsetWidth(type);
    case "list":
      return pieceWeight(type.item) +
        (type.layout === "offsets" || type.layout === "large_offsets" ? offsetWidth(type) : 0);
    case "map":
      return offsetWidth(type) + pieceWeight(type.key) + pieceWeight(type.value);
    case "struct":
      return type.fields.reduce((sum, field) => sum + pieceWeight(field.type), 0);
    case "union":
      return type.members.reduce((sum, member) => sum + pieceWeight(member), 0);
    case "runs":
      return pieceWeight(type.value);
    default:
      return 0;
  }
}

/** The weight of every slot of a type, where it does not depend on the data. */
export function constantWeight(type: FieldType): number | undefined {
  switch (type.kind) {
    case "null":
      return 0;
    case "bool":
      return 1 / 8;
    case "int":
    case "float":
    case "decimal":
    case "date":
    case "time":
    case "dictionary":
      return type.bits / 8;
    case "timestamp":
    case "duration":
      return 8;
    case "interval":
      return 4 << type.unit;
    case "fixed_binary":
      return type.width;
    case "list":
      return type.layout === "fixed" ? times(type.size, constantWeight(type.item)) : undefined;
    case "struct":
      return sum(type.fields.map((field) => constantWeight(field.type)));
    case "union":
      return type.dense ? undefined : sum([1, ...type.members.map(constantWeight)]);
    default:
      return undefined;
  }
}

function times(count: number, weight: number | undefined): number | undefined {
  return weight === undefined ? undefined : count * weight;
}

function sum(weights: readonly (number | undefined)[]): number | undefined {
  return weights.reduce((all, weight) => all === undefined || weight === undefined ? undefined : all + weight, 0);
}

/** Bytes of one offset. */
function offsetWidth(type: FieldType): 4 | 8 {
  return "layout" in type && (type.layout === "large_offsets" || type.layout === "large_views") ? 8 : 4;
}

/** An offset or size; -1 where there is none, or one of 2^53 and more. */
function wordAt(words: Int32Array, width: 4 | 8, slot: number): number {
  if (width === 4) return words[slot] ?? -1;
  const high = words[2 * slot + 1] ?? -1;
  return high < 0 || high >= 1 << 21 ? -1 : high * 2 ** 32 + (words[2 * slot]! >>> 0);
}

/** The slots of a block that a column's own buffers hold. */
function held(column: ColumnView, first: number, weights: Float64Array): number {
  return Math.max(0, Math.min(weights.length, column.readable - first));
}

function addSpans(column: ColumnView, first: number, weights: Float64Array): void {
  const { offsets, bytes } = column;
  const width = offsetWidth(column.type);
  const count = held(column, first, weights);
  let start = count > 0 ? wordAt(offsets, width, first) : 0;
  for (let i = 0; i < count; i++) {
    const end = width === 4 ? offsets[first + i + 1]! : wordAt(offsets, width, first + i + 1);
    weights[i]! += width + (start >= 0 && end >= start && end <= bytes.length ? end - start : 0);
    start = end;
  }
}

function addViews(column: ColumnView, first: number, weights: Float64Array): void {
  const count = held(column, first, weights);
  for (let i = 0; i < count; i++) {
    const size = column.words[4 * (first + i)]!;
    weights[i]! += 16 + (size > INLINE && !isNull(column, first + i) ? size : 0);
  }
}

function addAll(columns: readonly ColumnView[], first: number, weights: Float64Array): void {
  for (const column of columns) addWeights(column, first, weights);
}

/** Slot `first + i` has the items from `starts[i]` on, `counts[i]` of them. */
interface ItemRanges {
  readonly starts: Float64Array;
  readonly counts: Float64Array;
}

function addLists(column: ColumnView, first: number, weights: Float64Array): void {
  const { type } = column;
  const fixed = type.kind === "list" && type.layout === "fixed";
  const views = type.kind === "list" && (type.layout === "views" || type.layout === "large_views");
  const width = offsetWidth(type);
  const starts = new Float64Array(weights.length);
  const counts = new Float64Array(weights.length);
  const count = held(column, first, weights);
  for (let i = 0; i < count; i++) {
    const slot = first + i;
    if (!fixed) weights[i]! += views ? 2 * width : width;
    starts[i] = fixed ? slot * type.size : wordAt(column.offsets, width, slot);
    counts[i] = fixed
      ? type.size
      : views
      ? wordAt(column.sizes, width, slot)
      : wordAt(column.offsets, width, slot + 1) - starts[i]!;
  }
  for (const child of column.children) addItems(child, { starts, counts }, weights);
}

/** Adds the weights of the items of a child that each slot has. */
function addItems(child: ColumnView, { starts, counts }: ItemRanges, weights: Float64Array): void {
  const slots = capacity(child);
  let least = Infinity;
  let most = 0;
  for (let i = 0; i < counts.length; i++) {
    if (starts[i]! < 0 || starts[i]! + counts[i]! > slots) counts[i] = 0;
    if (!(counts[i]! > 0)) continue;
    least = Math.min(least, starts[i]!);
    most = Math.max(most, starts[i]! + counts[i]!);
  }
  const constant = constantWeight(child.type) ?? (most - least > MOST_ITEMS ? 4 : undefined);
  if (constant !== undefined) {
    for (let i = 0; i < counts.length; i++) if (counts[i]! > 0) weights[i]! += counts[i]! * constant;
    return;
  }
  if (most <= least) return;
  const sums = runningSums(child, least, most);
  for (let i = 0; i < counts.length; i++) {
    if (counts[i]! > 0) weights[i]! += sums[starts[i]! - least + counts[i]!]! - sums[starts[i]! - least]!;
  }
}

/** The slots that a column has and that its buffers hold. */
function capacity(column: ColumnView): number {
  const own = Math.min(column.length, column.readable);
  if (column.type.kind === "struct") return Math.min(own, ...column.children.map(capacity));
  return own;
}

/** Entry `i` is the weight of the slots `[least, least + i)`. */
function runningSums(column: ColumnView, least: number, most: number): Float64Array {
  const sums = new Float64Array(most - least + 1);
  addWeights(column, least, sums.subarray(1));
  for (let i = 1; i < sums.length; i++) sums[i]! += sums[i - 1]!;
  return sums;
}

function addSparse(column: ColumnView, first: number, weights: Float64Array): void {
  for (let i = 0; i < weights.length; i++) weights[i]! += 1;
  addAll(column.children, first, weights);
}

function addDense(column: ColumnView, first: number, weights: Float64Array): void {
  const codes = column.type.kind === "union" ? column.type.codes : [];
  const count = held(column, first, weights);
  for (let i = 0; i < count; i++) weights[i]! += 1 + 4;
  column.children.forEach((child, member) => {
    const starts = new Float64Array(weights.length);
    const counts = new Float64Array(weights.length);
    for (let i = 0; i < count; i++) {
      if (column.codes[first + i] !== codes[member]) continue;
      starts[i] = column.offsets[first + i]!;
      counts[i] = 1;
    }
    addItems(child, { starts, counts }, weights);
  });
}

/** A run counts where it begins; a block's first slot counts the run that it is in. */
function addRuns(column: ColumnView, first: number, weights: Float64Array): void {
  const bits = column.type.kind === "runs" ? column.type.bits : 32;
  const count = bits === 64 ? column.words.length >> 1 : column.numbers.length;
  const endAt = (run: number): number => bits === 64 ? wordAt(column.words, 8, run) : column.numbers[run]!;
  const begin = column.bitOffset + first;
  const starts = new Float64Array(weights.length);
  const counts = new Float64Array(weights.length);
  let slot = 0;
  for (let run = lowerBound(0, count, endAt, begin + 1); run < count && slot < weights.length; run++) {
    weights[slot]! += bits / 8;
    starts[slot] = run;
    counts[slot] = 1;
    slot = Math.max(slot + 1, endAt(run) - begin);
  }
  addItems(column.children[0]!, { starts, counts }, weights);
}
