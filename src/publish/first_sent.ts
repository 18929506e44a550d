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
 * First submissions in row order. A mark is kept for many rows at once, since a clock read per row would cost; a row's
 * time is at most a few milliseconds before the true one, never after it.
 */
export class FirstSent {
  readonly #rows: number[] = [];
  readonly #moments: Moment[] = [];

  /** Notes that rows from `row` on are sent from now on; `steady` is the time on the steady clock. */
  mark(row: number, steady: number): void {
    const last = this.#moments.at(-1);
    if (last !== undefined && steady - last.steady < GRAIN) return;
    this.#rows.push(row);
    this.#moments.push({ wall: Date.now(), steady });
  }

  /** Returns when a row was first sent; undefined if no row up to it was. */
  of(row: number): Moment | undefined {
    return this.#moments[lowerBound(0, this.#rows.length, (at) => this.#rows[at]!, row + 1) - 1];
  }
}
