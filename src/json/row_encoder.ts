/**
 * Encodes rows of a view one slice at a time.
 *
 * @module
 */

import { cellError } from "../arrow/fault.ts";
import { checkChunk } from "../arrow/intact.ts";
import { chunkAt, type ChunkView, type RowsView } from "../arrow/view.ts";
import { EncodeError } from "../errors/mod.ts";
import { crc32c } from "../hash/crc32c.ts";
import type { EncodedRows } from "../types/mod.ts";
import { Arena, LARGEST, STOP } from "./memory/arena.ts";
import type { Cell } from "./cells/cell.ts";
import { bareKeys, type Key, memberKeys, NO_KEY } from "./write/key.ts";
import { attach, flush, FULL, scratch } from "./memory/scratch.ts";
import { offsetsFor, type PieceMemory } from "./memory/spare.ts";
import { rowCells } from "./cells/row.ts";
import type { RowForms } from "./row_forms.ts";

const { bytes } = scratch;

/** Which rows of a view are encoded, and where encoding stops. */
export interface EncodeOptions {
  /** Writes the bytes of the view's one column instead of JSON objects. @default {false} */
  readonly raw?: boolean;
  /** The forms of the columns' values. Absent: the default of each. */
  readonly forms?: RowForms | undefined;
  /** The rows to encode, ascending. */
  readonly only?: readonly number[];
  /**
   * The first row to encode: an index into `only` if `only` is set, otherwise a row number.
   *
   * @default {0}
   */
  readonly from?: number;
  /** The largest number of rows to encode. Absent: all rows from `from` on. */
  readonly count?: number;
  /** Stops before the row that would exceed this many bytes, but encodes at least one row. Absent: fails above 4 GiB. */
  readonly maxBytes?: number;
  /** The largest size of one row, in bytes. */
  readonly maxRowBytes?: number;
  /**
   * Called with the first row above `maxRowBytes` and its exact size (a lower bound beyond 256 MiB). Throws an error of
   * its own; if it returns, `encode.too_large` is thrown.
   */
  readonly overRow?: (row: number, size: number) => void;
  /** Where memory for the result comes from; the owner of the result gives it back. Absent: new memory. */
  readonly memory?: Pick<PieceMemory, "bodies" | "offsets"> | undefined;
}

/** Encoded rows and their number. */
export interface EncodedPart extends EncodedRows {
  readonly bytes: Uint8Array<ArrayBuffer>;
  readonly offsets: Uint32Array<ArrayBuffer>;
  readonly rows: number;
}

/** The bodies of encoded rows, and where each begins. */
export type Bodies = Pick<EncodedPart, "bytes" | "offsets">;

/** The state of one encoding. */
export interface Encoding {
  readonly view: RowsView;
  readonly keys: readonly Key[];
  readonly raw: boolean;
  readonly forms: RowForms | undefined;
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
  /** The chunk of the last encoded row and its cells, kept from slice to slice. */
  at: ChunkView | undefined;
  cells: readonly Cell[];
  /** The slice ends with the row that reaches this many bytes. */
  sliceEnd: number;
  /** Whether a limit ended the encoding. */
  stopped: boolean;
}

/** Begins an encoding. Throws an EncodeError for more rows than the result can hold. */
export function begin(
  view: RowsView,
  options: EncodeOptions,
): Encoding {
  const { raw = false, forms, only, from = 0, count: most = Infinity, overRow, memory } = options;
  const { maxBytes = Infinity, maxRowBytes = Infinity } = options;
  const count = Math.max(0, Math.min(most, (only?.length ?? view.rowCount) - from));
  const keys = raw ? [NO_KEY] : (forms?.sparse ? bareKeys : memberKeys)(view.names, (name) => name);
  if (!raw) checkCount(keys, forms, count, maxBytes);
  return {
    view,
    keys,
    raw,
    forms,
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
    at: undefined,
    cells: [],
    sliceEnd: 0,
    stopped: false,
  };
}

/** Refuses rows that would be too large even with one byte per value: rows without columns take no Arrow memory. */
function checkCount(keys: readonly Key[], forms: RowForms | undefined, count: number, maxBytes: number): void {
  const isKept = (at: number): boolean => forms?.columns[at]?.nulls !== "omit";
  const braces = keys.length === 0 || forms?.sparse ? 2 : 1;
  const least = keys.reduce((sum, { length }, at) => sum + (isKept(at) ? length + 1 : 0), braces);
  if (maxBytes !== Infinity || count * least <= LARGEST) return;
  tooLarge(Math.floor(LARGEST / least), count * least);
}

function tooLarge(row: number, size: number): never {
  const text =
    `Cannot encode row ${row}: the rows of one result must not exceed ${LARGEST} bytes: they take ${size} or more`;
  throw new EncodeError("encode.too_large", text, { row, size, limit: LARGEST });
}

