/**
 * The window: which messages are outstanding, how many bytes they are, and when each must be answered. No clock, no
 * I/O.
 *
 * A slot is an index into plain arrays; a token is a slot and its generation in one number, so that a late, repeated
 * or foreign answer finds another generation and changes nothing. Slots are linked in order of submission, which is
 * the order of their deadlines, since all messages have the same time to be answered.
 *
 * @module
 */

const NONE = -1;

/** Outstanding messages, limited in count and bytes; `O` is what a message belongs to. */
export class Window<O extends object> {
  readonly #maxBytes: number;
  readonly #capacity: number;
  readonly #owners: (O | undefined)[] = [];
  readonly #rows: Int32Array;
  readonly #sizes: Float64Array;
  readonly #tokens: Float64Array;
  readonly #deadlines: Float64Array;
  readonly #older: Int32Array;
  readonly #newer: Int32Array;
  readonly #free: Int32Array;
  #freeCount: number;
  #oldest = NONE;
  #newest = NONE;
  #bytes = 0;

  /** What the last call of {@linkcode take} or {@linkcode expire} freed. */
  owner: O | undefined;
  /** The row of what was freed last. */
  row = NONE;

  /** An empty window for `maxCount` messages of `maxBytes` together. */
  constructor(maxCount: number, maxBytes: number) {
    this.#capacity = maxCount;
    this.#maxBytes = maxBytes;
    this.#rows = new Int32Array(maxCount);
    this.#sizes = new Float64Array(maxCount);
    this.#tokens = new Float64Array(maxCount);
    this.#deadlines = new Float64Array(maxCount);
    this.#older = new Int32Array(maxCount);
    this.#newer = new Int32Array(maxCount);
    this.#free = new Int32Array(maxCount);
    this.#freeCount = maxCount;
    for (let slot = 0; slot < maxCount; slot++) {
      this.#free[slot] = maxCount - 1 - slot;
      this.#tokens[slot] = slot;
      this.#owners.push(undefined);
    }
  }

  /** Messages outstanding. */
  get count(): number {
    return this.#capacity - this.#freeCount;
  }

  /** Bytes outstanding. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The earliest deadline; Infinity when nothing is outstanding. */
  get nextDeadline(): number {
    return this.#oldest === NONE ? Infinity : this.#deadlines[this.#oldest]!;
  }

  /** Whether a message of this size may be submitted now. */
  fits(bytes: number): boolean {
    return this.#freeCount > 0 && this.#bytes + bytes <= this.#maxBytes;
  }

  /**
   * Takes a place before the message is sent. The caller has asked {@linkcode fits}. Deadlines never fall from call to
   * call.
   */
  reserve(owner: O, row: number, bytes: number, deadline: number): number {
    if (!this.fits(bytes)) throw new RangeError(`Cannot reserve ${bytes} bytes: the window has no room for them`);
    const slot = this.#free[--this.#freeCount]!;
    this.#owners[slot] = owner;
    this.#rows[slot] = row;
    this.#sizes[slot] = bytes;
    this.#deadlines[slot] = deadline;
    this.#older[slot] = this.#newest;
    this.#newer[slot] = NONE;
    if (this.#newest === NONE) this.#oldest = slot;
    else this.#newer[this.#newest] = slot;
    this.#newest = slot;
    this.#bytes += bytes;
    return this.#tokens[slot]!;
  }

  /**
   * Frees the message of a token and leaves its owner and row in `owner` and `row`; false, and nothing done, for any
   * other token.
   */
  take(token: number): boolean {
    const slot = token % this.#capacity;
    // A token that is no whole number has no slot; one of another generation or a free slot is not outstanding.
    if (this.#tokens[slot] !== token || this.#owners[slot] === undefined) return false;
    this.#release(slot);
    return true;
  }

  /** Whose message a token stands for; undefined when it is not outstanding. */
  peek(token: number): O | undefined {
    const slot = token % this.#capacity;
    return this.#tokens[slot] === token ? this.#owners[slot] : undefined;
  }

  /** Frees the oldest message if its deadline has come; false when there is none. */
  expire(now: number): boolean {
    if (this.nextDeadline > now) return false;
    this.#release(this.#oldest);
    return true;
  }

  /**
   * Frees the messages of one owner, and calls back with each row; of every owner when none is given. It looks no further
   * when it has found as many as there can be: of thousands of calls that end together, each would pass all the others'.
   */
  detach(owner?: O, each?: (owner: O, row: number) => void, most = Infinity): void {
    let found = 0;
    for (let slot = this.#oldest; slot !== NONE && found < most;) {
      const next = this.#newer[slot]!;
      const whose = this.#owners[slot]!;
      if (owner === undefined || whose === owner) {
        this.#release(slot);
        found++;
        each?.(whose, this.row);
      }
      slot = next;
    }
  }

  #release(slot: number): void {
    this.owner = this.#owners[slot];
    this.row = this.#rows[slot]!;
    this.#owners[slot] = undefined;
    // The next token of this slot: another generation, so that this one is stale from now on.
    this.#tokens[slot] = this.#tokens[slot]! + this.#capacity;
    this.#bytes -= this.#sizes[slot]!;
    const older = this.#older[slot]!;
    const newer = this.#newer[slot]!;
    if (older === NONE) this.#oldest = newer;
    else this.#newer[older] = newer;
    if (newer === NONE) this.#newest = older;
    else this.#older[newer] = older;
    this.#free[this.#freeCount++] = slot;
  }
}
