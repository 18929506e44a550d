/**
 * One call's rows on their way: what was submitted, what was answered, and what is known of each.
 *
 * @module
 */

import {
  currentMoment,
  type EarlierSends,
  elapsedBetween,
  type Moment,
  resendFault,
  resendLimit,
} from "../stream/resend.ts";
import { FirstSent } from "./first_sent.ts";
import { deferred } from "../util/deferred.ts";
import type { PublishErrorCode } from "../errors/mod.ts";
import { type SpareMemory, zeros } from "../json/memory/spare.ts";
import type { PreparedRows } from "../message/prepared_rows.ts";
import type { Destination } from "../stream/destination.ts";
import { ACKED, DUPLICATE, REJECTED, UNKNOWN, UNSENT } from "./outcomes.ts";

/** Why publishing ended. */
export interface Failure {
  /** The error's code. */
  readonly code: PublishErrorCode;
  /** What happened, to follow `Cannot publish ...: `. */
  readonly reason: string;
  /** The call whose row it was, where it was a row's. */
  readonly delivery?: Delivery | undefined;
  /** The row's index in that call. */
  readonly index?: number | undefined;
  /** The server's code. */
  readonly serverCode?: number | undefined;
  /** What led to it. */
  readonly cause?: unknown;
}

const NO_BYTES = new Uint8Array(0);
const NO_NUMBERS = new Float64Array(0);

/** A call's rows. It is created when the call is made, which fixes its place, and loaded when its rows are encoded. */
export class Delivery {
  /**
   * Whether submitted rows keep their bodies until they are acknowledged: the wire holds them by reference, or some may
   * have to be sent again.
   */
  readonly keepsRows: boolean;
  /** The rows; undefined until they are loaded. */
  rows: PreparedRows | undefined;
  /** Where they go. */
  destination: Destination | undefined;
  /** What is known of each row; see outcomes.ts. */
  codes: Uint8Array<ArrayBuffer> = NO_BYTES;
  /** The stream sequence of each acknowledged row. */
  sequences: Float64Array = NO_NUMBERS;
  /** How often each row was submitted, up to 255. */
  tries: Uint8Array = NO_BYTES;
  /** The next row to submit for the first time. */
  next = 0;
  /** Rows acknowledged as new. */
  acked = 0;
  /** Rows that the stream had already. */
  duplicates = 0;
  /** Whether acknowledgments only tell that rows are stored: neither their sequences, nor which ones are duplicates. */
  cumulative = false;
  /** The highest sequence of its rows, if the server gives only that. */
  lastSequence: number | undefined;
  /** When rows were first sent. */
  readonly firstSent = new FirstSent();
  /** Rows that earlier calls may have stored: a piece that is published again by another publisher. */
  readonly earlier: EarlierSends | undefined;
  /** Rows of which some submission had no clear answer: they may be stored. */
  readonly #doubtful = new Set<number>();
  /** When a row failed first, in milliseconds of the lane's clock: the budget of `retry` counts from here. */
  firstFailure: number | undefined;
  /** Whether a message of it was handed to the connection, be it one that has no effect without others. */
  begun = false;
  /** Whether the call has ended, in either way. */
  over = false;
  /** What ended it, where publishing failed. */
  failure: Failure | undefined;
  /** The error that it ended with. */
  error: unknown;
  /** Whether its rows' bytes are needed no more. */
  released = false;
  /** Fulfilled when its rows are loaded; rejected with the call's error. */
  readonly loaded = deferred<void>();
  /** Fulfilled when the last row was submitted for the first time, or the call has ended. */
  readonly submitted = deferred<void>();
  /** Fulfilled when every row is acknowledged; rejected with the call's error. */
  readonly done = deferred<void>();

  #memory: SpareMemory | undefined;

  /** A call without rows yet. */
  constructor(keepsRows = false, earlier?: EarlierSends) {
    this.keepsRows = keepsRows;
    this.earlier = earlier;
  }

  /** Gives the call its rows. What becomes of them is noted in spare memory, until {@linkcode free}. */
  load(rows: PreparedRows, destination: Destination, memory?: SpareMemory): void {
    const { count } = rows;
    const { buffer } = zeros(10 * count, memory);
    this.rows = rows;
    this.destination = destination;
    this.sequences = new Float64Array(buffer, 0, count);
    this.codes = new Uint8Array(buffer, 8 * count, count);
    this.tries = new Uint8Array(buffer, 9 * count, count);
    this.#memory = memory;
  }

  /** How many rows; 0 before they are loaded. */
  get count(): number {
    return this.rows?.count ?? 0;
  }

  /** Whether anything was handed to the connection. */
  get sent(): boolean {
    return this.next > 0;
  }

