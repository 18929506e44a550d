/**
 * What is known of each row of a call: its outcome so far, its sequence, and when it was first sent.
 *
 * @module
 */

import { type SpareMemory, zeros } from "../json/memory/spare.ts";
import type { PreparedRows } from "../message/prepared_rows.ts";
import {
  currentMoment,
  type EarlierSends,
  elapsedBetween,
  type Moment,
  resendFault,
  resendLimit,
} from "../stream/resend.ts";
import { lowerBound } from "../util/lower_bound.ts";
import { ACKED, DUPLICATE, REJECTED, UNKNOWN, UNSENT } from "./outcomes.ts";

const NO_BYTES = new Uint8Array(0);
const NO_NUMBERS = new Float64Array(0);

/** Notes what happens to the rows of a call. Has no rows until they are loaded. */
export class RowLedger {
  readonly #sent = new FirstSent();
  readonly #earlier: EarlierSends | undefined;
  /** Rows that a submission which has ended may have stored: it had no clear answer. */
  readonly #doubtful = new Set<number>();
  #rows: PreparedRows | undefined;
  #streamWindow = Infinity;
  #memory: SpareMemory | undefined;
  #codes: Uint8Array<ArrayBuffer> = NO_BYTES;
  #sequences: Float64Array = NO_NUMBERS;
  #tries: Uint8Array = NO_BYTES;
  #acked = 0;
  #duplicates = 0;

  /** Creates a ledger; `earlier` has the rows that earlier calls may have stored. */
  constructor(earlier?: EarlierSends) {
    this.#earlier = earlier;
  }

  /** The code of each row's outcome so far; see outcomes.ts. */
  get codes(): Uint8Array {
    return this.#codes;
  }

  /** The stream sequence of each acknowledged row. */
  get sequences(): Float64Array {
    return this.#sequences;
  }

  /** How often each row was submitted, up to 255. */
  get tries(): Uint8Array {
    return this.#tries;
  }

  /** Rows that the stream had already. */
  get duplicates(): number {
    return this.#duplicates;
  }

  /** Whether every row is acknowledged. */
  get allAcknowledged(): boolean {
    return this.#rows !== undefined && this.#acked + this.#duplicates === this.#rows.count;
  }

  /** Whether some row may be stored by a submission that has ended, or by an earlier call. */
  get hasDoubts(): boolean {
    return this.#earlier !== undefined || this.#doubtful.size > 0;
  }

  /** The duplicate window of the stream in milliseconds; the shorter one if it has changed since earlier calls. */
  get duplicateWindow(): number {
    return Math.min(this.#streamWindow, this.#earlier?.duplicateWindow ?? Infinity);
  }

  /** Returns when the call first sent a row; undefined if it did not. */
  firstSent(index: number): Moment | undefined {
    return this.#sent.of(index);
  }

  /** Returns when a row was first sent, if it may be stored. */
  mayBeStoredSince(index: number): Moment | undefined {
    const since = this.#doubtSince(index);
    return since === undefined && this.#codes[index] === UNKNOWN ? this.#sent.of(index) : since;
  }

  /** Returns why a row must not be sent (again): it may be stored, and the stream might store it twice. */
  resendFault(index: number, publishTimeout: number): string | undefined {
    if (!this.hasDoubts) return undefined;
    const firstSent = this.mayBeStoredSince(index);
    if (firstSent === undefined) return undefined;
    const rows = this.#rows!;
    return resendFault({
      row: rows.rowNumber(index),
      hasId: rows.hasId(index),
      firstSent,
      now: currentMoment(),
      duplicateWindow: this.duplicateWindow,
      publishTimeout,
    });
  }

  /** Whether a row acknowledged as new may be stored twice: the stream may have forgotten the id of an earlier copy. */
  mayBeStoredTwice(index: number): boolean {
    if (!this.hasDoubts) return false;
    const since = this.#doubtSince(index);
    return since !== undefined && elapsedBetween(since, currentMoment()) >= resendLimit(this.duplicateWindow, 0);
  }

  /** Returns when a row was first sent, if a submission that has ended, or an earlier call, may have stored it. */
  #doubtSince(index: number): Moment | undefined {
    return this.#earlier?.firstSent(index) ?? (this.#doubtful.has(index) ? this.#sent.of(index) : undefined);
  }

