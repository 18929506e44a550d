/**
 * What a lane has still to submit: first the rows that are sent again, then its calls in order.
 *
 * @module
 */

import type { Delivery } from "../call.ts";
import { LinkedSet } from "../../util/linked_set.ts";
import { RetryQueue } from "./retry.ts";
import type { Again } from "../verdict.ts";

/** Calls that wait for their turn, and rows whose submission came to nothing. */
export class Backlog {
  /** The rows that are sent again. */
  readonly retry: RetryQueue;
  /** In order; any of thousands may be taken out. */
  readonly #calls = new LinkedSet<Delivery>();
  #closed = false;

  /** A backlog whose rows are sent again within a budget in milliseconds; without a budget, never. */
  constructor(budget: number | undefined) {
    this.retry = new RetryQueue(budget);
  }

  /** Whether neither a call nor a row waits. */
  get empty(): boolean {
    return this.#calls.size === 0 && this.retry.size === 0;
  }

  /** The call whose turn it is. */
  get first(): Delivery | undefined {
    return this.#calls.first;
  }

  /** Whether the call whose turn it is has rows that were not submitted yet. */
  get waiting(): boolean {
    return this.first?.rows !== undefined;
  }

  /** When the next row may go, where none may now; Infinity when something else is waited for. */
  get due(): number {
    return Math.min(this.retry.due, this.#calls.size > 0 ? this.retry.pauseEnd : Infinity);
  }

  /** Gives a call its place. */
  push(delivery: Delivery): void {
    this.#calls.add(delivery);
  }

  /** Takes the first call out. */
  shift(): void {
    if (this.first !== undefined) this.#calls.delete(this.first);
  }

  /** Takes a call out, wherever it is; returns how many of its rows were to be sent again. */
  remove(delivery: Delivery): number {
    this.#calls.delete(delivery);
    return this.retry.remove(delivery);
  }

  /** Forgets the rows that wait to be sent again, and takes no more of them. */
  close(): void {
    this.#closed = true;
    this.retry.clear();
  }

  /** Takes a row back if it may be sent again; `safe`: that cannot store it twice. */
  takeBack(delivery: Delivery, index: number, again: Again, safe: boolean, time: number): boolean {
    return !this.#closed && safe && again !== "never" && this.retry.add(delivery, index, again, time);
  }

  /** Submits the rows that may be sent again now; false if one has no room. */
  submitAgain(time: number, submit: (delivery: Delivery, index: number) => boolean): boolean {
    for (let row = this.retry.peek(time); row !== undefined; row = this.retry.peek(time)) {
      if (!submit(row.delivery, row.index)) return false;
      this.retry.shift();
    }
    return true;
  }

  /** Submits calls, up to the first that is not loaded, or for whose rows there is no room. */
  submitCalls(submit: (delivery: Delivery) => boolean): void {
    const finished: Delivery[] = [];
    for (const delivery of this.#calls) {
      if (delivery.rows === undefined ? !delivery.over : !submit(delivery)) break;
      finished.push(delivery);
    }
    for (const delivery of finished) this.#calls.delete(delivery);
  }
}
