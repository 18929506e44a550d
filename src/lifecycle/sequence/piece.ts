/**
 * A piece of a batch: published over one connection, and over later ones until every row is acknowledged.
 *
 * @module
 */

import { currentMoment, type Moment, resendFault } from "../../stream/resend.ts";
import { encodeBodies } from "../../message/columns.ts";
import { IdIndex } from "../../message/id_index.ts";
import type { RowRange } from "../../message/prepare.ts";
import type { PreparedRows } from "../../message/prepared_rows.ts";
import type { BatchSource } from "../../publish/prepare_batch.ts";
import type { PublisherCore } from "../../publish/core.ts";
import { modeOf } from "../../publish/mode.ts";
import type { LoadOptions } from "../../publish/load.ts";
import type { Call } from "../../publish/call.ts";
import { ACKED, DUPLICATE, isAcknowledged, REJECTED, UNKNOWN, UNSENT } from "../../publish/outcomes.ts";
import { makeReceipt, receiptOf, reportedFields } from "../../publish/receipt.ts";
import type { WriteReceipt } from "../../types/mod.ts";
import type { LeftPiece, PieceLog } from "./piece_log.ts";

/** A batch of a sequence, and what is known of its rows. */
export interface Part {
  /** Its index in the sequence. */
  readonly index: number;
  /** The batch, open. */
  readonly source: BatchSource;
  /** Outcomes of its selected rows, as codes of outcomes.ts. */
  readonly codes: Uint8Array;
  /** Whether any of its rows was submitted. */
  sent: boolean;
  /** The highest sequence of its rows in pieces with receipts, of those sent once and stored as new. */
  highest: number;
}

/** Whether every row is acknowledged. */
export function allAcknowledged(codes: Uint8Array): boolean {
  return codes.every(isAcknowledged);
}

/** Whether a row was sent and then refused or not answered. */
export function hasFailed(codes: Uint8Array): boolean {
  return codes.some((code) => code === REJECTED || code === UNKNOWN);
}

/** A piece of a batch. */
export class Piece {
  /** Its batch. */
  readonly part: Part;
  /** Index of its first row among the selected rows of the batch. */
  readonly from: number;
  /** The call that publishes its rows now. */
  call: Call;
  /** Its rows as they were loaded first: their numbers and ids. */
  #rows: PreparedRows | undefined;
  /** The outcomes of its rows after all calls so far. */
  #codes: Uint8Array = new Uint8Array(0);
  #sequences: Float64Array = new Float64Array(0);
  #tries: Uint8Array = new Uint8Array(0);
  /** When rows that may be stored were first sent, by their index in the piece. */
  readonly #sentSince = new Map<number, Moment>();
  #duplicateWindow = Infinity;
  /** Indices within the piece of the rows that the current call publishes; undefined: all. */
  #carried: readonly number[] | undefined;

  /** Starts a piece. It takes fewer rows than the range has if their bodies exceed the limit of a piece. */
  constructor(
    core: PublisherCore,
    part: Part,
    range: RowRange,
    signal: AbortSignal | undefined,
    log: PieceLog | undefined,
  ) {
    this.part = part;
    this.from = range.from;
    const before: LoadOptions["before"] = log &&
      ((rows, { stream, subject }) => {
        const { count, bodyBytes, crc32c } = rows;
        return log.begin({
          batch: part.index,
          offset: range.from,
          rows: count,
          bytes: bodyBytes,
          crc32c,
          stream,
          subject,
        });
      });
    this.call = core.start(part.source, range, { signal, cut: true, before });
  }

  /** Whether its rows were ever ready to be sent. */
  get loaded(): boolean {
    return this.#rows !== undefined || this.call.isLoaded;
  }

