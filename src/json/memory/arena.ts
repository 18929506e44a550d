/**
 * Where a batch's JSON is gathered: memory that belongs to one result, and is written again only after it was given
 * back.
 *
 * @module
 */

import type { SpareMemory } from "./spare.ts";

/** Bytes that one result can hold: its offsets are of 32 bits. */
export const LARGEST = 4294967295;

/**
 * Up to here an arena grows by copying. What is larger is counted first and then allocated at once, so that no more
 * than this is held twice, and a batch that would pass LARGEST is refused without ever holding it.
 */
const GROWN = 1 << 28;

/** A row that is too large is counted up to here, so that its exact size can be told. */
const COUNTED = 1 << 28;

/** Memory that may be held beyond what is used. */
const SPARE_MEMORY = 1 << 20;

/** Thrown when the arena has what it may hold; the row that passed it is not part of the result. */
export const STOP: unique symbol = Symbol("jetrow.stop");

/** Limits of an arena. */
export interface ArenaLimits {
  /** Rows after the first stop before this many bytes. */
  readonly maxBytes: number;
  /** Bytes of one row: what is beyond is counted, not kept. */
  readonly maxRowBytes: number;
}

/** Gathers bytes, row by row. */
export class Arena {
  /** Bytes gathered or counted so far. */
  used = 0;
  /** Where the current row begins. */
  rowStart = 0;
  /** Whether bytes are only counted: the batch is too large to grow into, or the row too large to keep. */
  counting = false;
  /** How many bytes were kept when counting began for want of memory; -1 where it did not. */
  countedFrom = -1;
  /** The part of the batch that is done: what is gathered by then tells what all will take. */
  progress = 1;
  readonly #limits: ArenaLimits;
  /** Memory that was spare: what of it is not used is not wasted, since it goes back. */
  readonly #spare: Uint8Array<ArrayBuffer> | undefined;
  #memory: Uint8Array<ArrayBuffer>;

  /** An arena of no bytes, or of memory that is spare. */
  constructor(limits: ArenaLimits, spare?: SpareMemory) {
    this.#limits = limits;
    this.#spare = spare?.take();
    this.#memory = this.#spare ?? new Uint8Array(0);
  }

  /** Adds bytes; throws STOP, or counts on, where a limit is passed. */
  add(source: Uint8Array, start: number, end: number): void {
    const size = end - start;
    if (!this.counting) this.#keep(source, start, end);
    this.used += size;
    const row = this.used - this.rowStart;
    if (row > this.#limits.maxRowBytes) {
      this.counting = true;
      if (row > COUNTED) throw STOP;
    }
    if (this.used > LARGEST) throw STOP;
    if (this.rowStart > 0 && this.used > this.#limits.maxBytes) throw STOP;
  }

  /** Goes back to a row that begins in what was kept, with memory for all of `size` bytes. */
  resume(from: number, size: number): void {
    this.rowStart = from;
    const kept = this.#memory.subarray(0, this.rowStart);
    this.#memory = new Uint8Array(size);
    this.#memory.set(kept);
    this.used = this.rowStart;
    this.counting = false;
    this.countedFrom = -1;
  }

  /** The bytes up to a position; copied where most of the memory was not needed. */
  take(end: number): Uint8Array<ArrayBuffer> {
    const waste = this.#memory === this.#spare ? 0 : this.#memory.length - end;
    return waste > end + SPARE_MEMORY ? this.#memory.slice(0, end) : this.#memory.subarray(0, end);
  }

  #keep(source: Uint8Array, start: number, end: number): void {
    const needed = this.used + end - start;
    if (needed > this.#memory.length && !this.#grow(needed)) {
      this.counting = true;
      this.countedFrom = this.used;
      return;
    }
    this.#memory.set(start === 0 && end === source.length ? source : source.subarray(start, end), this.used);
  }

  #grow(needed: number): boolean {
    if (needed > GROWN) return false;
    const guess = Math.max(needed / this.progress * 1.06, this.#memory.length * 2);
    const grown = new Uint8Array(
      Math.max(needed, Math.min(Math.ceil(guess), GROWN, this.#limits.maxBytes + SPARE_MEMORY)),
    );
    grown.set(this.#memory.subarray(0, this.used));
    this.#memory = grown;
    return true;
  }
}
