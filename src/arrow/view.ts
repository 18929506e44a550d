/**
 * A batch or table of apache-arrow, or a table of flechette, as columns of chunks. Libraries are recognized by the form
 * of their objects, never by instanceof: objects of two copies of one library must both work.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { EncodeError } from "../errors/mod.ts";
import { lowerBound } from "../util/lower_bound.ts";
import type { ArrowBatch, ArrowRows } from "../types/mod.ts";
import { type ColumnCache, type ColumnView, type LooseData, viewColumn } from "./column.ts";
import { cellError, Fault, malformed } from "./fault.ts";
import type { FieldType } from "./field_type.ts";
import { type LooseField, resolveColumns } from "./schema.ts";

/** Rows for which each column is contiguous in memory. */
export interface ChunkView {
  /** The number of its first row in the whole batch. */
  readonly firstRow: number;
  readonly rowCount: number;
  /** The columns, in schema order. */
  readonly columns: readonly ColumnView[];
  /** For each column, the slot of the chunk's first row. */
  readonly starts: readonly number[];
}

/** Rows ready to be written: types resolved, buffers found. */
export interface RowsView {
  readonly rowCount: number;
  readonly names: readonly string[];
  readonly types: readonly FieldType[];
  /** The chunks that have rows. */
  readonly chunks: readonly ChunkView[];
}

/** The columns of a chunk in either library. */
interface LooseChunk {
  readonly rowCount: number;
  /** Whether the columns have exactly these rows. */
  readonly isBatch: boolean;
  readonly columns: readonly (LooseData | undefined)[];
  readonly starts: readonly number[];
}

interface LooseColumn {
  readonly data: readonly LooseData[];
}

/**
 * Returns the view of rows. Types are resolved once per column; types that cannot be written are refused here, before
 * any value is read.
 *
 * @throws {EncodeError} `encode.type`, `encode.column_name` or `encode.malformed`.
 */
export function viewRows(rows: ArrowRows): RowsView {
  if (isSlice(rows)) return viewSlice(rows);
  const fields = (rows as Partial<ArrowRows> | null | undefined)?.schema?.fields;
  if (!Array.isArray(fields)) refuse(rows);
  const columns = resolveColumns(fields as readonly LooseField[]);
  const names = columns.map(({ name }) => name);
  const types = columns.map(({ type }) => type);
  const cache: ColumnCache = new Map();
  const chunks: ChunkView[] = [];
  let firstRow = 0;
  for (const chunk of chunksOf(rows, names)) {
    if (chunk.rowCount === 0) continue;
    chunks.push(viewChunk(chunk, firstRow, names, types, cache));
    firstRow += chunk.rowCount;
  }
  return { rowCount: firstRow, names, types, chunks };
}

/** The views of slices that {@linkcode sliceOf} has made: viewing a table again for every piece would be quadratic. */
const views = new WeakMap<object, RowsView>();

/** A slice, possibly made by another copy of the package, which does not know its view. */
interface Slice extends ArrowBatch {
  readonly source: ArrowRows;
  readonly from: number;
}

function isSlice(rows: ArrowRows): rows is Slice {
  return typeof rows === "object" && rows !== null && "source" in rows && "from" in rows;
}

/** Makes rows from a part of a view, without a copy; a slice of a slice is a slice of the original rows. */
export function sliceOf(rows: ArrowRows, view: RowsView, from: number, count: number): ArrowBatch {
  const of = isSlice(rows) ? { source: rows.source, from: rows.from + from } : { source: rows, from };
  const slice: Slice = { schema: rows.schema, numRows: count, data: { length: count, children: [] }, ...of };
  views.set(slice, narrow(view, from, count));
  return slice;
}

function viewSlice(slice: Slice): RowsView {
  const known = views.get(slice);
  if (known !== undefined) return known;
  return isSlice(slice.source) ? refuse(slice) : narrow(viewRows(slice.source), slice.from, slice.numRows);
}

/** Returns the index of the chunk that contains a row; -1 if none does. */
export function chunkAt(chunks: readonly Pick<ChunkView, "firstRow" | "rowCount">[], row: number): number {
  const last = lowerBound(0, chunks.length, (index) => chunks[index]!.firstRow, row + 1) - 1;
  const chunk = chunks[last];
  return chunk !== undefined && row < chunk.firstRow + chunk.rowCount ? last : -1;
}

/** Returns `count` rows from `from` on, numbered from 0. */
function narrow(view: RowsView, from: number, count: number): RowsView {
  if (countOf(from) + countOf(count) > view.rowCount) {
    const text = `Cannot encode rows: rows ${from} to ${from + count} are not within ${view.rowCount} rows`;
    throw new EncodeError("encode.malformed", text);
  }
  const chunks: ChunkView[] = [];
  for (let at = Math.max(0, chunkAt(view.chunks, from)); at < view.chunks.length; at++) {
    const chunk = view.chunks[at]!;
    if (chunk.firstRow >= from + count) break;
    const start = Math.max(from, chunk.firstRow);
    const end = Math.min(from + count, chunk.firstRow + chunk.rowCount);
    if (start >= end) continue;
    const starts = chunk.starts.map((slot) => slot + start - chunk.firstRow);
    chunks.push({ firstRow: start - from, rowCount: end - start, columns: chunk.columns, starts });
  }
  return { ...view, rowCount: count, chunks };
}

