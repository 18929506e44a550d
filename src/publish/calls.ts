/**
 * The calls in progress: how they begin, how their callers abort them, and how each of them ends.
 *
 * @module
 */

import type { PublishError } from "../errors/mod.ts";
import { matchesSubject } from "../subject/pattern.ts";
import { watchAbort } from "../util/abort.ts";
import type { Call, Failure } from "./call.ts";
import { abortedFailure, publishError } from "./failure.ts";
import type { PublisherCounts } from "./progress.ts";

/** The calls that have begun and not ended, in order. */
export class Calls {
  readonly #calls = new Set<Call>();
  readonly #counts: PublisherCounts;
  readonly #ended: () => void;

  /** Creates an empty set. It adds failed calls to `counts`, and calls `ended` when a call has ended. */
  constructor(counts: PublisherCounts, ended: () => void) {
    this.#counts = counts;
    this.#ended = ended;
  }

  /** A copy of the set. */
  get all(): readonly Call[] {
    return [...this.#calls];
  }

  /** Adds a call until it ends. Calls `aborted` if its caller's signal aborts before. */
  begin(call: Call, signal: AbortSignal | undefined, aborted: (failure: Failure) => void): void {
    this.#calls.add(call);
    call.done.then(() => this.#remove(call), () => {});
    if (signal === undefined) return;
    const unwatch = watchAbort(signal, () => aborted(abortedFailure(signal.reason)));
    call.done.then(unwatch, unwatch);
  }

  /** Fails a call because publishing failed. */
  fail(call: Call, failure: Failure): void {
    this.failWith(call, publishError(failure, call), failure);
  }

  /** Fails a call with an error; `failure` is what caused it if publishing failed. */
  failWith(call: Call, error: unknown, failure?: Failure): void {
    if (call.isOver) return;
    this.#counts.failures++;
    call.fail(error, failure);
    this.#remove(call);
  }

  /** Fails all calls. Returns the error of the call whose row failed, otherwise that of the first call, if any. */
  failAll(failure: Failure): PublishError | undefined {
    const calls = this.all;
    for (const call of calls) this.fail(call, failure);
    const state = (calls.find((call) => call === failure.call) ?? calls[0])?.state;
    return state?.tag === "failed" ? state.error as PublishError : undefined;
  }

  /** Waits until the calls that are in progress now have ended. */
  async allEnded(): Promise<void> {
    await Promise.allSettled(this.all.map(({ done }) => done));
  }

  /** Whether a message of any call was handed to the connection with this subject. */
  haveSentTo(subject: string): boolean {
    for (const call of this.#calls) {
      if (call.state.tag === "sending" && matchesSubject(call.destination.subject, subject)) return true;
    }
    return false;
  }

  #remove(call: Call): void {
    this.#calls.delete(call);
    this.#ended();
  }
}
