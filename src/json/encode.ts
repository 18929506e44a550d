/**
 * Rows as JSON, side by side in one arena.
 *
 * @module
 */

import { cellError } from "../arrow/fault.ts";
import { type ChunkView, type RowsView, viewRows } from "../arrow/view.ts";
import { EncodeError } from "../errors.ts";
import { crc32c } from "../hash/crc32c.ts";
import type { ArrowRows, EncodedRows } from "../types.ts";
import { Arena, LARGEST, STOP } from "./arena.ts";
import type { Cell } from "./cell.ts";
import { type Key, nameKey } from "./key.ts";
import { attach, flush, FULL, scratch } from "./scratch.ts";
import type { PieceMemory, SpareMemory } from "./spare_memory.ts";
import { cellOf } from "./writer.ts";

const { bytes } = scratch;

/** What part of a view is encoded, and when to stop. */
export interface EncodeOptions {
  /** The rows to encode, ascending. */
  readonly only?: readonly number[];
  /**
   * Where to begin: an index into `only`, else a row.
   *
   * @default {0}
   */
  readonly from?: number;
  /** How many rows to encode at most. Absent: all that follow. */
  readonly count?: number;
  /** Stops before the row that would pass so many bytes; takes at least one. Absent: 4 GiB are too large. */
  readonly maxBytes?: number;
  /** What one row may take. */
  readonly maxRowBytes?: number;
  /**
   * Told of the first row above `maxRowBytes`, with its exact size (beyond 256 MiB with a lower bound); nothing of such
   * a row is kept. It throws its own error, or `encode.too_large` follows.
   */
  readonly overRow?: (row: number, size: number) => void;
  /** Where memory for the result comes from; to give it back is up to who has the result. Absent: fresh memory. */
  readonly memory?: Pick<PieceMemory, "bodies" | "offsets"> | undefined;
}

/** Rows as JSON, and how many there are. */
export interface EncodedPart extends EncodedRows {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly offsets: Uint32Array<ArrayBuffer>;
  readonly rows: number;
}

/** The state of one encoding. */
interface Run {
  readonly view: RowsView;
  readonly keys: readonly Key[];
  readonly arena: Arena;
  readonly only: readonly number[] | undefined;
  readonly from: number;
  readonly count: number;
  readonly maxBytes: number;
  readonly maxRowBytes: number;
  readonly overRow: ((row: number, size: number) => void) | undefined;
  readonly memory: EncodeOptions["memory"];
  offsets: Uint32Array<ArrayBuffer>;
  /** Rows done. */
  done: number;
  /** Whether a limit ended it. */
  stopped: boolean;
}

/**
 * Every row as one JSON object, keys in schema order, valid UTF-8 always. Numbers have every digit, 64-bit integers and
 * decimals too; dates and times are ISO 8601 texts, binary is base64; NaN and the infinities are quoted.
 * `docs/messages.md` has each Arrow type.
 *
 * @throws {EncodeError} Where a type, a name or a value cannot be written, where data points outside of its buffers,
 * and above 4 GiB.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeRows } from "@jetrow/jetrow/json";
 * import { tableFromArrays } from "apache-arrow";
 *
 * const { bytes, offsets } = encodeRows(tableFromArrays({ id: Int32Array.of(1, 2), name: ["a", "b"] }));
 * const first = new TextDecoder().decode(bytes.subarray(offsets[0], offsets[1]));
 * assert.ok(first === '{"id":1,"name":"a"}');
 * ```
 */
export function encodeRows(rows: ArrowRows): EncodedRows {
  return encodeView(viewRows(rows));
}

/**
 * A part of a view's rows as JSON.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { tableFromArrays } from "apache-arrow";
 * import { viewRows } from "../arrow/view.ts";
 *
 * const view = viewRows(tableFromArrays({ id: Int32Array.of(1, 2, 3) }));
 * const part = encodeView(view, { only: [0, 2], from: 1 });
 * assert.ok(part.rows === 1 && new TextDecoder().decode(part.bytes) === '{"id":3}');
 * ```
 */
export function encodeView(view: RowsView, options: EncodeOptions = {}): EncodedPart {
  const run = start(view, options);
  checkCount(run);
  attach(run.arena);
  try {
    finish(run);
    if (run.arena.countedFrom >= 0 && sizeOf(run) > run.arena.countedFrom) again(run);
  } finally {
    attach(undefined);
  }
  return result(run);
}

function start(
  view: RowsView,
  { only, from = 0, count: most = Infinity, maxBytes = Infinity, maxRowBytes = Infinity, overRow, memory }:
    EncodeOptions,
): Run {
  const count = Math.max(0, Math.min(most, (only?.length ?? view.rowCount) - from));
  return {
    view,
    keys: view.names.map((name, at) => nameKey(at === 0 ? "{" : ",", name)),
    arena: new Arena({ maxBytes, maxRowBytes }, memory?.bodies),
    only,
    from,
    count,
    maxBytes,
    maxRowBytes,
    overRow,
    memory,
    offsets: offsetsFor(Math.min(count, 1 << 20), memory?.offsets),
    done: 0,
    stopped: false,
  };
}

function offsetsFor(rows: number, spare: SpareMemory | undefined): Uint32Array<ArrayBuffer> {
  const memory = spare?.take(4 * (rows + 1));
  if (memory === undefined) return new Uint32Array(rows + 1);
  const offsets = new Uint32Array(memory.buffer, 0, rows + 1);
  offsets[0] = 0;
  return offsets;
}