function refuse(rows: unknown): never {
  const rule =
    "they must be a RecordBatch or Table of apache-arrow, a Table of flechette, or rows of readArrow or rowsOf";
  const fix = Array.isArray(rows) ? ". Call rowsOf to make rows of JavaScript objects." : "";
  throw new EncodeError("encode.type", `Cannot encode rows: ${rule}: received ${describe(rows)}${fix}`);
}

function chunksOf(rows: ArrowRows, names: readonly string[]): Iterable<LooseChunk> {
  if ("batches" in rows && Array.isArray(rows.batches)) return rows.batches.map(batchChunk);
  if ("data" in rows) return [batchChunk(rows)];
  if ("children" in rows && Array.isArray(rows.children)) {
    return tableChunks(rows.children as readonly LooseColumn[], countOf(rows.numRows), names);
  }
  return refuse(rows);
}

function countOf(rowCount: unknown): number {
  if (Number.isSafeInteger(rowCount) && (rowCount as number) >= 0) return rowCount as number;
  throw new EncodeError("encode.malformed", `Cannot encode rows: their number is ${describe(rowCount)}`);
}

function batchChunk(batch: { readonly numRows: number; readonly data: unknown } | null): LooseChunk {
  const data = batch?.data as LooseData | undefined;
  const columns = Array.isArray(data?.children) ? data.children as LooseData[] : [];
  return { rowCount: countOf(batch?.numRows), isBatch: true, columns, starts: columns.map(() => 0) };
}

/** Each of flechette's columns has its own chunks: a chunk of rows ends wherever a chunk of any column does. */
function* tableChunks(
  columns: readonly LooseColumn[],
  rowCount: number,
  names: readonly string[],
): Generator<LooseChunk> {
  columns.forEach((column, c) => checkColumnLength(column, rowCount, names[c] ?? ""));
  const cursors = columns.map(() => ({ at: 0, start: 0 }));
  let left = rowCount;
  while (left > 0) {
    const current = cursors.map((cursor, c) => currentData(columns[c]!, cursor));
    const room = current.map((data, c) => data === undefined ? 0 : countOf(data.length) - cursors[c]!.start);
    const count = room.reduce((least, slots) => Math.min(least, slots), left);
    const short = room.indexOf(0);
    if (short >= 0) {
      const fault = new Fault("encode.malformed", `it ends here, the table has ${rowCount} rows`);
      throw cellError(fault, names[short] ?? "", rowCount - left);
    }
    yield { rowCount: count, isBatch: false, columns: current, starts: cursors.map(({ start }) => start) };
    for (const cursor of cursors) cursor.start += count;
    left -= count;
  }
}

function checkColumnLength(column: LooseColumn, rowCount: number, name: string): void {
  const chunks = Array.isArray(column?.data) ? column.data as readonly LooseData[] : [];
  const length = chunks.reduce((sum, chunk) => sum + countOf(chunk?.length), 0);
  if (length > rowCount) refuseLength(name, length, rowCount); // what is missing is found at its row
}

function refuseLength(column: string, length: number, rowCount: number): never {
  const problem = `Cannot encode column ${describe(column)}: it has ${length} values and its batch ${rowCount} rows`;
  throw new EncodeError("encode.malformed", problem, { column });
}

function currentData(column: LooseColumn, cursor: { at: number; start: number }): LooseData | undefined {
  const chunks = Array.isArray(column?.data) ? column.data as readonly LooseData[] : [];
  while (cursor.at < chunks.length && cursor.start >= countOf(chunks[cursor.at]?.length)) {
    cursor.at++;
    cursor.start = 0;
  }
  return chunks[cursor.at];
}

function viewChunk(
  chunk: LooseChunk,
  firstRow: number,
  names: readonly string[],
  types: readonly FieldType[],
  cache: ColumnCache,
): ChunkView {
  const columns = types.map((type, at) => {
    try {
      const data = chunk.columns[at];
      if (data === undefined || data === null) return malformed("it has no data");
      const column = viewColumn(type, data, cache);
      // A batch that announces another number of rows than its columns have would add or drop rows.
      const length = chunk.isBatch ? chunk.rowCount : Math.max(column.length, chunk.starts[at]! + chunk.rowCount);
      return column.length === length ? column : refuseLength(names[at]!, column.length, length);
    } catch (fault) {
      throw cellError(fault, names[at]!, firstRow);
    }
  });
  return { firstRow, rowCount: chunk.rowCount, columns, starts: chunk.starts };
}