  /** Sets the rows, and the duplicate window of their stream. Takes spare memory until {@linkcode free}. */
  load(rows: PreparedRows, duplicateWindow: number, memory: SpareMemory | undefined): void {
    const { count } = rows;
    const { buffer } = zeros(10 * count, memory);
    this.#rows = rows;
    this.#streamWindow = duplicateWindow;
    this.#memory = memory;
    this.#sequences = new Float64Array(buffer, 0, count);
    this.#codes = new Uint8Array(buffer, 8 * count, count);
    this.#tries = new Uint8Array(buffer, 9 * count, count);
  }

  /** Notes that rows `from` to `to` (exclusive) are sent now. Rows that were sent before keep their time. */
  markSent(from: number, to: number, time: number): void {
    this.#sent.mark(from, to, time);
  }

  /** Notes that rows `from` to `to` (exclusive) are submitted. */
  submit(from: number, to: number, time: number): void {
    this.#sent.mark(from, to, time);
    for (let i = from; i < to; i++) {
      if (this.#tries[i]! < 255) this.#tries[i]!++;
      // Until an answer says more, a row that is with the server may or may not be stored.
      this.#codes[i] = UNKNOWN;
    }
  }

  /** Notes that a submitted row never reached the connection. Returns whether it was the row's first submission. */
  withdraw(index: number): boolean {
    if (--this.#tries[index]! > 0) return false;
    this.#codes[index] = UNSENT;
    return true;
  }

  /** Notes a row's acknowledgment. */
  acknowledge(index: number, sequence: number, duplicate: boolean): void {
    this.#codes[index] = duplicate ? DUPLICATE : ACKED;
    this.#sequences[index] = sequence;
    if (duplicate) this.#duplicates++;
    else this.#acked++;
  }

  /** Notes an acknowledgment of rows `from` to `to` (exclusive) that reports no sequences. */
  acknowledgeRange(from: number, to: number): void {
    this.#codes.fill(ACKED, from, to);
    this.#acked += to - from;
  }

  /**
   * Notes that a row's last submission did not store it, or may have; of an acknowledged row, that it may be gone. The
   * row is rejected only if no other submission may have stored it.
   */
  reject(index: number, stored: "no" | "unknown"): void {
    if (this.#codes[index] === ACKED) this.#acked--;
    if (this.#codes[index] === DUPLICATE) this.#duplicates--;
    if (stored === "unknown") this.#doubtful.add(index);
    const certain = stored === "no" && (!this.hasDoubts || this.#doubtSince(index) === undefined);
    this.#codes[index] = certain ? REJECTED : UNKNOWN;
  }

  /** Notes that the stream does not have a row: no submission has stored it. */
  noteAbsence(index: number): void {
    this.#codes[index] = REJECTED;
    this.#doubtful.delete(index);
  }

  /** Gives the memory back. Later notes change nothing. */
  free(): void {
    this.#memory?.give(this.#codes);
    this.#codes = this.#tries = NO_BYTES;
    this.#sequences = NO_NUMBERS;
  }
}

/** Rows that are sent within this many milliseconds share a mark: the first one's. */
const GRAIN = 50;

/**
 * The times of first submissions, in row order. One mark serves the rows of some milliseconds, since a clock read per
 * row would cost: a row's time is never after the true one, and at most a grain before it.
 */
export class FirstSent {
  readonly #rows: number[] = [];
  readonly #moments: Moment[] = [];
  /** Rows before this one were sent. */
  #sent = 0;

  /** Notes that rows `from` to `to` (exclusive) are sent now. Rows that were sent before keep their time. */
  mark(from: number, to: number, steady: number): void {
    if (to <= this.#sent) return;
    const first = Math.max(from, this.#sent);
    this.#sent = to;
    const last = this.#moments.at(-1);
    if (last !== undefined && steady - last.steady < GRAIN) return;
    this.#rows.push(first);
    this.#moments.push({ wall: Date.now(), steady });
  }

  /** Returns when a row was first sent; undefined if it was not. */
  of(row: number): Moment | undefined {
    if (row >= this.#sent) return undefined;
    return this.#moments[lowerBound(0, this.#rows.length, (at) => this.#rows[at]!, row + 1) - 1];
  }
}
