/**
 * A call: a range of a batch's rows on their way to the stream.
 *
 * @module
 */

import type { PublishErrorCode } from "../errors/mod.ts";
import type { SpareMemory } from "../json/memory/spare.ts";
import type { PreparedRows } from "../message/prepared_rows.ts";
import type { Destination } from "../stream/destination.ts";
import type { EarlierSends } from "../stream/resend.ts";
import { deferred } from "../util/deferred.ts";
import { RowLedger } from "./row_ledger.ts";

/** Why publishing ended. */
export interface Failure {
  /** The error's code. */
  readonly code: PublishErrorCode;
  /** What happened, to follow `Cannot publish ...: `. */
  readonly reason: string;
  /** The call whose row failed, if one row did. */
  readonly call?: Call | undefined;
  /** The row's index in that call. */
  readonly index?: number | undefined;
  /** The server's code. */
  readonly serverCode?: number | undefined;
  /** The error that caused the failure. */
  readonly cause?: unknown;
}

/**
 * The state of a call:
 *
 * - `preparing`: its rows are being encoded. Its position among the other calls is fixed.
 * - `queued`: its rows can be sent, and no message of it was handed to the connection.
 * - `sending`: a message of it was handed to the connection.
 * - `settled`: every row is acknowledged.
 * - `failed`: it has ended with an error; `failure` is set if publishing failed, not the preparation.
 */
export type CallState =
  | { readonly tag: "preparing" | "queued" | "sending" | "settled" }
  | { readonly tag: "failed"; readonly error: unknown; readonly failure: Failure | undefined };

const PREPARING: CallState = { tag: "preparing" };
const QUEUED: CallState = { tag: "queued" };
const SENDING: CallState = { tag: "sending" };
const SETTLED: CallState = { tag: "settled" };

/** What a call is created with. */
export interface CallFields {
  /** The destination resource. */
  readonly resource: string;
  /** How many rows were selected for the call. Fewer are loaded if a piece's byte limit cuts them. */
  readonly count: number;
  /** The numbers of these rows, if not all rows of the batch were selected. */
  readonly only?: readonly number[] | undefined;
  /**
   * Whether submitted rows keep their bodies until they are acknowledged: the client holds them by reference, or they
   * may be sent again.
   */
  readonly keepsRows: boolean;
  /** Whether acknowledgments report each row's sequence, and whether it is a duplicate. */
  readonly reportsSequences: boolean;
  /** The rows that earlier calls may have stored, by their index in this call. */
  readonly earlier?: EarlierSends | undefined;
}

/** What is known of a call's rows, to be read. The call's own methods change it. */
export type KnownRows = Omit<
  RowLedger,
  "load" | "markSent" | "submit" | "withdraw" | "acknowledge" | "acknowledgeRange" | "reject" | "noteAbsence" | "free"
>;

/** A call. Its lane reports through these methods what happens to the rows. */
export class Call {
  /** What the call was created with. */
  readonly fields: CallFields;
  #state: CallState = PREPARING;
  #rows: PreparedRows | undefined;
  #destination: Destination | undefined;
  #next = 0;
  #lastSequence: number | undefined;
  #firstFailure: number | undefined;
  readonly #ledger: RowLedger;
  readonly #loaded = deferred<void>();
  readonly #released = deferred<void>();
  readonly #done = deferred<void>();

  /** Creates a call whose rows are still to be encoded. */
  constructor(fields: CallFields) {
    this.fields = fields;
    this.#ledger = new RowLedger(fields.earlier);
  }

  /** The state. */
  get state(): CallState {
    return this.#state;
  }

  /** Whether the call has ended: it is settled or failed. */
  get isOver(): boolean {
    return this.#state.tag === "settled" || this.#state.tag === "failed";
  }

  /** Whether the rows were loaded: false for a call that is preparing, or failed while it was. */
  get isLoaded(): boolean {
    return this.#rows !== undefined;
  }

  /** The rows. Throws until they are loaded. */
  get rows(): PreparedRows {
    return this.#rows ?? notLoaded();
  }

  /** Where the rows go. Throws until they are loaded. */
  get destination(): Destination {
    return this.#destination ?? notLoaded();
  }

  /** How many rows: until they are loaded, those that were selected. */
  get count(): number {
    return this.#rows?.count ?? this.fields.count;
  }

  /** The index of the next row to submit for the first time. */
  get next(): number {
    return this.#next;
  }

