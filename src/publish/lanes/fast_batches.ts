/**
 * The open batches of fast ingest. Every operation takes constant time, or the logarithm of their number: calls of one
 * row to streams in turn fill a window with thousands of them.
 *
 * @module
 */

import { LinkedSet } from "../../util/linked_set.ts";
import type { Call } from "../call.ts";
import { DueQueue } from "./due_queue.ts";
import type { FastBatch } from "./fast_batch.ts";

/** The batches that the server has rows of. */
export class FastBatches {
  /** By id, oldest first. */
  readonly #open = new Map<string, FastBatch>();
  readonly #due = new DueQueue<FastBatch>(({ due }) => due);
  /** Batches in trouble, as far as a call may wait for them. */
  readonly #troubled = new LinkedSet<FastBatch>();
  /** The batches that a call's rows went into, those included that are over. */
  readonly #batchesOf = new WeakMap<Call, Set<FastBatch>>();
  #added = 0;

  /** The batches, oldest first. One may be removed meanwhile. */
  get all(): Iterable<FastBatch> {
    return this.#open.values();
  }

  /** How many batches. */
  get size(): number {
    return this.#open.size;
  }

  /** When something must be done about a batch; Infinity if nothing. */
  get nextDue(): number {
    return this.#due.next;
  }

  /** Whether a call waits for a batch in trouble. */
  get inTrouble(): boolean {
    for (let batch = this.#troubled.first; batch !== undefined; batch = this.#troubled.first) {
      if (batch.live) return true;
      this.#troubled.delete(batch); // for good: it takes no more rows
    }
    return false;
  }

  /** Returns the batch of an id. */
  of(id: string): FastBatch | undefined {
    return this.#open.get(id);
  }

  /** Returns the batches that rows of a call went into. */
  with(call: Call): FastBatch[] {
    return [...this.#batchesOf.get(call) ?? []].filter((batch) => this.#has(batch));
  }

  /** Adds a batch, if it is new, and notes that rows of a call went into it. */
  add(batch: FastBatch, call: Call): void {
    if (!this.#has(batch)) {
      batch.order = ++this.#added;
      this.#open.set(batch.id, batch);
    }
    const batches = this.#batchesOf.get(call);
    if (batches === undefined) this.#batchesOf.set(call, new Set([batch]));
    else batches.add(batch);
    this.schedule(batch);
  }

  /** Notes that something must be done about a batch earlier than before. */
  schedule(batch: FastBatch): void {
    if (this.#has(batch)) this.#due.add(batch);
  }

  /** Notes that a batch is in trouble. */
  noteTrouble(batch: FastBatch): void {
    if (this.#has(batch)) this.#troubled.add(batch);
    this.schedule(batch);
  }

  /** Calls back with each batch about which something must be done by now, oldest first. */
  eachDue(time: number, each: (batch: FastBatch) => void): void {
    for (const batch of this.#due.take(time).sort((one, two) => one.order - two.order)) {
      if (!this.#has(batch)) continue;
      each(batch);
      this.schedule(batch);
    }
  }

  /** Removes a batch: nothing that comes for it has an effect any more. */
  remove(batch: FastBatch): void {
    this.#open.delete(batch.id);
    this.#due.delete(batch);
    this.#troubled.delete(batch);
  }

  /** Removes all batches. */
  clear(): void {
    this.#open.clear();
    this.#due.clear();
    this.#troubled.clear();
  }

  #has(batch: FastBatch): boolean {
    return this.#open.get(batch.id) === batch;
  }
}
