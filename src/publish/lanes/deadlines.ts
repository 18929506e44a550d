/**
 * One timer for all deadlines. It lets answers that have arrived be read before their rows expire.
 *
 * @module
 */

import { LONGEST_TIMER } from "../../options/values.ts";

/** Returns milliseconds of a clock that never goes back: deadlines must not move with the wall clock. */
export function now(): number {
  return performance.now();
}

/**
 * Calls back when the earliest deadline has come. After a long synchronous task (encoding, for example) timers fire
 * before the answers that arrived meanwhile are read. So an expired timer lets the event loop turn first: once, and
 * further, up to the time for which the loop was blocked, while each turn brings answers.
 */
export class ExpiryTimer {
  readonly #next: () => number;
  readonly #due: (time: number) => void;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #at = Infinity;
  #answers = 0;

  /**
   * Creates a timer. `next` returns the earliest deadline in milliseconds of {@linkcode now}, Infinity for none. `due`
   * is called with the time up to which deadlines have come.
   */
  constructor(next: () => number, due: (time: number) => void) {
    this.#next = next;
    this.#due = due;
  }

  /** Notes that an answer was read. */
  noteAnswer(): void {
    this.#answers++;
  }

  /** Sets the timer, unless it already fires early enough. */
  arm(): void {
    const next = this.#next();
    if (this.#timer !== undefined && this.#at <= next) return;
    this.stop();
    if (next === Infinity) return;
    this.#at = next;
    // Timers may fire up to a millisecond early. A delay above LONGEST_TIMER would fire at once.
    const delay = Math.min(LONGEST_TIMER, Math.max(0, next - now()) + 1);
    this.#timer = setTimeout(() => this.#fire(), delay);
  }

  /** Clears the timer. */
  stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#at = Infinity;
  }

  #fire(): void {
    const time = now();
    // The deadline was moved or met since the timer was set.
    if (this.#next() > time) return this.#rearm();
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

  #rearm(): void {
    this.#timer = undefined;
    this.#at = Infinity;
    this.arm();
  }
}
