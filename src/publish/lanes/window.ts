/**
 * The window: which messages are outstanding, how many bytes they have, and when each must be answered. No clock, no
 * I/O.
 *
 * A slot is an index into plain arrays. A token is a slot and its generation in one number: a late, repeated or foreign
 * answer has another generation and changes nothing. Slots are linked in order of submission, which is the order of
 * their deadlines, since all messages have the same time to be answered.
 *
 * @module
 */

const NONE = -1;

/** The outstanding messages of one owner, linked in a ring in order of submission. */
interface Group<O> {
  readonly owner: O;
  /** The slot of the newest message, which the oldest follows; NONE if none is outstanding. */
  newest: number;
}

/** Outstanding messages, limited in count and bytes. `O` is the type of a message's owner. */
export class Window<O extends object> {
  readonly #maxBytes: number;
  readonly #capacity: number;
  /** The group of each slot's owner; undefined for a free slot. */
  readonly #groups: (Group<O> | undefined)[] = [];
  readonly #groupOf = new Map<O, Group<O>>();
  /** The group of the last reservation. It is kept even if empty: the next message probably has the same owner. */
  #group: Group<O> | undefined;
  readonly #rows: Int32Array;
  readonly #sizes: Float64Array;
  readonly #tokens: Float64Array;
  readonly #deadlines: Float64Array;
  readonly #older: Int32Array;
  readonly #newer: Int32Array;
  /** The neighbors in the ring of the owner's messages. */
  readonly #before: Int32Array;
  readonly #after: Int32Array;
  readonly #free: Int32Array;
  #freeCount: number;
  #oldest = NONE;
  #newest = NONE;
  #bytes = 0;

  /** The owner of the message that {@linkcode take} or {@linkcode expire} freed last. */
  owner: O | undefined;
  /** The row of that message. */
  row = NONE;

  /** Creates an empty window for `maxCount` messages of `maxBytes` together. */
  constructor(maxCount: number, maxBytes: number) {
    this.#capacity = maxCount;
    this.#maxBytes = maxBytes;
    this.#rows = new Int32Array(maxCount);
    this.#sizes = new Float64Array(maxCount);
    this.#tokens = new Float64Array(maxCount);
    this.#deadlines = new Float64Array(maxCount);
    this.#older = new Int32Array(maxCount);
    this.#newer = new Int32Array(maxCount);
    this.#before = new Int32Array(maxCount);
    this.#after = new Int32Array(maxCount);
    this.#free = new Int32Array(maxCount);
    this.#freeCount = maxCount;
    for (let slot = 0; slot < maxCount; slot++) {
      this.#free[slot] = maxCount - 1 - slot;
      this.#tokens[slot] = slot;
      this.#groups.push(undefined);
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

  /** The earliest deadline; Infinity if nothing is outstanding. */
  get nextDeadline(): number {
    return this.#oldest === NONE ? Infinity : this.#deadlines[this.#oldest]!;
  }

  /** Whether a message of this size may be submitted now. */
  fits(bytes: number): boolean {
    return this.#freeCount > 0 && this.#bytes + bytes <= this.#maxBytes;
  }

  /**
   * Reserves a slot for a message that {@linkcode fits}, before it is sent. Returns its token. Deadlines never fall
   * from call to call.
   */
  reserve(owner: O, row: number, bytes: number, deadline: number): number {
    if (!this.fits(bytes)) throw new RangeError(`Cannot reserve ${bytes} bytes: the window has no room for them`);
    const slot = this.#free[--this.#freeCount]!;
    this.#join(slot, owner);
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

  /** Frees the slot of `token` and sets `owner` and `row`. Returns false for a stale or unknown token. */
  take(token: number): boolean {
    const slot = token % this.#capacity;
    // A token that is not a whole number has no slot; one of another generation, or of a free slot, is stale.
    if (this.#tokens[slot] !== token || this.#groups[slot] === undefined) return false;
    this.#release(slot);
    return true;
  }

  /** Returns the owner of the message of `token`; undefined for a stale or unknown token. */
  peek(token: number): O | undefined {
    const slot = token % this.#capacity;
    return this.#tokens[slot] === token ? this.#groups[slot]?.owner : undefined;
  }

  /** Frees the oldest message if its deadline has come, and sets `owner` and `row`. Returns false otherwise. */
  expire(now: number): boolean {
    if (this.nextDeadline > now) return false;
    this.#release(this.#oldest);
    return true;
  }

  /** Frees the messages of one owner, or of all, oldest first. Calls `each` with each of them. */
  detach(owner?: O, each?: (owner: O, row: number) => void): void {
    const group = owner === undefined ? undefined : this.#groupOf.get(owner);
    if (owner !== undefined && group === undefined) return;
    for (let slot = this.#oldestOf(group); slot !== NONE; slot = this.#oldestOf(group)) {
      this.#release(slot);
      each?.(this.owner!, this.row);
    }
  }

  /** Returns the slot of the oldest message of a group, or of all. */
  #oldestOf(group: Group<O> | undefined): number {
    if (group === undefined) return this.#oldest;
    return group.newest === NONE ? NONE : this.#after[group.newest]!;
  }

  /** Adds a slot to its owner's ring. */
  #join(slot: number, owner: O): void {
    const group = this.#group?.owner === owner ? this.#group : this.#enter(owner);
    this.#groups[slot] = group;
    const last = group.newest === NONE ? slot : group.newest;
    const first = group.newest === NONE ? slot : this.#after[last]!;
    this.#before[slot] = last;
    this.#after[last] = slot;
    this.#after[slot] = first;
    this.#before[first] = slot;
    group.newest = slot;
  }

  /** Makes an owner's group the current one, and returns it. */
  #enter(owner: O): Group<O> {
    const left = this.#group;
    if (left?.newest === NONE) this.#groupOf.delete(left.owner);
    let group = this.#groupOf.get(owner);
    if (group === undefined) this.#groupOf.set(owner, group = { owner, newest: NONE });
    return this.#group = group;
  }

  /** Removes a slot from its owner's ring. */
  #leave(slot: number, group: Group<O>): void {
    this.#groups[slot] = undefined;
    const before = this.#before[slot]!;
    const after = this.#after[slot]!;
    this.#after[before] = after;
    this.#before[after] = before;
    if (group.newest !== slot) return;
    group.newest = before === slot ? NONE : before;
    if (group.newest === NONE && group !== this.#group) this.#groupOf.delete(group.owner);
  }

  #release(slot: number): void {
    const group = this.#groups[slot]!;
    this.owner = group.owner;
    this.row = this.#rows[slot]!;
    this.#leave(slot, group);
    // The slot's next token has another generation: this one is stale from now on.
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
