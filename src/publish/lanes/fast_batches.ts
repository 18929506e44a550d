/**
 * The open batches of fast ingest. Every operation takes constant time, or the logarithm of their number: calls of one
 * row that go to several streams in turn fill a window with thousands of batches.
 *
 * @module
 */

import { LinkedSet } from "../../util/linked_set.ts";
import type { Call } from "../call.ts";
import { DueQueue } from "./due_queue.ts";
import type { FastBatch } from "./fast_batch.ts";

/** The open batches of a lane. */
export class FastBatches {
  /** By id, oldest first. */
  readonly #open = new Map<string, FastBatch>();
  readonly #due = new DueQueue<FastBatch>(({ due }) => due);
  /** Failing batches that a call may wait for. */
  readonly #failing = new LinkedSet<FastBatch>();
  /** The batches that a call's rows joined, including those that have ended. */
  readonly #batchesOf = new WeakMap<Call, Set<FastBatch>>();
  #added = 0;

  /** The batches, oldest first. A batch may be removed during the iteration. */
  get all(): Iterable<FastBatch> {
    return this.#open.values();
  }

  /** How many batches. */
  get size(): number {
    return this.#open.size;
  }

  /** The earliest time at which a batch is due; Infinity if none ever is. */
  get nextDue(): number {
    return this.#due.next;
  }

  /** Whether a call waits for a failing batch. */
  get anyFailing(): boolean {
    for (let batch = this.#failing.first; batch !== undefined; batch = this.#failing.first) {
      if (batch.live) return true;
      this.#failing.delete(batch); // for good: no more rows join it
    }
    return false;
  }

  /** Returns the batch of an id. */
  of(id: string): FastBatch | undefined {
    return this.#open.get(id);
  }

  /** Returns the open batches that rows of a call joined. */
  with(call: Call): FastBatch[] {
    return [...this.#batchesOf.get(call) ?? []].filter((batch) => this.#has(batch));
  }

  /** Adds a batch, if it is new, and notes that rows of a call joined it. */
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

  /** Notes that a batch may be due earlier than before. */
  schedule(batch: FastBatch): void {
    if (this.#has(batch)) this.#due.add(batch);
  }

  /** Notes that a batch is failing. */
  noteFailing(batch: FastBatch): void {
    if (this.#has(batch)) this.#failing.add(batch);
    this.schedule(batch);
  }

  /** Calls `each` with each batch that is due at `time`, oldest first. */
  eachDue(time: number, each: (batch: FastBatch) => void): void {
    for (const batch of this.#due.take(time).sort((one, two) => one.order - two.order)) {
      if (!this.#has(batch)) continue;
      each(batch);
      this.schedule(batch);
    }
  }

  /** Removes a batch. Later answers to it have no effect. */
  remove(batch: FastBatch): void {
    this.#open.delete(batch.id);
    this.#due.delete(batch);
    this.#failing.delete(batch);
  }

  /** Removes all batches. */
  clear(): void {
    this.#open.clear();
    this.#due.clear();
    this.#failing.clear();
  }

  #has(batch: FastBatch): boolean {
    return this.#open.get(batch.id) === batch;
  }
}
