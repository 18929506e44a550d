/**
 * What a lane has still to submit: first the rows that are sent again, then its calls in order.
 *
 * @module
 */

import type { Call } from "../call.ts";
import { LinkedSet } from "../../util/linked_set.ts";
import { RetryQueue } from "./retry.ts";
import type { RetryWhen } from "../rejection.ts";

/** Calls that wait for their turn, and rows whose submission came to nothing. */
export class Backlog {
  /** The rows that are sent again. */
  readonly retry: RetryQueue;
  /** In order; any of thousands may be taken out. */
  readonly #calls = new LinkedSet<Call>();
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
  get first(): Call | undefined {
    return this.#calls.first;
  }

  /** Whether the call whose turn it is has rows that were not submitted yet. */
  get waiting(): boolean {
    return this.first?.isLoaded === true;
  }

  /** When the next row may go, where none may now; Infinity when something else is waited for. */
  get due(): number {
    return Math.min(this.retry.due, this.#calls.size > 0 ? this.retry.pauseEnd : Infinity);
  }

  /** Gives a call its place. */
  push(call: Call): void {
    this.#calls.add(call);
  }

  /** Takes the first call out. */
  shift(): void {
    if (this.first !== undefined) this.#calls.delete(this.first);
  }

  /** Takes a call out, wherever it is; returns how many of its rows were to be sent again. */
  remove(call: Call): number {
    this.#calls.delete(call);
    return this.retry.remove(call);
  }

  /** Forgets the rows that wait to be sent again, and takes no more of them. */
  close(): void {
    this.#closed = true;
    this.retry.clear();
  }

  /** Takes a row back if it may be sent again; `safe`: that cannot store it twice. */
  takeBack(call: Call, index: number, when: RetryWhen, safe: boolean, time: number): boolean {
    return !this.#closed && safe && when !== "never" && this.retry.add(call, index, when, time);
  }

  /** Submits the rows that may be sent again now; false if one has no room. */
  submitAgain(time: number, submit: (call: Call, index: number) => boolean): boolean {
    for (let row = this.retry.peek(time); row !== undefined; row = this.retry.peek(time)) {
      if (!submit(row.call, row.index)) return false;
      this.retry.shift();
    }
    return true;
  }

  /** Submits calls, up to the first that is not loaded, or for whose rows there is no room. */
  submitCalls(submit: (call: Call) => boolean): void {
    const finished: Call[] = [];
    for (const call of this.#calls) {
      if (call.state.tag === "preparing") break;
      if (!call.isOver && !submit(call)) break;
      finished.push(call);
    }
    for (const call of finished) this.#calls.delete(call);
  }
}
