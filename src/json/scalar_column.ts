/**
 * Reads single values of a batch as strings, by row number: for subjects, headers and event ids.
 *
 * @module
 */

import { cellError, Fault } from "../arrow/fault.ts";
import { valueType } from "../arrow/field_type.ts";
import { type TextColumn, textColumn } from "../arrow/text_column.ts";
import { chunkAt, type RowsView } from "../arrow/view.ts";
import type { Cell } from "./cells/cell.ts";
import { cellOf } from "./cells/mod.ts";
import { Arena } from "./memory/arena.ts";
import { attach, flush, FULL, scratch } from "./memory/scratch.ts";
import { type Key, makeKey, NO_KEY } from "./write/key.ts";

const QUOTE = 0x22;
/** The `n` of `null`: no other JSON form of a scalar begins with it. */
const LETTER_N = 0x6e;
const CLOSING = 0x5d;

/**
 * Returns a cursor over a column of scalars, by its index in the schema: strings unchanged, other values in their JSON
 * form without quotes. `seek` throws EncodeErrors.
 */
export function scalarColumn(view: RowsView, at: number): TextColumn {
  if (valueType(view.types[at]!).kind === "text") return textColumn(view, at);
  const writer = new ValueWriter(view, [at], [NO_KEY]);
  const column = {
    bytes: writer.bytes as Uint8Array,
    start: 0,
    end: 0,
    seek(row: number): boolean {
      const end = writer.write(row, -1);
      column.bytes = writer.bytes;
      if (column.bytes[0] === LETTER_N) return false;
      const quoted = column.bytes[0] === QUOTE;
      column.start = quoted ? 1 : 0;
      column.end = quoted ? end - 1 : end;
      return true;
    },
  };
  return column;
}

/**
 * Returns a cursor over the JSON arrays of the values of several columns, without white space: `["A1",7]`. `seek`
 * returns false if all values are null, and throws EncodeErrors.
 */
export function arrayColumn(view: RowsView, columns: readonly number[]): TextColumn {
  const writer = new ValueWriter(view, columns, columns.map((_, index) => makeKey(index === 0 ? "[" : ",")));
  const allNull = new TextEncoder().encode(`[${columns.map(() => "null").join(",")}]`);
  const column = {
    bytes: writer.bytes as Uint8Array,
    start: 0,
    end: 0,
    seek(row: number): boolean {
      column.end = writer.write(row, CLOSING);
      column.bytes = writer.bytes;
      return !startsWith(column.bytes, column.end, allNull);
    },
  };
  return column;
}

function startsWith(bytes: Uint8Array, end: number, expected: Uint8Array): boolean {
  return end === expected.length && expected.every((byte, at) => byte === bytes[at]);
}

/** Writes the values of one row to memory of its own, since other readers use the scratch that cells write to. */
class ValueWriter {
  /** The values written last, from the first byte on. */
  bytes: Uint8Array<ArrayBuffer> = new Uint8Array(64);
  readonly #view: RowsView;
  readonly #columns: readonly number[];
  readonly #keys: readonly Key[];
  readonly #arena = new Arena({ maxBytes: Infinity, maxRowBytes: Infinity });
  #cells: readonly Cell[] = [];
  #firstRow = 0;
  #endRow = 0;

  constructor(view: RowsView, columns: readonly number[], keys: readonly Key[]) {
    this.#view = view;
    this.#columns = columns;
    this.#keys = keys;
  }

  /** Writes the values of a row, followed by `closing` unless it is negative. Returns the number of bytes. */
  write(row: number, closing: number): number {
    if (row < this.#firstRow || row >= this.#endRow) this.#enter(row);
    const arena = this.#arena;
    arena.used = arena.rowStart = 0;
    let at = 0;
    attach(arena);
    try {
      let p = 0;
      for (; at < this.#cells.length; at++) {
        if (p > FULL) p = flush(p);
        p = this.#cells[at]!(row - this.#firstRow, p);
      }
      if (closing >= 0) scratch.bytes[p++] = closing;
      return this.#copy(p);
    } catch (thrown) {
      throw cellError(thrown, this.#view.names[this.#columns[at]!] ?? "", row);
    } finally {
      attach(undefined);
    }
  }

  #copy(position: number): number {
    if (this.#arena.used > 0) {
      flush(position);
      if (this.#arena.counting) throw new Fault("encode.value", "the value is too long to be read as a string");
      this.bytes = this.#arena.take(this.#arena.used);
      return this.#arena.used;
    }
    if (position > this.bytes.length) this.bytes = new Uint8Array(2 * position);
    for (let i = 0; i < position; i++) this.bytes[i] = scratch.bytes[i]!;
    return position;
  }

  #enter(row: number): void {
    const { chunks, rowCount } = this.#view;
    const chunk = chunks[chunkAt(chunks, row)];
    if (chunk === undefined) throw new RangeError(`row ${row} is outside of ${rowCount}`);
    this.#firstRow = chunk.firstRow;
    this.#endRow = chunk.firstRow + chunk.rowCount;
    this.#cells = this.#columns.map((at, index) => {
      const shift = chunk.starts[at]!;
      const cell = cellOf(chunk.columns[at]!, this.#keys[index]!, shift + chunk.rowCount);
      return shift === 0 ? cell : (slot, position) => cell(slot + shift, position);
    });
  }
}
