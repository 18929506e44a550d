/**
 * Publishes a sequence of batches piece by piece: the next piece is encoded while the last one's acknowledgments come
 * in, and never more than two encoded pieces are in memory.
 *
 * @module
 */

import { pieceRanges } from "../arrow/pieces.ts";
import type { PublishError } from "../errors.ts";
import type { RowRange } from "../message/prepare.ts";
import type { BatchSource } from "../publish/batch_source.ts";
import type { PublisherCore } from "../publish/core.ts";
import type { Delivery, Failure } from "../publish/delivery.ts";
import { abortedFailure, errorOf } from "../publish/failure.ts";
import { receiptOf } from "../publish/receipt.ts";
import type { ApplyAllOptions, Batches, RowBatch, WriteReceipt } from "../types.ts";
import { SourceReader } from "./source_reader.ts";

/** A batch of the sequence, and what is known of its rows. */
interface Part {
  readonly index: number;
  readonly batch: RowBatch;
  readonly source: BatchSource;
  /** Outcomes of its selected rows; see outcomes.ts. */
  readonly codes: Uint8Array;
  /** Whether any of its rows was submitted. */
  sent: boolean;
}

/** A piece of a batch, on its way. */
interface Piece {
  readonly part: Part;
  readonly delivery: Delivery;
}

/** The rows of a batch that were not all acknowledged. */
export interface Unfinished {
  /** Its index in the sequence. */
  readonly index: number;
  /** The batch as it was given. */
  readonly batch: RowBatch;
  /** Outcomes of its selected rows; see outcomes.ts. */
  readonly codes: Uint8Array;
}

/** How a sequence ended, where it did not reach its end. */
export interface Stopped {
  /** What a caller is thrown. */
  readonly error: unknown;
  /** Batches begun and not wholly acknowledged, in order. */
  readonly unfinished: readonly Unfinished[];
}

/** Publishes a sequence of batches over one publisher. */
export class SequenceRunner {
  readonly #core: PublisherCore;
  readonly #options: ApplyAllOptions;
  readonly #report: (receipt: WriteReceipt) => void | Promise<void>;
  /** Pieces whose receipts are still to be reported, in order. */
  #pieces: Piece[] = [];
  #parts: Part[] = [];
  #last: Piece | undefined;
  #begun = 0;

  /** A runner that tells each piece's receipt in order, and waits for what it is told. */
  constructor(core: PublisherCore, options: ApplyAllOptions, report: (receipt: WriteReceipt) => void | Promise<void>) {
    this.#core = core;
    this.#options = options;
    this.#report = report;
  }

  /** Publishes to the end of the sequence; gives what stopped it where something did. `first` is the first batch's index. */
  async run(batches: Batches, first = 0): Promise<Stopped | undefined> {
    const reader = new SourceReader(batches, this.#options.signal);
    try {
      for (let index = first;; index++) {
        this.#begun = index;
        const next = reader.next();
        await this.#until(next, () => reader.idle);
        const batch = await next;
        if (batch === undefined) break;
        await this.#runBatch(index, batch);
      }
      while (this.#pieces.length > 0) await this.#reportFirst();
      return undefined;
    } catch (error) {
      await reader.close();
      return await this.#stopped(error);
    }
  }

  async #runBatch(index: number, batch: RowBatch): Promise<void> {
    const source = this.#core.open(batch, this.#options.signal);
    const part: Part = { index, batch, source, codes: new Uint8Array(source.selected), sent: false };
    this.#parts.push(part);
    for (const range of rangesOf(source, this.#options, this.#core.mostRowsOfPiece)) await this.#runRange(part, range);
  }

  /** Runs a range of rows: one piece, or several where the bodies pass a piece's limit. */
  async #runRange(part: Part, range: RowRange): Promise<void> {
    let { from, count } = range;
    do {
      const delivery = this.#core.start(part.source, { from, count }, this.#options.signal, true);
      const piece = { part, delivery };
      this.#pieces.push(piece);
      await this.#until(delivery.loaded.promise, () => delivery.rows !== undefined);
      await delivery.loaded.promise;
      from += delivery.count;
      count -= delivery.count;
      const before = this.#last;
      this.#last = piece;
      if (before !== undefined) await this.#until(this.#freed(before), () => this.#isFree(before));
    } while (count > 0);
  }

  /** Fulfilled when a piece's encoded rows are out of memory. */
  #freed({ delivery }: Piece): Promise<void> {
    return this.#core.holdsRows ? delivery.done.promise : delivery.submitted.promise;
  }

  #isFree({ delivery }: Piece): boolean {
    return delivery.released || delivery.over;
  }

