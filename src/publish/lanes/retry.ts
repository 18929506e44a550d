/**
 * Rows that wait to be sent again, within a budget of time counted from a call's first failed row.
 *
 * @module
 */

import type { Call } from "../call.ts";
import type { RetryWhen } from "../rejection.ts";

/** A row that waits. */
export interface Waiting {
  /** Its call. */
  readonly call: Call;
  /** Its index in the call. */
  readonly index: number;
  /** When it may go, in milliseconds of the lane's clock. */
  readonly due: number;
}

/** The first pause, in milliseconds: a step-down is over after some 20. Each further one is twice as long. */
const FIRST_PAUSE = 25;
/** The longest pause: an election takes 4 to 9 seconds, and is then noticed within this. */
const LONGEST_PAUSE = 500;
/** What a row waits alone: 100 to 500 ms is what an id in process takes to be settled. */
const LATER = 200;

/** A queue by due time: one line for each kind of wait, since due times of one kind never fall. */
export class RetryQueue {
  readonly #budget: number | undefined;
  readonly #afterPause = new Line();
  readonly #later = new Line();
  #pausedUntil = 0;
  #pause = FIRST_PAUSE;

  /** A queue with a budget in milliseconds; without one it takes nothing. */
  constructor(budget: number | undefined) {
    this.#budget = budget;
  }

  /** Whether rows may be sent again at all. */
  get enabled(): boolean {
    return this.#budget !== undefined;
  }

  /** Rows that wait. */
  get size(): number {
    return this.#afterPause.size + this.#later.size;
  }

  /** When the next one may go; Infinity when none waits. */
  get due(): number {
    return this.#next.first?.due ?? Infinity;
  }

  /** Takes a row whose submission failed at `now`; false when its call's budget does not reach to its next turn. */
  add(call: Call, index: number, when: Exclude<RetryWhen, "never">, now: number): boolean {
    if (this.#budget === undefined) return false;
    const due = when === "pause" ? this.#pauseFrom(now) : now + LATER;
    if (due > call.noteFailure(now) + this.#budget) return false;
    (when === "pause" ? this.#afterPause : this.#later).push({ call, index, due });
    return true;
  }

  /** A row was acknowledged: the next pause is a short one again. */
  succeeded(): void {
    this.#pause = FIRST_PAUSE;
  }

  /** Whether nothing may be sent now. */
  pausing(now: number): boolean {
    if (now < this.#pausedUntil) return true;
    this.#pausedUntil = 0;
    return false;
  }

  /** When a pause ends: also one whose rows were forgotten. Infinity when there is none. */
  get pauseEnd(): number {
    return this.#pausedUntil || Infinity;
  }

  /** The next row whose time has come. */
  peek(now: number): Waiting | undefined {
    const { first } = this.#next;
    return first !== undefined && first.due <= now ? first : undefined;
  }

  /** Takes the row that {@linkcode peek} showed. */
  shift(): void {
    this.#next.shift();
  }

  /** Forgets a call's rows; gives how many. */
  remove(call: Call): number {
    return this.#afterPause.remove(call) + this.#later.remove(call);
  }

  /** Forgets all rows. */
  clear(): void {
    this.#afterPause.clear();
    this.#later.clear();
  }

  get #next(): Line {
    const one = this.#afterPause.first?.due ?? Infinity;
    const other = this.#later.first?.due ?? Infinity;
    return one <= other ? this.#afterPause : this.#later;
  }

  /** All rows refused during one pause wait for its end: only what is refused after it makes the next one longer. */
  #pauseFrom(now: number): number {
    if (now >= this.#pausedUntil) {
      this.#pausedUntil = now + this.#pause;
      this.#pause = Math.min(LONGEST_PAUSE, this.#pause * 2);
    }
    return this.#pausedUntil;
  }
}

/** A row in a line. */
interface Place extends Waiting {
  /** Whether it was forgotten. */
  gone: boolean;
}

/**
 * Rows in the order in which they came, with a moving head: taking one copies nothing, and forgetting a call's rows
 * touches no others, since thousands of calls may end together.
 */
class Line {
  #rows: Place[] = [];
  #head = 0;
  #size = 0;
  readonly #calls = new Map<Call, Set<Place>>();

  get size(): number {
    return this.#size;
  }

  get first(): Waiting | undefined {
    return this.#rows[this.#head];
  }

  push(row: Waiting): void {
    const place = { ...row, gone: false };
    const others = this.#calls.get(row.call);
    if (others === undefined) this.#calls.set(row.call, new Set([place]));
    else others.add(place);
    this.#rows.push(place);
    this.#size++;
  }

  shift(): void {
    const place = this.#rows[this.#head]!;
    const others = this.#calls.get(place.call)!;
    others.delete(place);
    if (others.size === 0) this.#calls.delete(place.call);
    place.gone = true;
    this.#size--;
    this.#moveHead();
  }

  remove(call: Call): number {
    const places = this.#calls.get(call);
    if (places === undefined) return 0;
    this.#calls.delete(call);
    for (const place of places) place.gone = true;
    this.#size -= places.size;
    this.#moveHead();
    return places.size;
  }

  clear(): void {
    this.#calls.clear();
    this.#rows = [];
    this.#head = this.#size = 0;
  }

  /** To the first row that was not forgotten; what is behind the head goes when it is the larger half. */
  #moveHead(): void {
    while (this.#rows[this.#head]?.gone) this.#head++;
    if (this.#head === this.#rows.length || (this.#head > 1024 && this.#head * 2 > this.#rows.length)) {
      this.#rows = this.#rows.slice(this.#head);
      this.#head = 0;
    }
  }
}