/** Refuses at once what even with one byte a value would be too large: rows without columns take no memory. */
function checkCount({ keys, count, maxBytes }: Run): void {
  const least = keys.reduce((sum, { length }) => sum + length + 1, keys.length === 0 ? 2 : 1);
  if (maxBytes !== Infinity || count * least <= LARGEST) return;
  tooLarge(Math.floor(LARGEST / least), count * least);
}

function tooLarge(row: number, size: number): never {
  const text = `Cannot encode row ${row}: all rows together may take ${LARGEST} bytes, they take ${size} or more`;
  throw new EncodeError("encode.too_large", text, { row, size, limit: LARGEST });
}

function finish(run: Run): void {
  let at = 0;
  while (run.done < run.count && !run.stopped) {
    const row = rowAt(run, run.done);
    const { chunks } = run.view;
    if (!holds(chunks[at], row)) {
      at = holds(chunks[at + 1], row) ? at + 1 : chunks.findIndex((chunk) => holds(chunk, row));
    }
    const chunk = chunks[at];
    if (chunk === undefined) throw new RangeError(`row ${row} is outside of ${run.view.rowCount}`);
    encodeChunk(run, chunk);
  }
}

function rowAt({ only, from }: Run, index: number): number {
  return only === undefined ? from + index : only[from + index]!;
}

function holds(chunk: ChunkView | undefined, row: number): boolean {
  return chunk !== undefined && row >= chunk.firstRow && row < chunk.firstRow + chunk.rowCount;
}

function cellsOf(run: Run, { columns, starts, rowCount }: ChunkView): readonly Cell[] {
  return columns.map((column, at) => {
    const shift = starts[at]!;
    const cell = cellOf(column, run.keys[at]!, shift + rowCount);
    return shift === 0 ? cell : (slot, position) => cell(slot + shift, position);
  });
}

/** Encodes rows from the next one on, as long as they are in the chunk. */
function encodeChunk(run: Run, chunk: ChunkView): void {
  const cells = cellsOf(run, chunk);
  const width = cells.length;
  const { arena, only, from, count, maxBytes, maxRowBytes } = run;
  const last = chunk.firstRow + chunk.rowCount;
  let { offsets, done } = run;
  let column = 0;
  let row = 0;
  try {
    let p = 0;
    while (done < count) {
      row = only === undefined ? from + done : only[from + done]!;
      if (row < chunk.firstRow || row >= last) break;
      const slot = row - chunk.firstRow;
      const begin = arena.used + p;
      arena.rowStart = begin;
      if (width === 0) bytes[p++] = 123;
      for (column = 0; column < width; column++) {
        if (p > FULL) p = flushRows(run, done, p);
        p = cells[column]!(slot, p);
      }
      bytes[p++] = 125;
      const end = arena.used + p;
      if (end - begin > maxRowBytes) refuseRow(run, row, end - begin);
      if (end > maxBytes && begin > 0) {
        run.stopped = true;
        p = begin - arena.used;
        break;
      }
      if (++done >= offsets.length) offsets = grown(offsets, count);
      offsets[done] = end;
      if (p > FULL) p = flushRows(run, done, p);
    }
    arena.rowStart = arena.used + p;
    flush(p);
  } catch (thrown) {
    if (thrown === STOP) stop(run, row);
    else throw cellError(thrown, run.view.names[column] ?? "", row);
  }
  run.offsets = offsets;
  run.done = done;
}

function flushRows({ arena, count }: Run, done: number, position: number): number {
  arena.progress = Math.max(done, 1) / count;
  return flush(position);
}

function grown(offsets: Uint32Array<ArrayBuffer>, count: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.min(count + 1, offsets.length * 2));
  larger.set(offsets);
  return larger;
}

/** The arena has what it may hold: the rows before this one are the result, or there is none. */
function stop(run: Run, row: number): void {
  const { arena, maxBytes, maxRowBytes } = run;
  const size = arena.used - arena.rowStart;
  if (arena.rowStart > 0 && maxBytes < LARGEST) {
    run.stopped = true;
    return;
  }
  if (size > maxRowBytes) refuseRow(run, row, size);
  tooLarge(row, arena.used);
}

function refuseRow(run: Run, row: number, size: number): never {
  run.overRow?.(row, size);
  const text = `Cannot encode row ${row}: it may take ${run.maxRowBytes} bytes, it takes ${size}`;
  throw new EncodeError("encode.too_large", text, { row, size, limit: run.maxRowBytes });
}

function sizeOf({ offsets, done }: Run): number {
  return offsets[done]!;
}

/** Encodes once more what was only counted, now that its size is known. */
function again(run: Run): void {
  const { arena, done, offsets } = run;
  const first = offsets.subarray(0, done).indexOf(arena.countedFrom);
  arena.resume(sizeOf(run));
  Object.assign(run, { done: first, stopped: false, count: done });
  finish(run);
}

function exactly(offsets: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  return offsets.length === length ? offsets : offsets.slice(0, length);
}

function result(run: Run): EncodedPart {
  const { done, offsets, memory } = run;
  const json = run.arena.take(sizeOf(run));
  let crc: number | undefined;
  return {
    bytes: json,
    // What goes back goes whole; what does not is to be no larger than it has to.
    offsets: memory === undefined ? exactly(offsets, done + 1) : offsets.subarray(0, done + 1),
    rows: done,
    get crc32c(): number {
      return crc ??= crc32c(json);
    },
  };
}
