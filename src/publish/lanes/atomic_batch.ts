/**
 * Calls' rows as atomic batches on their way, and the checks before they are.
 *
 * @module
 */

import { option, words } from "../../errors/wording.ts";
import { nuid } from "@nats-io/nats-core";
import { EncodeError } from "../../errors/mod.ts";
import { MOST_ROWS_OF_BATCH } from "../../message/batch_headers.ts";
import type { PreparedRows } from "../../message/prepared_rows.ts";
import type { Settings } from "../../options/publisher.ts";
import type { Delivery } from "../call.ts";

/** A batch that the server has rows of. */
export interface AtomicBatch {
  /** Its call. */
  readonly delivery: Delivery;
  /** Its id, never used before. */
  readonly id: string;
  /** What its rows count in the window. */
  readonly bytes: number;
  /** Token of the first row's answer. */
  readonly stageToken: number;
  /** Token of the last row's answer. */
  readonly commitToken: number;
  /**
   * `opening`: the first row is sent, and its answer waited for. `staged`: it has come. `committing`: all rows are
   * sent. `searching`: the server knows some id, and the stream is searched for the rows.
   */
  state: "opening" | "staged" | "committing" | "searching";
  /** When the answer that is waited for must have come, in milliseconds of the lane's clock. */
  deadline: number;
  /** When the commit was sent. */
  committedAt: number;
  /** Why the server refused the first row, where all were sent without waiting for its answer. */
  refusal: string | undefined;
  /** Ends the search. */
  readonly search: AbortController;
}

/** The batches that the server has rows of, and what they take of the window together. */
export class OpenBatches {
  readonly #batches = new Set<AtomicBatch>();
  readonly #byToken = new Map<number, AtomicBatch>();
  #rows = 0;
  #bytes = 0;
  #lastToken = 0;

  /** Rows outstanding. */
  get rows(): number {
    return this.#rows;
  }

  /** Their bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** How many batches. */
  get size(): number {
    return this.#batches.size;
  }

  /** The earliest deadline; Infinity when nothing is waited for. */
  get nextDeadline(): number {
    let next = Infinity;
    for (const { deadline } of this.#batches) next = Math.min(next, deadline);
    return next;
  }

  /** All of them, in the order they were begun. One may be removed meanwhile. */
  [Symbol.iterator](): Iterator<AtomicBatch> {
    return this.#batches.values();
  }

  /** Whether a batch is still one of them. */
  has(batch: AtomicBatch): boolean {
    return this.#batches.has(batch);
  }

  /** Begins a call's batch. */
  add(delivery: Delivery, bytes: number, time: number, deadline: number): AtomicBatch {
    const batch: AtomicBatch = {
      delivery,
      id: nuid.next(),
      bytes,
      stageToken: ++this.#lastToken,
      commitToken: ++this.#lastToken,
      state: "opening",
      deadline,
      committedAt: time,
      refusal: undefined,
      search: new AbortController(),
    };
    this.#batches.add(batch);
    this.#byToken.set(batch.stageToken, batch);
    this.#byToken.set(batch.commitToken, batch);
    this.#rows += delivery.count;
    this.#bytes += bytes;
    return batch;
  }

  /** The batch that an answer's token belongs to. A token is good for one answer. */
  take(token: number): AtomicBatch | undefined {
    const batch = this.#byToken.get(token);
    this.#byToken.delete(token);
    return batch;
  }

  /** Takes a batch out of the window; no answer to it has an effect any more. */
  remove(batch: AtomicBatch): void {
    if (!this.#batches.delete(batch)) return;
    this.#rows -= batch.delivery.count;
    this.#bytes -= batch.bytes;
    this.#byToken.delete(batch.stageToken);
    this.#byToken.delete(batch.commitToken);
    batch.search.abort();
  }
}

/** Rows that one batch may have. */
export function mostRowsOfBatch(settings: Settings): number {
  return Math.min(MOST_ROWS_OF_BATCH, settings.maxInFlight);
}

/** Checks that so many rows can be one batch, before they are encoded. Throws an EncodeError `encode.too_large`. */
export function checkBatchCount(count: number, settings: Settings): void {
  if (settings.publishMode !== "atomic" || count <= mostRowsOfBatch(settings)) return;
  const [limit, whose] = settings.maxInFlight < MOST_ROWS_OF_BATCH
    ? [
      settings.maxInFlight,
      words`${option("maxInFlight")}, because all rows are in flight until the commit is answered`,
    ]
    : [MOST_ROWS_OF_BATCH, "the server's limit"];
  throw new EncodeError(
    "encode.too_large",
    words`Cannot publish ${count} rows as one atomic batch: the limit is ${limit} (${whose}). Use applyAll, which cuts batches.`,
    { size: count, limit },
  );
}

/** Checks that rows fit the window as one batch. Throws an EncodeError `encode.too_large`. */
export function checkBatchBytes(rows: PreparedRows, settings: Settings): void {
  if (settings.publishMode !== "atomic") return;
  const size = rows.sizeOfRange(0, rows.count);
  const limit = settings.maxInFlightBytes;
  if (size <= limit) return;
  throw new EncodeError(
    "encode.too_large",
    words`Cannot publish ${rows.count} rows as one atomic batch: the limit is ${limit} bytes (${
      option("maxInFlightBytes")
    }), and headers, bodies and subjects have ${size}. Use applyAll, which cuts batches.`,
    { size, limit },
  );
}