  /** Whether a row was submitted, so that something of the call may be stored. */
  get hasSubmitted(): boolean {
    return this.#next > 0;
  }

  /** What is known of each row. */
  get ledger(): KnownRows {
    return this.#ledger;
  }

  /** The highest sequence of the rows, if acknowledgments report no other. */
  get lastSequence(): number | undefined {
    return this.#lastSequence;
  }

  /** Fulfilled when the rows are loaded; rejected with the call's error if it fails before. */
  get loaded(): Promise<void> {
    return this.#loaded.promise;
  }

  /** Whether the bodies were released: they will not be sent again. */
  get isReleased(): boolean {
    return this.isOver || (!this.fields.keepsRows && this.#next === this.#rows?.count);
  }

  /** Fulfilled when the bodies are released. */
  get released(): Promise<void> {
    return this.#released.promise;
  }

  /** Fulfilled when every row is acknowledged; rejected with the call's error. */
  get done(): Promise<void> {
    return this.#done.promise;
  }

  /**
   * Sets the rows, and queues the call unless it has failed meanwhile. `memory` holds what is known of the rows until
   * {@linkcode free}.
   */
  load(rows: PreparedRows, destination: Destination, memory?: SpareMemory): void {
    if (this.isOver) return;
    this.#rows = rows;
    this.#destination = destination;
    this.#ledger.load(rows, destination.duplicateWindow, memory);
    this.#state = QUEUED;
    this.#loaded.resolve();
  }

  /** Notes that the first message of a batch was sent: nothing is stored before the last one is sent. */
  stage(time: number): void {
    this.#ledger.markSent(0, this.count, time);
    if (this.#state === QUEUED) this.#state = SENDING;
  }

  /** Notes that rows `from` to `to` (exclusive) are submitted. */
  submit(from: number, to: number, time: number): void {
    this.#ledger.submit(from, to, time);
    if (to > this.#next) this.#next = to;
    if (this.#state === QUEUED) this.#state = SENDING;
  }

  /** Notes that the row submitted last never reached the connection. */
  withdraw(index: number): void {
    if (!this.#ledger.withdraw(index)) return;
    this.#next = index;
    if (index === 0 && this.#state === SENDING) this.#state = QUEUED;
  }

  /** Notes that every row was submitted: releases the bodies unless rows may be sent again. Settles an empty call. */
  finishSubmission(): void {
    if (this.count === 0) this.settle();
    else if (!this.fields.keepsRows) this.#release();
  }

  /** Notes a row's acknowledgment. */
  acknowledge(index: number, sequence: number, duplicate: boolean): void {
    this.#ledger.acknowledge(index, sequence, duplicate);
  }

  /** Notes an acknowledgment of rows `from` to `to` (exclusive) that reports no sequences. */
  acknowledgeRange(from: number, to: number): void {
    this.#ledger.acknowledgeRange(from, to);
  }

  /** Notes the highest sequence of the rows. */
  noteLastSequence(sequence: number): void {
    this.#lastSequence = sequence;
  }

  /** Notes that a row's last submission did not store it, or may have; of an acknowledged row, that it may be gone. */
  reject(index: number, stored: "no" | "unknown"): void {
    this.#ledger.reject(index, stored);
  }

  /** Notes that the stream does not have a row: no submission has stored it. */
  noteAbsence(index: number): void {
    this.#ledger.noteAbsence(index);
  }

  /** Returns when a row of the call failed first: `time`, if none did before. A retry budget counts from there. */
  noteFailure(time: number): number {
    return this.#firstFailure ??= time;
  }

  /** Ends the call with success: every row is acknowledged. */
  settle(): void {
    if (this.isOver) return;
    this.#state = SETTLED;
    this.#release();
    this.#done.resolve();
  }

  /** Ends the call with an error. */
  fail(error: unknown, failure?: Failure): void {
    if (this.isOver) return;
    this.#state = { tag: "failed", error, failure };
    this.#release();
    this.#loaded.reject(error);
    this.#done.reject(error);
  }

  /** Releases lengths, ids and what is known of each row, once a settled call's receipt is made. */
  free(): void {
    this.#rows?.free();
    this.#ledger.free();
  }

  #release(): void {
    this.#rows?.release();
    this.#released.resolve();
  }
}

function notLoaded(): never {
  throw new Error("Cannot read the rows of a call: they are not loaded");
}
