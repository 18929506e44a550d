/**
 * Reads a caller's sequence of batches, one when it is needed.
 *
 * @module
 */

import { describe } from "../../util/describe.ts";
import { ConfigError } from "../../errors/mod.ts";
import type { Batches, RowBatch } from "../../types/mod.ts";
import { unlessAborted } from "../../util/abort.ts";

/** A sequence that is asked for a batch only when one is needed, and told when no more are. */
export class SourceReader {
  readonly #iterator: Iterator<RowBatch> | AsyncIterator<RowBatch>;
  readonly #signal: AbortSignal | undefined;
  #working = false;
  #ended = false;

  /** A reader; an abort by `signal` ends a wait for the source. */
  constructor(batches: Batches, signal?: AbortSignal) {
    this.#iterator = iteratorOf(batches);
    this.#signal = signal;
  }

  /** The next batch; undefined at the end. Throws what the source throws, and the signal's reason after an abort. */
  async next(): Promise<RowBatch | undefined> {
    this.#signal?.throwIfAborted();
    return await unlessAborted(this.#ask(), this.#signal);
  }

  async #ask(): Promise<RowBatch | undefined> {
    if (this.#ended) return undefined;
    this.#working = true;
    try {
      const result = await this.#iterator.next();
      this.#ended ||= result.done === true;
      return result.done ? undefined : result.value;
    } catch (error) {
      this.#ended = true; // an iterator that threw is over, and is not told
      throw error;
    } finally {
      this.#working = false;
    }
  }

  /** Tells the source that no more batches are wanted; one that is at work on the next batch is not waited for. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    try {
      const returned = this.#iterator.return?.();
      if (this.#working) Promise.resolve(returned).catch(() => {});
      else await returned;
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
  throw new ConfigError("config.type", {
    field: "batches",
    rule: "must be an iterable of row batches",
    received: describe(batches),
  });
}
