/**
 * Reads a caller's sequence of batches, one when it is needed.
 *
 * @module
 */

import { describe } from "../describe.ts";
import { ConfigError } from "../errors.ts";
import type { Batches, RowBatch } from "../types.ts";

/** A sequence that is asked for a batch only when one is needed, and told when no more are. */
export class SourceReader {
  readonly #iterator: Iterator<RowBatch> | AsyncIterator<RowBatch>;
  readonly #signal: AbortSignal | undefined;
  #pending = false;
  #ended = false;

  /** A reader; an abort by `signal` ends a wait for the source. */
  constructor(batches: Batches, signal?: AbortSignal) {
    this.#iterator = iteratorOf(batches);
    this.#signal = signal;
  }

  /** Whether no batch is being waited for. */
  get idle(): boolean {
    return !this.#pending;
  }

  /** The next batch; undefined at the end. Throws what the source throws, and the signal's reason after an abort. */
  async next(): Promise<RowBatch | undefined> {
    this.#pending = true;
    const aborted = abortOf(this.#signal);
    try {
      const result = await Promise.race([this.#iterator.next(), aborted.promise]);
      if (result === undefined) throw this.#signal!.reason;
      this.#ended = result.done === true;
      return result.done ? undefined : result.value;
    } catch (error) {
      // An iterator that threw is over, and is not told.
      this.#ended = !this.#signal?.aborted;
      throw error;
    } finally {
      this.#pending = this.#signal?.aborted === true && !this.#ended;
      aborted.stop();
    }
  }

  /** Tells the source that no more batches are wanted; one that is at work on the next batch is not waited for. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    try {
      const returned = this.#iterator.return?.();
      if (!this.#pending) await returned;
      else Promise.resolve(returned).catch(() => {});
    } catch {
      // The failure that closes the source is the one to be thrown.
    }
  }
}

function iteratorOf(batches: Batches): Iterator<RowBatch> | AsyncIterator<RowBatch> {
  if (typeof batches === "object" && batches !== null) {
    if (Symbol.asyncIterator in batches) return batches[Symbol.asyncIterator]();
    if (Symbol.iterator in batches) return batches[Symbol.iterator]();
  }
  throw new ConfigError("config.type", `batches must be an iterable of row batches: received ${describe(batches)}`, {
    field: "batches",
  });
}

function abortOf(signal: AbortSignal | undefined): { promise: Promise<undefined>; stop: () => void } {
  if (signal === undefined) return { promise: new Promise(() => {}), stop: () => {} };
  let abort!: () => void;
  const promise = new Promise<undefined>((resolve) => {
    abort = () => resolve(undefined);
    if (signal.aborted) resolve(undefined);
    else signal.addEventListener("abort", abort, { once: true });
  });
  return { promise, stop: () => signal.removeEventListener("abort", abort) };
}
