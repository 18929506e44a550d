/**
 * Determines which row the fast lane submits next: first the rows that are resent, then those of each call in order.
 *
 * @module
 */

import type { Backlog } from "./backlog.ts";
import type { Call } from "../call.ts";

/** Rows in the order of their submission. */
export class Feed {
  readonly #backlog: Backlog;
  /** The index of the row that {@linkcode peek} found. */
  index = 0;
  /** Whether {@linkcode peek} found none because the next call's rows are not loaded yet. */
  loading = false;
  #isResend = false;

  /** Creates a feed of the rows of a backlog. */
  constructor(backlog: Backlog) {
    this.#backlog = backlog;
  }

  /** Finds the next row that may be submitted now. Returns its call, and sets `index`. */
  peek(time: number): Call | undefined {
    const { retry } = this.#backlog;
    this.loading = false;
    const row = retry.peek(time);
    this.#isResend = row !== undefined;
    if (row !== undefined) {
      this.index = row.index;
      return row.call;
    }
    return retry.pausing(time) ? undefined : this.#nextCall();
  }

  #nextCall(): Call | undefined {
    const backlog = this.#backlog;
    for (let next = backlog.first; next !== undefined; next = backlog.first) {
      if (next.state.tag === "preparing") {
        this.loading = true;
        return undefined;
      }
      if (next.next < next.count && !next.isOver) {
        this.index = next.next;
        return next;
      }
      backlog.shift();
      // The sender finishes any other call once its last row was handed to the wire.
      if (next.count === 0) next.finishSubmission();
    }
    return undefined;
  }

  /** How many rows of the call may be submitted now, starting with the one that {@linkcode peek} found. */
  get run(): number {
    return this.#isResend ? 1 : this.#backlog.first!.count - this.index;
  }

  /** Removes the row that {@linkcode peek} found from those that wait to be resent, if it is one of them. */
  take(): void {
    if (this.#isResend) this.#backlog.retry.shift();
  }
}
