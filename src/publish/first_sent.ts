/**
 * When each row of a call was first sent.
 *
 * @module
 */

import { lowerBound } from "../util/lower_bound.ts";
import type { Moment } from "../stream/resend.ts";

/** Rows that are sent within this many milliseconds share a mark: the first one's. */
const GRAIN = 50;

/**
 * The first submissions of rows, in row order. One mark serves the rows of some milliseconds, since a clock read per row
 * would cost: the time of a row is never after the true one, and at most a grain before it.
 */
export class FirstSent {
  readonly #rows: number[] = [];
  readonly #moments: Moment[] = [];
  /** Rows before this one were sent. */
  #sent = 0;

  /** Notes that rows `from` to `to` (exclusive) are sent now: what was sent before keeps its time. */
  mark(from: number, to: number, steady: number): void {
    if (to <= this.#sent) return;
    const first = Math.max(from, this.#sent);
    this.#sent = to;
    const last = this.#moments.at(-1);
    if (last !== undefined && steady - last.steady < GRAIN) return;
    this.#rows.push(first);
    this.#moments.push({ wall: Date.now(), steady });
  }

  /** Returns when a row was first sent; undefined if it was not. */
  of(row: number): Moment | undefined {
    if (row >= this.#sent) return undefined;
    return this.#moments[lowerBound(0, this.#rows.length, (at) => this.#rows[at]!, row + 1) - 1];
  }
}