  /** Adds the outcomes of the call that has ended. */
  note(): void {
    const { call, part } = this;
    if (!call.isLoaded) return;
    part.sent ||= call.hasSubmitted;
    if (this.#carried === undefined) {
      this.#noteSends(call.count, (index) => index);
      this.#rows = call.rows;
      this.#codes = call.ledger.codes;
      this.#sequences = call.ledger.sequences;
      this.#tries = call.ledger.tries;
    } else {
      const carried = this.#carried;
      carried.forEach((row, i) => this.#merge(row, i));
      this.#noteSends(carried.length, (index) => carried[index]!);
      this.#carried = []; // taken: a second look adds nothing
    }
    this.#duplicateWindow = Math.min(this.#duplicateWindow, call.ledger.duplicateWindow);
    part.codes.set(this.#codes, this.from);
  }

  /** Notes when rows that may be stored were first sent. */
  #noteSends(count: number, rowAt: (index: number) => number): void {
    const { ledger } = this.call;
    for (let i = 0; i < count; i++) {
      const since = isAcknowledged(ledger.codes[i]!) ? undefined : ledger.mayBeStoredSince(i);
      if (since !== undefined) this.#sentSince.set(rowAt(i), since);
    }
  }

  #merge(row: number, index: number): void {
    const { codes, sequences, tries } = this.call.ledger;
    // A row that was not sent again is as it was before.
    if (codes[index] === UNSENT) return;
    this.#codes[row] = codes[index]!;
    this.#sequences[row] = sequences[index]!;
    this.#tries[row] = Math.min(255, this.#tries[row]! + tries[index]!);
  }

  /** Whether every row is acknowledged by the calls that have ended. */
  get complete(): boolean {
    return this.#rows !== undefined && allAcknowledged(this.#codes);
  }

  /**
   * Raises its batch's highest sequence to its own. Returns the number of the first row, among those sent once and stored
   * as new, whose sequence is not above those of the pieces before it: the stream was deleted and recreated in between.
   */
  rise(): number | undefined {
    if (!this.call.fields.reportsSequences) return undefined;
    const { part } = this;
    const before = part.highest;
    for (let i = 0; i < this.#codes.length; i++) {
      if (this.#codes[i] !== ACKED || this.#tries[i] !== 1) continue;
      if (this.#sequences[i]! <= before) return this.#rows!.rowNumber(i);
      part.highest = Math.max(part.highest, this.#sequences[i]!);
    }
  }

  /** Returns why its rows must not be sent again: one of them may be stored, and could be stored twice. */
  whyNotAgain(publishTimeout: number): string | undefined {
    const now = currentMoment();
    const duplicateWindow = this.#duplicateWindow;
    for (const [index, firstSent] of this.#sentSince) {
      if (isAcknowledged(this.#codes[index]!)) continue;
      const [row, hasId] = [this.#rows!.rowNumber(index), this.#rows!.hasId(index)];
      const fault = resendFault({ row, hasId, firstSent, now, duplicateWindow, publishTimeout });
      if (fault !== undefined) return fault;
    }
  }

  /** Returns the outcome of a row. It stays unknown for a row that an earlier submission may have stored. */
  #outcomeOf(row: number): number {
    const code = this.#codes[row]!;
    return !isAcknowledged(code) && this.#sentSince.has(row) ? UNKNOWN : code;
  }

  /** Returns the outcomes of its rows after the calls that have ended. */
  left(): LeftPiece {
    const codes = this.#codes.map((_, i) => this.#outcomeOf(i));
    const sequences = this.call.fields.reportsSequences ? this.#sequences : undefined;
    return { batch: this.part.index, offset: this.from, codes, sequences };
  }

  /** Publishes the rows that are not acknowledged again, or the whole piece if its rows are stored together. */
  resume(core: PublisherCore, signal: AbortSignal | undefined): void {
    const { whole } = modeOf(core.settings);
    const carried = [...this.#codes.keys()].filter((row) => whole || !isAcknowledged(this.#codes[row]!));
    const { source } = this.part;
    const only = carried.map((row) => source.only?.[this.from + row] ?? this.from + row);
    const again: BatchSource = {
      ...source,
      only,
      selected: only.length,
      earlier: {
        duplicateWindow: this.#duplicateWindow,
        firstSent: (index) => this.#sentSince.get(carried[index]!),
      },
      ...(source.ids === undefined ? {} : { ids: { ...source.ids, seen: new IdIndex() } }),
    };
    this.#carried = carried;
    this.call = core.start(again, { from: 0, count: only.length }, { signal, cut: false });
  }

  /** Returns the receipt of a complete piece. */
  receipt(): WriteReceipt {
    if (this.#carried === undefined) return receiptOf(this.call, this.part.index);
    const { source, index } = this.part;
    const { bytes, crc32c } = encodeBodies(source.body, {
      ...(source.only === undefined ? {} : { only: source.only }),
      from: this.from,
      count: this.#codes.length,
    });
    return makeReceipt({
      destination: this.call.destination,
      rows: this.#codes.length,
      bytes: bytes.length,
      crc32c,
      ...reportedFields(this.call, this.#codes.filter((code) => code === DUPLICATE).length, this.#sequences),
      batch: index,
      offset: this.from,
    });
  }
}
