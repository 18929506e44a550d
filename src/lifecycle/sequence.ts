/**
 * Publishes a sequence of batches piece by piece: the next piece is encoded while the last one's acknowledgments come
 * in, and never more than two encoded pieces are in memory.
 *
 * @module
 */

import { pieceRanges, resolveLimits } from "../arrow/slice.ts";
import type { RowRange } from "../message/prepare.ts";
import type { BatchSource } from "../publish/batch_source.ts";
import type { PublisherCore } from "../publish/core.ts";
import type { Failure } from "../publish/delivery.ts";
import { abortedFailure, errorOf } from "../publish/failure.ts";
import type { ApplyAllOptions, Batches, BatchLimits, WriteReceipt } from "../types.ts";
import { isPublishError, type Part, Piece } from "./piece.ts";
import { SourceReader } from "./source_reader.ts";

/** The batch at hand. */
interface Current {
  readonly part: Part;
  /** What is left of the range at hand. */
  left: RowRange | undefined;
  /** The ranges after it. */
  readonly ranges: Iterator<RowRange>;
}

/** Publishes a sequence of batches; what one publisher left undone, another can go on with. */
export class SequenceRunner {
  readonly #options: ApplyAllOptions;
  readonly #limits: Required<BatchLimits>;
  readonly #report: (receipt: WriteReceipt) => void | Promise<void>;
  readonly #reader: SourceReader;
  /** Pieces whose receipts are still to be reported, in order. */
  #pieces: Piece[] = [];
  /** Batches that have such pieces, or rows that are in no piece yet, in order. */
  #parts: Part[] = [];
  #current: Current | undefined;
  #index = 0;

  /** A runner that tells each piece's receipt in order, and waits for what it is told. */
  constructor(
    batches: Batches,
    options: ApplyAllOptions,
    report: (receipt: WriteReceipt) => void | Promise<void>,
  ) {
    this.#options = options;
    this.#limits = resolveLimits(options);
    this.#report = report;
    this.#reader = new SourceReader(batches, options.signal);
  }

  /** Publishes to the end of the sequence, or goes on after {@linkcode settle}. */
  async run(core: PublisherCore): Promise<void> {
    for (const piece of this.#pieces) {
      if (piece.complete) continue;
      piece.resume(core, this.#options.signal);
      await this.#until(piece.delivery.loaded.promise, () => piece.delivery.rows !== undefined);
      await this.#until(piece.delivery.done.promise, () => piece.delivery.over);
    }
    while (true) {
      if (this.#current !== undefined) await this.#runPart(core, this.#current);
      const next = this.#reader.next();
      await this.#until(next, () => this.#reader.idle);
      const batch = await next;
      if (batch === undefined) break;
      const source = core.open(batch, this.#options.signal);
      const part: Part = { index: this.#index++, batch, source, codes: new Uint8Array(source.selected), sent: false };
      this.#parts.push(part);
      const ranges = rangesOf(source, this.#limits, core.mostRowsOfPiece);
      this.#current = { part, left: undefined, ranges };
    }
    while (this.#pieces.length > 0) await this.#reportFirst();
  }

  async #runPart(core: PublisherCore, current: Current): Promise<void> {
    for (current.left ??= nextRange(current); current.left !== undefined;) {
      const { from, count } = current.left;
      const before = this.#pieces.at(-1);
      const piece = new Piece(core, current.part, current.left, this.#options.signal);
      this.#pieces.push(piece);
      await this.#until(piece.delivery.loaded.promise, () => piece.delivery.rows !== undefined);
      const taken = piece.delivery.count;
      current.left = taken < count ? { from: from + taken, count: count - taken } : nextRange(current);
      if (before !== undefined) await this.#until(freed(core, before), () => isFree(before));
    }
    this.#current = undefined;
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
    const piece = this.#pieces[0]!;
    await piece.delivery.done.promise;
    this.#pieces.shift();
    piece.note();
    while (this.#parts.length > 0 && this.#parts[0] !== (this.#pieces[0]?.part ?? this.#current?.part)) {
      this.#parts.shift();
    }
    await this.#report(piece.receipt());
  }

  /** Lets all pieces come to their end after an error, and reports those that are whole. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#pieces.map(({ delivery }) => delivery.done.promise));
    for (const piece of this.#pieces) piece.note();
    // A piece that was never loaded is begun anew from what is left of its batch.
    this.#pieces = this.#pieces.filter(({ delivery }) => delivery.rows !== undefined);
    while (this.#pieces[0]?.complete) await this.#reportFirst();
  }

  /** Why the rows that are not acknowledged may not be sent again; undefined when they may. */
  whyNotAgain(publishTimeout: number): string | undefined {
    for (const piece of this.#pieces) {
      const reason = piece.complete ? undefined : piece.whyNotAgain(publishTimeout);
      if (reason !== undefined) return reason;
    }
  }

  /**
   * Closes the source after {@linkcode settle} and gives what the caller is to be thrown: a PublishError is the first
   * unfinished batch's, all its pieces included, and those never begun unsent.
   */
  async close(error: unknown): Promise<unknown> {
    await this.#reader.close();
    const part = this.#parts.find(({ codes }) => codes.some((code) => code !== 1 && code !== 2));
    const failure = this.#pieces.find(({ delivery }) => delivery.failure !== undefined)?.delivery.failure;
    if (failure !== undefined && part !== undefined && isPublishError(error)) {
      return errorOf(failure, { ...part.source, count: part.source.selected }, part.codes, {
        row: this.#failedRow(failure, part),
        sent: part.sent,
        batch: part.index,
      });
    }
    if (!this.#options.signal?.aborted || error !== this.#options.signal.reason) return error;
    // Aborted while it waited for the source: nothing was on its way.
    const none = { row: undefined, sent: false, batch: this.#index };
    return errorOf(abortedFailure(error), { resource: "the next batch", count: 0 }, new Uint8Array(0), none);
  }

  #failedRow(failure: Failure, part: Part): number | undefined {
    const own = this.#pieces.find((piece) => piece.delivery === failure.delivery && piece.part === part);
    return failure.index === undefined ? undefined : own?.delivery.rows?.rowNumber(failure.index);
  }
}

/** Fulfilled when a piece's encoded rows are out of memory. */
function freed(core: PublisherCore, { delivery }: Piece): Promise<void> {
  return core.holdsRows ? delivery.done.promise : delivery.submitted.promise;
}

function isFree({ delivery }: Piece): boolean {
  return delivery.released || delivery.over;
}

function nextRange({ ranges }: { readonly ranges: Iterator<RowRange> }): RowRange | undefined {
  const next = ranges.next();
  return next.done ? undefined : next.value;
}

/** The pieces of a batch; a batch without rows is one piece, for its receipt. */
function* rangesOf(source: BatchSource, limits: Required<BatchLimits>, mostRows: number): Generator<RowRange> {
  if (source.selected === 0) return void (yield { from: 0, count: 0 });
  const batchMaxRows = Math.min(limits.batchMaxRows, mostRows);
  yield* pieceRanges(source.view, { ...limits, batchMaxRows }, source.only);
}
