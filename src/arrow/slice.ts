/**
 * Cuts rows into pieces without copying: each piece is a window of its source.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError } from "../errors/mod.ts";
import { lowerBound } from "../util/lower_bound.ts";
import type { ArrowRows, BatchLimits } from "../types/mod.ts";
import { type ChunkView, type RowsView, sliceOf, viewRows } from "./view.ts";
import { addWeights } from "./row_bytes.ts";
import { constantWeight, pieceWeight } from "./type_bytes.ts";

const DEFAULT_MAX_ROWS = 8192;
const DEFAULT_MAX_BYTES = 16 * 1024 * 1024;

/** The maximum number of rows weighed at once: enough for column-wise loops, few enough to stay in the cache. */
const BLOCK = 1024;

/** Bytes above which fewer rows are weighed at once: weighing the items of lists takes about 1 ns per byte. */
const BLOCK_BYTES = 4 * 1024 * 1024;

/** At least one in this many of the rows that are weighed at once is selected. */
const SPARSE = 4;

/** A piece: `count` rows from `from` on; if only some rows are selected, both count in the selection. */
export interface PieceRange {
  readonly from: number;
  readonly count: number;
}

/** Limits with defaults filled in. */
export type PieceLimits = Required<BatchLimits>;

/**
 * Yields the pieces of some rows, in order, without a copy. A piece has at least one row, at most `batchMaxRows` rows and
 * `batchMaxBytes` of Arrow buffers (fixed widths, offsets and variable bytes that its rows reference, without
 * dictionaries; a single row may exceed it), and never rows of two chunks of a table.
 *
 * @throws {ConfigError} `config.type` or `config.range`: a limit is not a positive whole number.
 * @throws {EncodeError} What {@linkcode encodeRows} would refuse in the schema.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeRows, sliceRows } from "@jetrow/jetrow/json";
 * import { tableFromArrays } from "apache-arrow";
 *
 * const table = tableFromArrays({ a: Int32Array.of(1, 2, 3, 4, 5) });
 * const pieces = [...sliceRows(table, { batchMaxRows: 2 })];
 * assert.deepEqual(pieces.map((piece) => piece.numRows), [2, 2, 1]);
 * assert.equal(new TextDecoder().decode(encodeRows(pieces[2]!).bytes), '{"a":5}');
 * ```
 */
export function sliceRows(rows: ArrowRows, limits: BatchLimits = {}): Iterable<ArrowRows> {
  const all = resolveLimits(limits);
  return slices(rows, viewRows(rows), all);
}

function* slices(rows: ArrowRows, view: RowsView, limits: PieceLimits): Generator<ArrowRows, void, undefined> {
  for (const { from, count } of pieceRanges(view, limits)) yield sliceOf(rows, view, from, count);
}

/** Fills in the defaults of limits; both must be positive integers. */
export function resolveLimits(limits: BatchLimits): PieceLimits {
  if (typeof limits !== "object" || limits === null) {
    throw new ConfigError("config.type", {
      field: "limits",
      rule: "must be an object",
      received: describe(limits),
    });
  }
  return {
    batchMaxRows: positive("batchMaxRows", limits.batchMaxRows, DEFAULT_MAX_ROWS),
    batchMaxBytes: positive("batchMaxBytes", limits.batchMaxBytes, DEFAULT_MAX_BYTES),
  };
}

function positive(field: string, value: unknown, byDefault: number): number {
  if (value === undefined) return byDefault;
  if (typeof value === "number" && Number.isSafeInteger(value) && value > 0) return value;
  const whole = typeof value === "number" && (Number.isInteger(value) || Math.abs(value) === Infinity);
  const rule = "must be a positive whole number";
  throw new ConfigError(whole ? "config.range" : "config.type", { field, rule, received: describe(value) });
}

/**
 * Yields the beginning and end of each piece. With `only` (ascending row numbers) the pieces are parts of the selection,
 * and only selected rows count.
 */
export function* pieceRanges(
  view: RowsView,
  limits: PieceLimits,
  only?: readonly number[],
): Generator<PieceRange, void, undefined> {
  const base = view.types.reduce((sum, type) => sum + pieceWeight(type), 0);
  let from = 0;
  for (const chunk of view.chunks) {
    const weightOf = chunkWeights(chunk, (index) => rowsFrom(index, only));
    const end = selectedBefore(chunk.firstRow + chunk.rowCount, from, only);
    let bytes = base;
    let count = 0;
    while (from + count < end) {
      const index = from + count;
      const weight = weightOf((only === undefined ? index : only[index]!) - chunk.firstRow, index);
      if (count > 0 && (count >= limits.batchMaxRows || bytes + weight > limits.batchMaxBytes)) {
        yield { from, count };
        from += count;
        bytes = base;
        count = 0;
      }
      bytes += weight;
      count++;
    }
    if (count > 0) yield { from, count };
    from = end;
  }
}

/** Returns how many selected rows are before a row: the selection's end within a chunk, at or after `from`. */
function selectedBefore(row: number, from: number, only: readonly number[] | undefined): number {
  if (only === undefined) return row;
  return lowerBound(from, only.length, (index) => only[index]!, row);
}

/** Returns how many rows, from the selection's `index`th on, are worth weighing together. */
function rowsFrom(index: number, only: readonly number[] | undefined): number {
  if (only === undefined) return BLOCK;
  const row = only[index]!;
  let last = row;
  for (let count = 1; count < BLOCK && index + count < only.length; count++) {
    const next = only[index + count]!;
    if (next - row >= Math.min(BLOCK, SPARSE * (count + 1))) break;
    last = next;
  }
  return last - row + 1;
}

/**
 * Returns the weights of a chunk's rows, which must be requested in ascending order; weighs a block of rows at a time,
 * all columns at once. `ahead` returns how many rows to weigh from the selection's `index`th on.
 */
function chunkWeights(chunk: ChunkView, ahead: (index: number) => number): (row: number, index: number) => number {
  const constants = chunk.columns.map(({ type }) => constantWeight(type));
  const fixed = constants.reduce((sum: number, weight) => sum + (weight ?? 0), 0);
  const varying = chunk.columns.flatMap((column, at) =>
    constants[at] === undefined ? [{ column, start: chunk.starts[at]! }] : []
  );
  if (varying.length === 0) return () => fixed;
  let blockStart = 0;
  let block = new Float64Array(0);
  let limit = 64;
  return (row, index) => {
    if (row >= blockStart + block.length) {
      blockStart = row;
      block = new Float64Array(Math.min(limit, ahead(index), chunk.rowCount - row)).fill(fixed);
      for (const { column, start } of varying) addWeights(column, start + row, block);
      const bytes = block.reduce((sum, weight) => sum + weight, 0);
      limit = bytes > BLOCK_BYTES ? Math.max(1, limit >> 1) : Math.min(BLOCK, limit * 2);
    }
    return block[row - blockStart]!;
  };
}
