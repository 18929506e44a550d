/**
 * Which row of a batch had an id first: two rows with one id and different bodies would leave one message.
 *
 * @module
 */

const EMPTY = -1;
const SMALLEST = 1024;

/**
 * An open-addressed table over the first eight hex digits of ids. It holds eight bytes a place and no object a row; a
 * match is a candidate, which the caller compares by event id.
 */
export class IdIndex {
  #rows = new Int32Array(SMALLEST).fill(EMPTY);
  #keys = new Int32Array(SMALLEST);
  #used = 0;

  /** Ids that the table has room for: it grows with the ids, not with the rows of the batch. */
  get capacity(): number {
    return this.#rows.length / 2;
  }

  /**
   * Adds a row by its id's hex digits at `ids[at, at + 64)`. `same` is asked about each earlier row with the same
   * first digits; the row for which it says yes is returned and nothing is added; else -1.
   */
  add(row: number, ids: Uint8Array, at: number, same: (earlier: number) => boolean): number {
    if (this.#used * 2 >= this.#rows.length) this.#grow();
    const key = keyAt(ids, at);
    const mask = this.#rows.length - 1;
    let place = key & mask;
    for (; this.#rows[place] !== EMPTY; place = (place + 1) & mask) {
      if (this.#keys[place] === key && same(this.#rows[place]!)) return this.#rows[place]!;
    }
    this.#rows[place] = row;
    this.#keys[place] = key;
    this.#used++;
    return -1;
  }

  #grow(): void {
    const rows = this.#rows;
    const keys = this.#keys;
    const mask = rows.length * 2 - 1;
    this.#rows = new Int32Array(mask + 1).fill(EMPTY);
    this.#keys = new Int32Array(mask + 1);
    for (let i = 0; i < rows.length; i++) {
      if (rows[i] === EMPTY) continue;
      let place = keys[i]! & mask;
      while (this.#rows[place] !== EMPTY) place = (place + 1) & mask;
      this.#rows[place] = rows[i]!;
      this.#keys[place] = keys[i]!;
    }
  }
}

/** The first eight hex digits as 32 bits. */
function keyAt(ids: Uint8Array, at: number): number {
  let key = 0;
  for (let i = at; i < at + 8; i++) {
    const char = ids[i]!;
    key = (key << 4) | (char < 58 ? char - 48 : char - 87);
  }
  return key;
}