/**
 * Encodes rows until `size` more bytes are written. Returns false when no row is left. Throws an EncodeError.
 */
export function encodeSlice(run: Encoding, size: number): boolean {
  const { arena } = run;
  run.sliceEnd = arena.used + size;
  attach(arena);
  try {
    encodeChunks(run);
  } finally {
    attach(undefined);
  }
  if (isLeft(run)) return true;
  if (arena.countedFrom < 0 || sizeOf(run) <= arena.countedFrom) return false;
  restart(run);
  return true;
}

function isLeft({ done, count, stopped }: Encoding): boolean {
  return done < count && !stopped;
}

function encodeChunks(run: Encoding): void {
  const { chunks } = run.view;
  while (isLeft(run) && run.arena.used < run.sliceEnd) {
    const row = rowAt(run, run.done);
    const chunk = chunks[chunkAt(chunks, row)];
    if (chunk === undefined) throw new RangeError(`row ${row} is outside of ${run.view.rowCount}`);
    encodeChunk(run, chunk);
  }
}

function rowAt({ only, from }: Encoding, index: number): number {
  return only === undefined ? from + index : only[from + index]!;
}

/** Encodes the next rows that are in `chunk`. */
function encodeChunk(run: Encoding, chunk: ChunkView): void {
  checkChunk(chunk, run.view.names, rowAt(run, run.done));
  if (run.at !== chunk) Object.assign(run, { at: chunk, cells: rowCells(chunk, run) });
  const { cells } = run;
  const width = cells.length;
  const { raw, arena, only, from, count, maxBytes, maxRowBytes, sliceEnd } = run;
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
      if (!raw) bytes[p++] = 125;
      const end = arena.used + p;
      if (end - begin > maxRowBytes) refuseRow(run, row, end - begin);
      if (end > maxBytes && begin > 0) {
        run.stopped = true;
        p = begin - arena.used;
        break;
      }
      if (++done >= offsets.length) offsets = grown(offsets, count);
      offsets[done] = end;
      if (end >= sliceEnd) break;
      if (p > FULL) p = flushRows(run, done, p);
    }
    arena.rowStart = arena.used + p;
    flushRows(run, done, p);
  } catch (thrown) {
    if (thrown === STOP) stop(run, row);
    else throw cellError(thrown, run.view.names[column] ?? "", row);
  }
  run.offsets = offsets;
  run.done = done;
}

function flushRows({ arena, count }: Encoding, done: number, position: number): number {
  arena.progress = Math.max(done, 1) / count;
  return flush(position);
}

function grown(offsets: Uint32Array<ArrayBuffer>, count: number): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(Math.min(count + 1, offsets.length * 2));
  larger.set(offsets);
  return larger;
}

/** Handles a full arena: the rows before `row` are the result, otherwise encoding fails. */
function stop(run: Encoding, row: number): void {
  const { arena, maxBytes, maxRowBytes } = run;
  const size = arena.used - arena.rowStart;
  if (arena.rowStart > 0 && maxBytes < LARGEST) {
    run.stopped = true;
    return;
  }
  if (size > maxRowBytes) refuseRow(run, row, size);
  tooLarge(row, arena.used);
}

function refuseRow(run: Encoding, row: number, size: number): never {
  run.overRow?.(row, size);
  const text = `Cannot encode row ${row}: a row must not exceed ${run.maxRowBytes} bytes: received ${size}`;
  throw new EncodeError("encode.too_large", text, { row, size, limit: run.maxRowBytes });
}

function sizeOf({ offsets, done }: Encoding): number {
  return offsets[done]!;
}

/** Restarts at the last row that begins in the kept bytes, now that the total size is known. */
function restart(run: Encoding): void {
  const { arena, done, offsets } = run;
  let first = done - 1;
  while (offsets[first]! > arena.countedFrom) first--;
  arena.resume(offsets[first]!, sizeOf(run));
  Object.assign(run, { done: first, stopped: false, count: done });
}

function exactly(offsets: Uint32Array<ArrayBuffer>, length: number): Uint32Array<ArrayBuffer> {
  return offsets.length === length ? offsets : offsets.slice(0, length);
}

/** Returns the encoded rows. */
export function resultOf(run: Encoding): EncodedPart {
  const { done, offsets, memory } = run;
  const json = run.arena.take(sizeOf(run));
  let crc: number | undefined;
  return {
    bytes: json,
    // Reused memory is given back whole; a result that the caller keeps is not larger than needed.
    offsets: memory === undefined ? exactly(offsets, done + 1) : offsets.subarray(0, done + 1),
    rows: done,
    get crc32c(): number {
      return crc ??= crc32c(json);
    },
  };
}
