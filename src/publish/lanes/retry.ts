/**
 * Rows that wait to be resent, within a budget of time that counts from a call's first failed row.
 *
 * @module
 */

import type { Call } from "../call.ts";
import type { RetryWhen } from "../rejection.ts";

/** A row that waits to be resent. */
export interface Waiting {
  /** Its call. */
  readonly call: Call;
  /** Its index in the call. */
  readonly index: number;
  /** When it may be resent, in milliseconds of the lane's clock. */
  readonly due: number;
}

/** The first pause in milliseconds: a leader's step-down takes some 20. Each further pause is twice as long. */
const FIRST_PAUSE = 25;
/** The longest pause in milliseconds. An election takes 4 to 9 s; its end is noticed within this time. */
const LONGEST_PAUSE = 500;
/** How long a row waits while others are sent, in milliseconds: the server settles an id in process in 100 to 500. */
const LATER = 200;

/** A queue by due time. It has one list for each kind of wait: within a list, due times never fall. */
export class RetryQueue {
  readonly #budget: number | undefined;
  readonly #afterPause = new RowList();
  readonly #later = new RowList();
  #pausedUntil = 0;
  #pause = FIRST_PAUSE;

  /** Creates a queue with a budget in milliseconds. Without a budget it accepts no row. */
  constructor(budget: number | undefined) {
    this.#budget = budget;
  }

  /** Whether rows may be resent at all. */
  get enabled(): boolean {
    return this.#budget !== undefined;
  }

  /** How many rows wait. */
  get size(): number {
    return this.#afterPause.size + this.#later.size;
  }

  /** When the next row may be resent, at the earliest when the current pause ends; Infinity if none waits. */
  get due(): number {
    const { first } = this.#next;
    return first === undefined ? Infinity : Math.max(first.due, this.#pausedUntil);
  }

  /** Adds a row whose submission failed at `now`. Returns false if its call's budget ends before it would be resent. */
  add(call: Call, index: number, when: Exclude<RetryWhen, "never">, now: number): boolean {
    if (this.#budget === undefined) return false;
    const due = when === "pause" ? this.#pauseFrom(now) : now + LATER;
    if (due > call.noteFailure(now) + this.#budget) return false;
    (when === "pause" ? this.#afterPause : this.#later).push({ call, index, due });
    return true;
  }

  /** Notes an acknowledgment: the next pause is short again. */
  noteSuccess(): void {
    this.#pause = FIRST_PAUSE;
  }

  /** Whether nothing may be sent now. */
  pausing(now: number): boolean {
    if (now < this.#pausedUntil) return true;
    this.#pausedUntil = 0;
    return false;
  }

  /** When the current pause ends, even if its rows were removed; Infinity without a pause. */
  get pauseEnd(): number {
    return this.#pausedUntil || Infinity;
  }

  /** Returns the next row that may be resent now. */
  peek(now: number): Waiting | undefined {
    return this.due <= now ? this.#next.first : undefined;
  }

  /** Removes the row that {@linkcode peek} returned. */
  shift(): void {
    this.#next.shift();
  }

  /** Removes the rows of a call. Returns how many. */
  remove(call: Call): number {
    return this.#afterPause.remove(call) + this.#later.remove(call);
  }

  /** Removes all rows. */
  clear(): void {
    this.#afterPause.clear();
    this.#later.clear();
  }

  get #next(): RowList {
    const one = this.#afterPause.first?.due ?? Infinity;
    const other = this.#later.first?.due ?? Infinity;
    return one <= other ? this.#afterPause : this.#later;
  }

  /** Returns the end of the current pause, or of a new one: only a refusal after a pause makes the next one longer. */
  #pauseFrom(now: number): number {
    if (now >= this.#pausedUntil) {
      this.#pausedUntil = now + this.#pause;
      this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2);
    }
    return this.#pausedUntil;
  }
}

/** A row in a list. */
interface Entry extends Waiting {
  removed: boolean;
}

/**
 * Rows in the order of their addition. Taking the first one copies nothing, and removing a call's rows visits no other
 * rows: thousands of calls may end together.
 */
class RowList {
  #rows: Entry[] = [];
  #head = 0;
  #size = 0;
  readonly #calls = new Map<Call, Set<Entry>>();

  get size(): number {
    return this.#size;
  }

  get first(): Waiting | undefined {
    return this.#rows[this.#head];
  }

  push(row: Waiting): void {
    const entry = { ...row, removed: false };
    const others = this.#calls.get(row.call);
    if (others === undefined) this.#calls.set(row.call, new Set([entry]));
    else others.add(entry);
    this.#rows.push(entry);
    this.#size++;
  }

  shift(): void {
    const entry = this.#rows[this.#head]!;
    const others = this.#calls.get(entry.call)!;
    others.delete(entry);
    if (others.size === 0) this.#calls.delete(entry.call);
    entry.removed = true;
    this.#size--;
    this.#moveHead();
  }

  remove(call: Call): number {
    const entries = this.#calls.get(call);
    if (entries === undefined) return 0;
    this.#calls.delete(call);
    for (const entry of entries) entry.removed = true;
    this.#size -= entries.size;
    this.#moveHead();
    return entries.size;
  }

  clear(): void {
    this.#calls.clear();
    this.#rows = [];
    this.#head = this.#size = 0;
  }

  /** Moves the head to the first row that was not removed. Drops the rows before it once they are more than half. */
  #moveHead(): void {
    while (this.#rows[this.#head]?.removed) this.#head++;
    if (this.#head === this.#rows.length || (this.#head > 1024 && this.#head * 2 > this.#rows.length)) {
      this.#rows = this.#rows.slice(this.#head);
      this.#head = 0;
    }
  }
}
