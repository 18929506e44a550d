/**
 * One timer for all deadlines, fair to answers that have come but were not read.
 *
 * @module
 */

import { LONGEST_TIMER } from "../../options/values.ts";

/** Milliseconds that never go back: deadlines must not move with the wall clock. */
export function now(): number {
  return performance.now();
}

/**
 * Calls back when the earliest deadline has come. A long synchronous stretch (encoding, say) makes timers fire before
 * the answers that arrived meanwhile are read. So an expired timer lets the event loop turn first: once, and for as
 * long as the loop was blocked while each turn brings answers.
 */
export class ExpiryTimer {
  readonly #next: () => number;
  readonly #due: (time: number) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #at = Infinity;
  #answers = 0;

  /**
   * A timer for `next()`, in milliseconds of {@linkcode now}, Infinity for none; `due` is told the time up to which
   * deadlines have come.
   */
  constructor(next: () => number, due: (time: number) => void) {
    this.#next = next;
    this.#due = due;
  }

  /** Answers were read. */
  noteAnswer(): void {
    this.#answers++;
  }

  /** Sets the timer, unless it fires early enough already. */
  arm(): void {
    const next = this.#next();
    if (this.#timer !== undefined && this.#at <= next) return;
    this.stop();
    if (next === Infinity) return;
    this.#at = next;
    // Timers may fire up to a millisecond early; one that is set for too long would fire at once.
    const delay = Math.min(LONGEST_TIMER, Math.max(0, next - now()) + 1);
    this.#timer = setTimeout(() => this.#fired(), delay);
  }

  /** Clears the timer. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#at = Infinity;
  }

  #fired(): void {
    const time = now();
    // Deadlines that were moved or met since the timer was set.
    if (this.#next() > time) return this.#again();
    const blocked = time - this.#next();
    this.#turn(time, time + blocked);
  }

  #turn(time: number, until: number): void {
    const seen = this.#answers;
    this.#timer = setTimeout(() => {
      if (this.#answers > seen && now() < until) return this.#turn(time, until);
      this.#timer = undefined;
      this.#at = Infinity;
      this.#due(time);
      this.arm();
    }, 0);
  }

  #again(): void {
    this.#timer = undefined;
    this.#at = Infinity;
    this.arm();
  }
}
