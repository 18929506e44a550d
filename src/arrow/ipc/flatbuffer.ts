/**
 * Reads FlatBuffers tables with a check of every offset, size and count: the metadata of Arrow IPC messages comes from
 * outside. (The library `flatbuffers` checks none.)
 *
 * @module
 */

import { damaged } from "./fault.ts";

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** How often the bytes of a buffer may be read on average: many references to one long string would exceed any size. */
const REUSE = 16;
/** How many bytes may be read even of the smallest buffer. */
const LEAST_BUDGET = 1 << 16;

/** How many bytes of strings and vectors may still be read. */
interface Budget {
  left: number;
}

/** A table of a buffer. Slots are numbered as in the schema, from 0. */
export class FlatTable {
  readonly #budget: Budget;
  readonly #view: DataView;
  readonly #at: number;
  readonly #vtable: number;
  readonly #slots: number;
  readonly #size: number;

  /** Opens the table at a position. */
  constructor(view: DataView, at: number, budget: Budget) {
    if (at < 4 || at + 4 > view.byteLength) damaged("a table of its metadata is outside of it");
    const vtable = at - view.getInt32(at, true);
    if (vtable < 4 || vtable + 4 > view.byteLength) damaged("a vtable is outside of the metadata");
    const vtableSize = view.getUint16(vtable, true);
    const size = view.getUint16(vtable + 2, true);
    if (vtableSize < 4 || vtableSize % 2 !== 0 || vtable + vtableSize > view.byteLength) {
      damaged(`a vtable of ${vtableSize} bytes does not fit the metadata`);
    }
    if (size < 4 || at + size > view.byteLength) damaged(`a table of ${size} bytes does not fit the metadata`);
    this.#budget = budget;
    this.#view = view;
    this.#at = at;
    this.#vtable = vtable;
    this.#slots = (vtableSize - 4) >> 1;
    this.#size = size;
  }

  /** Returns the position of a field, or 0 if it is absent. */
  #field(slot: number, width: number): number {
    if (slot >= this.#slots) return 0;
    const offset = this.#view.getUint16(this.#vtable + 4 + 2 * slot, true);
    if (offset === 0) return 0;
    if (offset < 4 || offset + width > this.#size) {
      damaged(`a field at ${offset} does not fit its table of ${this.#size} bytes`);
    }
    return this.#at + offset;
  }

  /** Reads a boolean. */
  bool(slot: number): boolean {
    const value = this.uint8(slot);
    if (value > 1) damaged(`a boolean of its metadata is ${value}`);
    return value === 1;
  }

  /** Reads an unsigned byte. */
  uint8(slot: number, absent = 0): number {
    const at = this.#field(slot, 1);
    return at === 0 ? absent : this.#view.getUint8(at);
  }

  /** Reads a 16-bit integer. */
  int16(slot: number, absent = 0): number {
    const at = this.#field(slot, 2);
    return at === 0 ? absent : this.#view.getInt16(at, true);
  }

  /** Reads a 32-bit integer. */
  int32(slot: number, absent = 0): number {
    const at = this.#field(slot, 4);
    return at === 0 ? absent : this.#view.getInt32(at, true);
  }

  /** Reads a 64-bit integer that must be a safe one. */
  int64(slot: number): number {
    const at = this.#field(slot, 8);
    return at === 0 ? 0 : safeInt64(this.#view, at);
  }

  /** Reads the table that a field refers to, if present. */
  table(slot: number): FlatTable | undefined {
    const at = this.#field(slot, 4);
    return at === 0 ? undefined : this.#tableAt(at);
  }

  /** Reads a string, if present. */
  string(slot: number): string | undefined {
    const vector = this.#vector(slot, 1);
    if (vector === undefined) return undefined;
    const { buffer, byteOffset } = this.#view;
    try {
      return decoder.decode(new Uint8Array(buffer, byteOffset + vector.start, vector.count));
    } catch {
      return damaged("a string of its metadata is not valid UTF-8");
    }
  }

  /** Reads the structs of a vector: one view over all of them and their number. */
  structs(slot: number, size: number): { readonly view: DataView; readonly count: number } {
    const { start, count } = this.#vector(slot, size) ?? { start: 0, count: 0 };
    const { buffer, byteOffset } = this.#view;
    return { view: new DataView(buffer, byteOffset + start, count * size), count };
  }

  /** Reads the tables of a vector. */
  tables(slot: number): FlatTable[] {
    const { start, count } = this.#vector(slot, 4) ?? { start: 0, count: 0 };
    return Array.from({ length: count }, (_, index) => this.#tableAt(start + 4 * index));
  }

  #tableAt(at: number): FlatTable {
    return new FlatTable(this.#view, at + this.#view.getUint32(at, true), this.#budget);
  }

  #vector(slot: number, size: number): { readonly start: number; readonly count: number } | undefined {
    const field = this.#field(slot, 4);
    if (field === 0) return undefined;
    const at = field + this.#view.getUint32(field, true);
    if (at + 4 > this.#view.byteLength) damaged("a vector of its metadata is outside of it");
    const count = this.#view.getUint32(at, true);
    if (at + 4 + count * size > this.#view.byteLength) {
      damaged(`a vector of ${count} elements does not fit the metadata`);
    }
    this.#budget.left -= 4 + count * size;
    if (this.#budget.left < 0) damaged("its metadata refers to the same bytes too often");
    return { start: at + 4, count };
  }
}

/** Opens the root table of a buffer. */
export function rootTable(bytes: Uint8Array): FlatTable {
  if (bytes.length < 8) damaged(`${bytes.length} bytes of metadata are too few`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  return new FlatTable(view, view.getUint32(0, true), { left: LEAST_BUDGET + REUSE * bytes.length });
}

/** Reads a 64-bit integer that must be a safe one. */
export function safeInt64(view: DataView, at: number): number {
  const value = Number(view.getBigInt64(at, true));
  if (!Number.isSafeInteger(value)) damaged(`a number of its metadata is ${value}`);
  return value;
}
