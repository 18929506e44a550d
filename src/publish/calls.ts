/**
 * The calls in progress, and how each of them ends.
 *
 * @module
 */

import type { PublishError } from "../errors/mod.ts";
import type { RowRange } from "../message/prepare.ts";
import { shiftedSends } from "../stream/resend.ts";
import { matchesSubject } from "../subject/pattern.ts";
import { watchAbort } from "../util/abort.ts";
import { Delivery, type Failure } from "./call.ts";
import { abortedFailure, type CallRows, publishError } from "./failure.ts";
import type { BatchSource } from "./prepare_batch.ts";
import type { Tally } from "./tally.ts";

/** A call. */
export interface Call extends CallRows {
  /** Its rows on their way. */
  readonly delivery: Delivery;
}

/** A call that publishes a range of a batch's selected rows. */
export function newCall(source: BatchSource, range: RowRange, keepsRows: boolean): Call {
  const only = source.only?.slice(range.from, range.from + range.count);
  const delivery = new Delivery(keepsRows, shiftedSends(source.earlier, range.from));
  return { resource: source.resource, count: range.count, only, delivery };
}

/** The calls that have begun and not ended, in order. */
export class Calls {
  readonly #calls = new Set<Call>();
  readonly #tally: Tally;
  readonly #moved: () => void;

  /** No calls; those that fail are counted, and `moved` is called when one has ended. */
  constructor(tally: Tally, moved: () => void) {
    this.#tally = tally;
    this.#moved = moved;
  }

  /** The calls now. */
  get all(): readonly Call[] {
    return [...this.#calls];
  }

  /** Begins a call; `aborted` is called when its caller aborts it before it has ended. */
  begin(call: Call, signal: AbortSignal | undefined, aborted: (failure: Failure) => void): void {
    this.#calls.add(call);
    if (signal === undefined) return;
    const forget = watchAbort(signal, () => aborted(abortedFailure(signal.reason)));
    call.delivery.done.promise.then(forget, forget);
  }

  /** Ends a call as a failure says. */
  fail(call: Call, failure: Failure): void {
    call.delivery.failure = failure;
    this.end(call, publishError(failure, call, call.delivery));
  }

  /** Ends all calls as a failure says. Returns the error of the call whose row failed, or else of the first one. */
  failAll(failure: Failure): PublishError | undefined {
    const calls = this.all;
    for (const call of calls) this.fail(call, failure);
    const first = calls.find(({ delivery }) => delivery === failure.delivery) ?? calls[0];
    return first?.delivery.error as PublishError | undefined;
  }

  /** Ends a call: with success where no error is given. */
  end(call: Call, error?: unknown): void {
    this.#calls.delete(call);
    if (error !== undefined) this.#tally.failures++;
    call.delivery.end(error);
    this.#moved();
  }

  /** Waits until all of now have ended. */
  async allEnded(): Promise<void> {
    await Promise.allSettled(this.all.map(({ delivery }) => delivery.done.promise));
  }

  /** Whether a message of any was sent to a subject. */
  haveSentTo(subject: string): boolean {
    for (const { delivery } of this.#calls) {
      if (!delivery.sent && !delivery.begun) continue;
      if (delivery.destination !== undefined && matchesSubject(delivery.destination.subject, subject)) return true;
    }
    return false;
  }
}
