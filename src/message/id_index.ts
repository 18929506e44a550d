/**
 * Which row of a batch had an id first: two rows with one id and different bodies would leave one message.
 *
 * @module
 */

/** Places of an empty table. */
const SMALLEST = 64;

/** Places that are moved to a larger table with each id: at least two, so that it is done before the next one. */
const MOVED = 32;

/**
 * An open-addressed table over the first eight hex digits of ids. It holds eight bytes a place and no object a row; a
 * match is a candidate, which the caller compares by event id.
 *
 * It grows with the ids, not with the rows of the batch, and is moved to a larger table step by step: with four million
 * ids, moving all of it at once took 45 to 180 ms, in which no answer was read.
 */
export class IdIndex {
  #table = new Table(SMALLEST);
  /** The table before, while its ids are moved; its places before `#moved` are done. */
  #old: Table | undefined;
  #moved = 0;

  /** Bytes that the index takes now: at most 48 per id, beyond its smallest size. */
  get bytes(): number {
    return this.#table.bytes + (this.#old?.bytes ?? 0);
  }

  /**
   * Adds a row by its id's hex digits at `ids[at, at + 64)`. `same` is asked about each earlier row with the same
   * first digits; the row for which it says yes is returned and nothing is added; else -1.
   */
  add(row: number, ids: Uint8Array, at: number, same: (earlier: number) => boolean): number {
    const key = keyAt(ids, at);
    if (this.#table.isFull) {
      this.#old = this.#table;
      this.#moved = 0;
      this.#table = new Table(this.#old.places * 2);
    }
    this.#move();
    // What is moved stays in the old table, too: an id is in one of them, whatever is done.
    const earlier = this.#old?.find(key, same) ?? -1;
    return earlier >= 0 ? earlier : this.#table.add(row, key, same);
  }

  #move(): void {
    const old = this.#old;
    if (old === undefined) return;
    const end = Math.min(old.places, this.#moved + MOVED);
    for (; this.#moved < end; this.#moved++) old.copy(this.#moved, this.#table);
    if (end === old.places) this.#old = undefined;
  }
}

/** A table of a fixed number of places, a power of two; half of them may be used. */
class Table {
  /** Row numbers from 1 on; 0 for a free place: memory that is zero as it comes need not be written. */
  readonly #rows: Int32Array;
  readonly #keys: Int32Array;
  #used = 0;

  constructor(places: number) {
    this.#rows = new Int32Array(places);
    this.#keys = new Int32Array(places);
  }

  get places(): number {
    return this.#rows.length;
  }

  get bytes(): number {
    return this.#rows.byteLength + this.#keys.byteLength;
  }

  get isFull(): boolean {
    return this.#used * 2 >= this.#rows.length;
  }

  /** Returns the row of a key for which `same` says yes; -1 without one. */
  find(key: number, same: (earlier: number) => boolean): number {
    const place = this.#placeOf(key, same);
    return this.#rows[place]! - 1;
  }

  /** Adds a row, and returns -1, unless `same` says yes to an earlier one of its key: returns that one. */
  add(row: number, key: number, same: (earlier: number) => boolean): number {
    const place = this.#placeOf(key, same);
    const earlier = this.#rows[place]! - 1;
    if (earlier >= 0) return earlier;
    this.#rows[place] = row + 1;
    this.#keys[place] = key;
    this.#used++;
    return -1;
  }

  /** Copies what is in a place to another table. */
  copy(place: number, to: Table): void {
    if (this.#rows[place] !== 0) to.add(this.#rows[place]! - 1, this.#keys[place]!, never);
  }

  #placeOf(key: number, same: (earlier: number) => boolean): number {
    const mask = this.#rows.length - 1;
    let place = key & mask;
    for (; this.#rows[place] !== 0; place = (place + 1) & mask) {
      if (this.#keys[place] === key && same(this.#rows[place]! - 1)) break;
    }
    return place;
  }
}

const never = (): boolean => false;

/** The first eight hex digits as 32 bits. */
function keyAt(ids: Uint8Array, at: number): number {
  let key = 0;
  for (let i = at; i < at + 8; i++) {
    const char = ids[i]!;
    key = (key << 4) | (char < 58 ? char - 48 : char - 87);
  }
  return key;
}
