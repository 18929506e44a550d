/**
 * Which row is submitted next: those that go again first, then each call's in order.
 *
 * @module
 */

import type { Delivery } from "./delivery.ts";
import { RetryQueue } from "./retry.ts";

/** Rows in the order of their submission. */
export class Feed {
  /** The rows that go again. */
  readonly retry: RetryQueue;
  /** Index of the row that {@linkcode peek} gave. */
  index = 0;
  /** Whether {@linkcode peek} gave nothing because the next call's rows are not loaded yet. */
  loading = false;
  #again = false;
  #queue: Delivery[] = [];

  /** A feed whose rows go again within a budget in milliseconds; without one, never. */
  constructor(budget: number | undefined) {
    this.retry = new RetryQueue(budget);
  }

  /** When the next row may go, where none may now; Infinity when something else is waited for. */
  get due(): number {
    return Math.min(this.retry.due, this.#queue.length > 0 ? this.retry.pauseEnd : Infinity);
  }

  /** Gives a call its place. */
  push(delivery: Delivery): void {
    this.#queue.push(delivery);
  }

  /** Takes a call out. */
  remove(delivery: Delivery): void {
    this.retry.remove(delivery);
    this.#queue = this.#queue.filter((queued) => queued !== delivery);
  }

  /** The call of the next row that may go now; its index is in `index`. */
  peek(time: number): Delivery | undefined {
    this.loading = false;
    const item = this.retry.peek(time);
    this.#again = item !== undefined;
    if (item !== undefined) {
      this.index = item.index;
      return item.delivery;
    }
    if (this.retry.pausing(time)) return undefined;
    for (let next = this.#queue[0]; next !== undefined; next = this.#queue[0]) {
      if (next.rows === undefined && !next.over) {
        this.loading = true;
        return undefined;
      }
      if (next.next < next.count) {
        this.index = next.next;
        return next;
      }
      this.#queue.shift();
      next.submitted.resolve();
      if (next.count === 0) next.done.resolve();
    }
    return undefined;
  }

  /** How many rows of the call may go now, from the one that {@linkcode peek} gave on. */
  get run(): number {
    return this.#again ? 1 : this.#queue[0]!.count - this.index;
  }

  /** Takes so many rows, and gives back what undoes it. */
  take(delivery: Delivery, rows: number): () => void {
    if (this.#again) {
      this.retry.shift();
      return () => {};
    }
    delivery.next += rows;
    delivery.open += rows;
    return () => {
      delivery.next -= rows;
      delivery.open -= rows;
    };
  }
}
