/**
 * What a lane still has to submit: first the rows that are resent, then its calls in order.
 *
 * @module
 */

import type { Call } from "../call.ts";
import { LinkedSet } from "../../util/linked_set.ts";
import { RetryQueue } from "./retry.ts";
import type { RetryWhen } from "../rejection.ts";

/** Calls that wait for their turn, and rows that wait to be resent. */
export class Backlog {
  /** The rows that wait to be resent. */
  readonly retry: RetryQueue;
  /** The calls in order. Any of thousands may be removed. */
  readonly #calls = new LinkedSet<Call>();
  #closed = false;

  /** Creates a backlog whose rows are resent within a budget in milliseconds; without a budget, never. */
  constructor(budget: number | undefined) {
    this.retry = new RetryQueue(budget);
  }

  /** Whether no call and no row waits. */
  get empty(): boolean {
    return this.#calls.size === 0 && this.retry.size === 0;
  }

  /** The first call. */
  get first(): Call | undefined {
    return this.#calls.first;
  }

  /** Whether the first call has rows that can be submitted. */
  get waiting(): boolean {
    return this.first?.isLoaded === true;
  }

  /** When the next row may be submitted, if only a time is waited for; otherwise Infinity. */
  get due(): number {
    return Math.min(this.retry.due, this.#calls.size > 0 ? this.retry.pauseEnd : Infinity);
  }

  /** Adds a call behind the others. */
  push(call: Call): void {
    this.#calls.add(call);
  }

  /** Removes the first call. */
  shift(): void {
    if (this.first !== undefined) this.#calls.delete(this.first);
  }

  /** Removes a call. Returns how many of its rows waited to be resent. */
  remove(call: Call): number {
    this.#calls.delete(call);
    return this.retry.remove(call);
  }

  /** Removes the rows that wait to be resent, and accepts no more of them. */
  close(): void {
    this.#closed = true;
    this.retry.clear();
  }

  /** Takes a row back if it may be resent; `safe` is whether that cannot store it twice. Returns whether it did. */
  takeBack(call: Call, index: number, when: RetryWhen, safe: boolean, time: number): boolean {
    return !this.#closed && safe && when !== "never" && this.retry.add(call, index, when, time);
  }

  /** Submits the rows that may be resent now. Returns false if `submit` does: a row has no room. */
  submitAgain(time: number, submit: (call: Call, index: number) => boolean): boolean {
    for (let row = this.retry.peek(time); row !== undefined; row = this.retry.peek(time)) {
      if (!submit(row.call, row.index)) return false;
      this.retry.shift();
    }
    return true;
  }

  /** Submits calls in order, up to the first that is not loaded or for which `submit` returns false: it has no room. */
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
