/**
 * Which row is submitted next: those that are sent again first, then each call's in order.
 *
 * @module
 */

import type { Backlog } from "./backlog.ts";
import type { Call } from "../call.ts";

/** Rows in the order of their submission. */
export class Feed {
  readonly #backlog: Backlog;
  /** Index of the row that {@linkcode peek} gave. */
  index = 0;
  /** Whether {@linkcode peek} gave nothing because the next call's rows are not loaded yet. */
  loading = false;
  #again = false;

  /** A feed of what a backlog has. */
  constructor(backlog: Backlog) {
    this.#backlog = backlog;
  }

  /** The call of the next row that may go now; its index is in `index`. */
  peek(time: number): Call | undefined {
    const { retry } = this.#backlog;
    this.loading = false;
    const row = retry.peek(time);
    this.#again = row !== undefined;
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
      // The last row of any other call may still be on its way to the wire: its sender says when it is there.
      if (next.count === 0) next.finishSubmission();
    }
    return undefined;
  }

  /** How many rows of the call may go now, from the one that {@linkcode peek} gave on. */
  get run(): number {
    return this.#again ? 1 : this.#backlog.first!.count - this.index;
  }

  /** Notes that the row that {@linkcode peek} gave is sent: it waits no longer to be sent again. */
  take(): void {
    if (this.#again) this.#backlog.retry.shift();
  }
}
