/**
 * Collects the JSON of one result. Its memory is reused only after the owner of the result has given it back.
 *
 * @module
 */

import type { SpareMemory } from "./spare.ts";

/** Bytes that one result can hold: its offsets have 32 bits. */
export const LARGEST = 4294967295;

/**
 * Up to this size an arena grows by copying. A larger result is counted first and then allocated at once: no more than
 * this is held twice, and a result above LARGEST is refused without being held.
 */
const GROWN = 1 << 28;

/** A row that is too large is counted up to this size, so that the error has its exact size. */
const COUNTED = 1 << 28;

/** Unused bytes that a result may keep. */
const SPARE_MEMORY = 1 << 20;

/** Thrown when a limit is exceeded; the row that exceeds it is not part of the result. */
export const STOP: unique symbol = Symbol("jetrow.stop");

/** Limits of an arena. */
export interface ArenaLimits {
  /** Rows after the first stop before this many bytes. */
  readonly maxBytes: number;
  /** Largest row, in bytes: more is counted, not kept. */
  readonly maxRowBytes: number;
}

/** Collects bytes, row by row. */
export class Arena {
  /** Bytes collected or counted so far. */
  used = 0;
  /** Position of the current row. */
  rowStart = 0;
  /** Whether bytes are only counted: the result is too large to grow by copying, or the row too large to keep. */
  counting = false;
  /** Bytes kept when counting began because the result cannot grow by copying; -1 if it did not begin. */
  countedFrom = -1;
  /** The fraction of the rows that is encoded, to estimate the size of the whole. */
  progress = 1;
  readonly #limits: ArenaLimits;
  /** The reused memory, if any: its unused part is not wasted, because it is given back. */
  readonly #spare: Uint8Array<ArrayBuffer> | undefined;
  #memory: Uint8Array<ArrayBuffer>;

  /** Creates an arena over spare memory, if there is some. */
  constructor(limits: ArenaLimits, spare?: SpareMemory) {
    this.#limits = limits;
    this.#spare = spare?.take();
    this.#memory = this.#spare ?? new Uint8Array(0);
  }

  /** Adds bytes. Throws STOP, or only counts from then on, when a limit is exceeded. */
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

  /** Goes back to `from`, the position of a row in the kept bytes, with memory for `size` bytes. */
  resume(from: number, size: number): void {
    this.rowStart = from;
    const kept = this.#memory.subarray(0, this.rowStart);
    this.#memory = new Uint8Array(size);
    this.#memory.set(kept);
    this.used = this.rowStart;
    this.counting = false;
    this.countedFrom = -1;
  }

  /** Returns the bytes up to `end`, copied if most of the memory is unused. */
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