  /** Whether every row is acknowledged. */
  get complete(): boolean {
    return this.rows !== undefined && this.acked + this.duplicates === this.count;
  }

  /** Notes a row's submission. */
  submit(index: number): void {
    if (this.tries[index]! < 255) this.tries[index]!++;
    // Until an answer says more, a row that is with the server may or may not be stored.
    this.codes[index] = UNKNOWN;
  }

  /** Notes a row's acknowledgment. */
  acknowledge(index: number, sequence: number, duplicate: boolean): void {
    this.codes[index] = duplicate ? DUPLICATE : ACKED;
    this.sequences[index] = sequence;
    if (duplicate) this.duplicates++;
    else this.acked++;
  }

  /** Notes the acknowledgment of rows `from` to `to` (exclusive), whose sequences are not told. */
  acknowledgeRange(from: number, to: number): void {
    this.codes.fill(ACKED, from, to);
    this.acked += to - from;
  }

  /** Notes that a row's last submission did not store it, or may have. */
  refuse(index: number, stored: "no" | "unknown"): void {
    // What was acknowledged can turn out to be gone: a call with such a row is not complete.
    if (this.codes[index] === ACKED) this.acked--;
    if (this.codes[index] === DUPLICATE) this.duplicates--;
    this.codes[index] = stored === "no" ? REJECTED : UNKNOWN;
    if (stored === "unknown") this.#doubtful.add(index);
  }

  /** Whether some row may be stored although it is not acknowledged. */
  get hasDoubts(): boolean {
    return this.earlier !== undefined || this.#doubtful.size > 0;
  }

  /** Returns when a row was first sent, if it may be stored: by a submission without a clear answer, or by one now. */
  mayBeStoredSince(index: number): Moment | undefined {
    const earlier = this.earlier?.firstSent(index);
    if (earlier !== undefined) return earlier;
    return this.codes[index] === UNKNOWN || this.#doubtful.has(index) ? this.firstSent.of(index) : undefined;
  }

  /** Returns why a row must not be sent (again): it may be stored, and the stream might store it twice. */
  resendFault(index: number, publishTimeout: number): string | undefined {
    if (!this.hasDoubts) return undefined;
    const firstSent = this.mayBeStoredSince(index);
    if (firstSent === undefined) return undefined;
    const rows = this.rows!;
    return resendFault({
      row: rows.rowNumber(index),
      hasId: rows.hasId(index),
      firstSent,
      now: currentMoment(),
      duplicateWindow: this.duplicateWindow,
      publishTimeout,
    });
  }

  /** The duplicate window of its stream in milliseconds; the shorter one if it has changed since earlier sends. */
  get duplicateWindow(): number {
    return Math.min(this.destination?.duplicateWindow ?? Infinity, this.earlier?.duplicateWindow ?? Infinity);
  }

  /** Whether a row acknowledged as new may be stored twice: the stream may have forgotten the id of an earlier copy. */
  mayBeStoredTwice(index: number): boolean {
    if (!this.hasDoubts) return false;
    const since = this.earlier?.firstSent(index) ?? (this.#doubtful.has(index) ? this.firstSent.of(index) : undefined);
    return since !== undefined && elapsedBetween(since, currentMoment()) >= resendLimit(this.duplicateWindow, 0);
  }

  /** Notes that a row was taken back before the connection had it. */
  withdraw(index: number): void {
    this.tries[index]!--;
    this.codes[index] = this.tries[index] === 0 ? UNSENT : UNKNOWN;
  }

  /** Ends the call, with an error where it has failed. */
  end(error: unknown): void {
    this.over = true;
    if (error !== undefined) {
      this.error = error;
      this.loaded.reject(error);
      this.done.reject(error);
    }
    this.submitted.resolve();
    this.release();
  }

  /** Notes that the last row was submitted for the first time. */
  allSubmitted(): void {
    if (!this.keepsRows) this.release();
    this.submitted.resolve();
    if (this.count === 0) this.done.resolve();
  }

  /** Lets go of the bodies. */
  release(): void {
    if (this.released) return;
    this.released = true;
    this.rows?.release();
  }

  /** Releases what is known of each row, after a success. */
  free(): void {
    this.rows?.free();
    this.#memory?.give(this.codes);
    this.codes = this.tries = NO_BYTES;
    this.sequences = NO_NUMBERS;
  }

  /**
   * The first row, among those submitted once and stored as new, whose sequence is below its predecessor's: the stream
   * was deleted and recreated in between. -1 if sequences rise.
   */
  sequenceBreak(): number {
    let previous = 0;
    for (let i = 0; i < this.count; i++) {
      if (this.codes[i] !== ACKED || this.tries[i] !== 1) continue;
      if (this.sequences[i]! <= previous) return i;
      previous = this.sequences[i]!;
    }
    return -1;
  }
}
