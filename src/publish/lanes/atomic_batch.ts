/**
 * The open atomic batches of a lane, and the checks of a call's rows before they become a batch.
 *
 * @module
 */

import { option, words } from "../../errors/wording.ts";
import { nuid } from "@nats-io/nats-core";
import { EncodeError } from "../../errors/mod.ts";
import { LinkedSet } from "../../util/linked_set.ts";
import { MOST_ROWS_OF_BATCH } from "../../message/batch_headers.ts";
import type { PreparedRows } from "../../message/prepared_rows.ts";
import type { Settings } from "../../options/publisher.ts";
import type { Call } from "../call.ts";

/** A batch of which rows were sent. */
export interface AtomicBatch {
  /** Its call. */
  readonly call: Call;
  /** Its id; no other batch has it. */
  readonly id: string;
  /** Bytes of its rows in the window. */
  readonly bytes: number;
  /** The token of the answer to the first row. */
  readonly stageToken: number;
  /** The token of the answer to the last row. */
  readonly commitToken: number;
  /**
   * `opening`: the first row is sent and not answered. `staged`: it is answered. `committing`: all rows are sent.
   * `searching`: the stream has a message with an id of the batch, and is searched for the rows.
   */
  readonly state: "opening" | "staged" | "committing" | "searching";
  /** When the next answer is due, in milliseconds of the lane's clock; Infinity while searching. */
  readonly deadline: number;
  /** Why the server refused the first row, if all rows were sent without waiting for its answer. */
  refusal: string | undefined;
  /** Ends the search. */
  readonly search: AbortController;
}

type Mutable<T> = { -readonly [K in keyof T]: T[K] };

/**
 * The open batches, and how many rows and bytes they have in the window. Every operation takes constant time: a window
 * may hold thousands of batches of one row.
 */
export class OpenBatches {
  readonly #byCall = new Map<Call, AtomicBatch>();
  readonly #byToken = new Map<number, AtomicBatch>();
  /** Batches with a deadline, earliest first: all have the same time to be answered, so a new deadline is the last. */
  readonly #due = new LinkedSet<AtomicBatch>();
  /** The batch that is opening or staged. There is at most one. */
  #early: AtomicBatch | undefined;
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

  /** How many batches are open. */
  get size(): number {
    return this.#byCall.size;
  }

  /** The batch that is opening or staged, if any. */
  get early(): AtomicBatch | undefined {
    return this.#early;
  }

  /** The batch with the earliest deadline. */
  get nextDue(): AtomicBatch | undefined {
    return this.#due.first;
  }

  /** Returns the batch of a call. */
  of(call: Call): AtomicBatch | undefined {
    return this.#byCall.get(call);
  }

  /** Whether a batch is still open. */
  has(batch: AtomicBatch): boolean {
    return this.#byCall.get(batch.call) === batch;
  }

  /** Opens a call's batch. No other batch may be opening or staged. */
  add(call: Call, bytes: number, deadline: number): AtomicBatch {
    const batch: AtomicBatch = {
      call,
      id: nuid.next(),
      bytes,
      stageToken: ++this.#lastToken,
      commitToken: ++this.#lastToken,
      state: "opening",
      deadline,
      refusal: undefined,
      search: new AbortController(),
    };
    this.#byCall.set(call, batch);
    this.#byToken.set(batch.stageToken, batch);
    this.#byToken.set(batch.commitToken, batch);
    this.#due.add(batch);
    this.#early = batch;
    this.#rows += call.count;
    this.#bytes += bytes;
    return batch;
  }

  /** Notes that the first row was answered. */
  stage(batch: AtomicBatch): void {
    if (batch.state === "opening") (batch as Mutable<AtomicBatch>).state = "staged";
  }

  /** Notes that all rows were sent. */
  commit(batch: AtomicBatch, deadline: number): void {
    Object.assign(batch, { state: "committing", deadline });
    this.#leaveEarly(batch);
    this.#due.delete(batch);
    this.#due.add(batch);
  }

  /** Notes that the stream is searched for the rows. */
  beginSearch(batch: AtomicBatch): void {
    Object.assign(batch, { state: "searching", deadline: Infinity });
    this.#due.delete(batch);
  }

  /** Returns the batch of an answer's token, for the first answer with this token only. */
  take(token: number): AtomicBatch | undefined {
    const batch = this.#byToken.get(token);
    this.#byToken.delete(token);
    return batch;
  }

  /** Removes a batch from the window. Later answers to it have no effect. */
  remove(batch: AtomicBatch): void {
    if (!this.has(batch)) return;
    this.#byCall.delete(batch.call);
    this.#leaveEarly(batch);
    this.#due.delete(batch);
    this.#rows -= batch.call.count;
    this.#bytes -= batch.bytes;
    this.#byToken.delete(batch.stageToken);
    this.#byToken.delete(batch.commitToken);
    batch.search.abort();
  }

  /** Removes all batches from the window. */
  clear(): void {
    for (const batch of this.#byCall.values()) this.remove(batch);
  }

  #leaveEarly(batch: AtomicBatch): void {
    if (this.#early === batch) this.#early = undefined;
  }
}

/** Returns how many rows one batch may have. */
export function mostRowsOfBatch(settings: Settings): number {
  return Math.min(MOST_ROWS_OF_BATCH, settings.maxInFlight);
}

/** Checks that `count` rows can be one batch, before they are encoded. Throws an EncodeError `encode.too_large`. */
export function checkBatchCount(count: number, settings: Settings): void {
  if (count <= mostRowsOfBatch(settings)) return;
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

/** Checks that the rows of one batch fit into the window. Throws an EncodeError `encode.too_large`. */
export function checkBatchBytes(rows: PreparedRows, settings: Settings): void {
  const size = rows.totalSize;
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
