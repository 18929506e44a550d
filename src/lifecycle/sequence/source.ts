/**
 * Reads a caller's sequence of batches, one when it is needed.
 *
 * @module
 */

import { describe } from "../../util/describe.ts";
import { ConfigError } from "../../errors/mod.ts";
import type { Batches, RowBatch } from "../../types/mod.ts";
import { unlessAborted } from "../../util/abort.ts";

/** Reads a batch only when one is needed, and closes the sequence when no more are. */
export class SourceReader {
  readonly #iterator: Iterator<RowBatch> | AsyncIterator<RowBatch>;
  readonly #signal: AbortSignal | undefined;
  #working = false;
  #ended = false;

  /** Creates a reader. An abort of `signal` ends a wait for the source. */
  constructor(batches: Batches, signal?: AbortSignal) {
    this.#iterator = iteratorOf(batches);
    this.#signal = signal;
  }

  /** Returns the next batch, undefined at the end. Throws what the source throws, and the signal's reason after an abort. */
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

  /** Closes the source. Does not wait for a source that is working on its next batch. */
  async close(): Promise<void> {
    if (this.#ended) return;
    this.#ended = true;
    try {
      const returned = this.#iterator.return?.();
      if (this.#working) Promise.resolve(returned).catch(() => {});
      else await returned;
    } catch {
      // The caller throws the failure that made it close the source.
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