  /** Waits for something, and reports meanwhile what is acknowledged. Throws what a piece was ended by. */
  async #until(promise: Promise<unknown>, reached: () => boolean): Promise<void> {
    while (true) {
      while (this.#pieces[0]?.delivery.over) await this.#reportFirst();
      if (reached()) return;
      const first = this.#pieces[0]?.delivery.done.promise;
      await (first === undefined ? promise : Promise.race([promise, first]));
    }
  }

  async #reportFirst(): Promise<void> {
    const { part, delivery } = this.#pieces[0]!;
    await delivery.done.promise;
    this.#pieces.shift();
    note(part, delivery);
    while (this.#parts[0] !== this.#pieces[0]?.part && this.#parts.length > 1) this.#parts.shift();
    await this.#report(receiptOf(delivery, part.index));
  }

  /** Lets all pieces come to their end, reports those that are whole, and makes the error of the first that is not. */
  async #stopped(error: unknown): Promise<Stopped> {
    const pieces = this.#pieces;
    await Promise.allSettled(pieces.map(({ delivery }) => delivery.done.promise));
    let thrown = error;
    try {
      while (this.#pieces[0] !== undefined && this.#pieces[0].delivery.complete) await this.#reportFirst();
    } catch (reportError) {
      // A publisher's failure stays the reason; `onReceipt` can only be the reason where nothing else was.
      thrown = pieces.some(({ delivery }) => delivery.failure !== undefined) ? error : reportError;
    }
    for (const { part, delivery } of this.#pieces) note(part, delivery);
    const unfinished = this.#parts.filter(({ codes }) => codes.some((code) => code !== 1 && code !== 2));
    const failure = pieces.find(({ delivery }) => delivery.failure !== undefined)?.delivery.failure;
    const first = unfinished[0];
    if (failure !== undefined && first !== undefined && isPublishError(thrown)) {
      thrown = mergedError(failure, first, pieces);
    } else if (this.#options.signal?.aborted && thrown === this.#options.signal.reason) {
      // Aborted while it waited for the source: nothing was on its way.
      const none = { row: undefined, sent: false, batch: this.#begun };
      thrown = errorOf(abortedFailure(thrown), { resource: "the next batch", count: 0 }, new Uint8Array(0), none);
    }
    return { error: thrown, unfinished };
  }
}

function isPublishError(error: unknown): error is PublishError {
  return error instanceof Error && error.name === "PublishError";
}

/** Takes over what is known of a piece's rows. */
function note(part: Part, delivery: Delivery): void {
  if (delivery.rows !== undefined) part.codes.set(delivery.codes, delivery.rows.from);
  part.sent ||= delivery.sent;
}

/** The error of a batch, all its pieces included; pieces that were never begun are unsent. */
function mergedError(failure: Failure, part: Part, pieces: readonly Piece[]): PublishError {
  const own = pieces.find((piece) => piece.delivery === failure.delivery && piece.part === part);
  return errorOf(
    failure,
    { resource: part.source.resource, count: part.source.selected, only: part.source.only },
    part.codes,
    {
      row: own === undefined || failure.index === undefined ? undefined : own.delivery.rows!.rowNumber(failure.index),
      sent: part.sent,
      batch: part.index,
    },
  );
}

/** The pieces of a batch; a batch without rows is one piece, for its receipt. */
function* rangesOf(source: BatchSource, options: ApplyAllOptions, mostRows: number): Iterable<RowRange> {
  if (source.selected === 0) yield { from: 0, count: 0 };
  const batchMaxRows = Math.min(options.batchMaxRows ?? mostRows, mostRows);
  yield* pieceRanges(source.view, { ...options, ...(batchMaxRows === Infinity ? {} : { batchMaxRows }) }, source.only);
}
