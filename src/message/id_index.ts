/**
 * Finds the row of a batch that had an id first: of two rows with one id and different bodies, one would be lost.
 *
 * @module
 */

/** Slots of an empty table. */
const SMALLEST = 64;

/** Slots that are moved to a larger table per added id: at least two, so that a move ends before the next one. */
const MOVED = 32;

/**
 * An open-addressed table over the first eight hex digits of ids. It holds eight bytes per slot and no object per
 * row. A match is a candidate, which the caller compares by event id.
 *
 * It grows with the ids, not with the rows of the batch, and is moved to a larger table step by step: with four million
 * ids, moving all of it at once took 45 to 180 ms, in which no answer was read.
 */
export class IdIndex {
  #table = new Table(SMALLEST);
  /** The previous table while its ids are moved; its slots before `#moved` are done. */
  #old: Table | undefined;
  #moved = 0;

  /** The bytes of the index: at most 48 per id beyond its smallest size. */
  get bytes(): number {
    return this.#table.bytes + (this.#old?.bytes ?? 0);
  }

  /**
   * Adds a row by its id's hex digits at `ids[at, at + 64)` and returns -1. If `same` returns true for an earlier row with
   * the same first digits, returns that row and adds nothing.
   */
  add(row: number, ids: Uint8Array, at: number, same: (earlier: number) => boolean): number {
    const key = keyAt(ids, at);
    if (this.#table.isFull) {
      this.#old = this.#table;
      this.#moved = 0;
      this.#table = new Table(this.#old.slots * 2);
    }
    this.#move();
    // Moved ids also stay in the old table: every id is in one of the two.
    const earlier = this.#old?.find(key, same) ?? -1;
    return earlier >= 0 ? earlier : this.#table.add(row, key, same);
  }

  #move(): void {
    const old = this.#old;
    if (old === undefined) return;
    const end = Math.min(old.slots, this.#moved + MOVED);
    for (; this.#moved < end; this.#moved++) old.copy(this.#moved, this.#table);
    if (end === old.slots) this.#old = undefined;
  }
}

/** A table with a fixed number of slots, a power of two; half of them may be used. */
class Table {
  /** Row numbers from 1 on; 0 is a free slot, so that new memory need not be written. */
  readonly #rows: Int32Array;
  readonly #keys: Int32Array;
  #used = 0;

  constructor(slots: number) {
    this.#rows = new Int32Array(slots);
    this.#keys = new Int32Array(slots);
  }

  get slots(): number {
    return this.#rows.length;
  }

  get bytes(): number {
    return this.#rows.byteLength + this.#keys.byteLength;
  }

  get isFull(): boolean {
    return this.#used * 2 >= this.#rows.length;
  }

  /** Returns the row of a key for which `same` returns true; -1 without one. */
  find(key: number, same: (earlier: number) => boolean): number {
    const slot = this.#slotOf(key, same);
    return this.#rows[slot]! - 1;
  }

  /** Adds a row and returns -1. If `same` returns true for an earlier row of its key, returns that one. */
  add(row: number, key: number, same: (earlier: number) => boolean): number {
    const slot = this.#slotOf(key, same);
    const earlier = this.#rows[slot]! - 1;
    if (earlier >= 0) return earlier;
    this.#rows[slot] = row + 1;
    this.#keys[slot] = key;
    this.#used++;
    return -1;
  }

  /** Copies a slot to another table. */
  copy(slot: number, to: Table): void {
    if (this.#rows[slot] !== 0) to.add(this.#rows[slot]! - 1, this.#keys[slot]!, never);
  }

  #slotOf(key: number, same: (earlier: number) => boolean): number {
    const mask = this.#rows.length - 1;
    let slot = key & mask;
    for (; this.#rows[slot] !== 0; slot = (slot + 1) & mask) {
      if (this.#keys[slot] === key && same(this.#rows[slot]! - 1)) break;
    }
    return slot;
  }
}

const never = (): boolean => false;

/** Returns the first eight hex digits as 32 bits. */
function keyAt(ids: Uint8Array, at: number): number {
  let key = 0;
  for (let i = at; i < at + 8; i++) {
    const char = ids[i]!;
    key = (key << 4) | (char < 58 ? char - 48 : char - 87);
  }
  return key;
}
