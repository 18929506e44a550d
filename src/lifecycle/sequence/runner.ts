/**
 * Publishes a sequence of batches piece by piece: the next piece is encoded while the last one's acknowledgments come
 * in, and never more than two encoded pieces are in memory.
 *
 * @module
 */

import { withBatch } from "../../errors/encode.ts";
import { type PieceLimits, pieceRanges } from "../../arrow/slice.ts";
import { describe } from "../../util/describe.ts";
import { isJetrowError } from "../../errors/mod.ts";
import type { RowRange } from "../../message/prepare.ts";
import { type BatchSource, openBatch } from "../../publish/prepare_batch.ts";
import type { PublisherCore } from "../../publish/core.ts";
import type { Failure } from "../../publish/call.ts";
import { abortedFailure, errorOf } from "../../publish/failure.ts";
import { UNKNOWN } from "../../publish/outcomes.ts";
import type { Batches, RowBatch, WriteReceipt } from "../../types/mod.ts";
import type { SequenceSettings } from "../call_options.ts";
import { allAcknowledged, hasFailed, type Part, Piece } from "./piece.ts";
import { SourceReader } from "./source.ts";
import { watchAbort } from "../../util/abort.ts";

/** The batch at hand. */
interface Current {
  readonly part: Part;
  /** What is left of the range at hand. */
  left: RowRange | undefined;
  /** The piece that was begun from it, until it is known how many rows it took. */
  begun: Piece | undefined;
  /** The ranges after it. */
  readonly ranges: Iterator<RowRange>;
}

/** Publishes a sequence of batches; what one publisher left undone, another can go on with. */
export class SequenceRunner {
  readonly #settings: SequenceSettings;
  readonly #report: (receipt: WriteReceipt) => void | Promise<void>;
  readonly #reader: SourceReader;
  /** The batch asked for, until it is taken: a publisher may end in between. */
  #asked: Promise<RowBatch | undefined> | undefined;
  /** Pieces whose receipts are still to be reported, in order. */
  #pieces: Piece[] = [];
  /** Those of them that an ended publisher has left undone. */
  readonly #stale = new Set<Piece>();
  /** Batches that have such pieces, or rows that are in no piece yet, in order. */
  #parts: Part[] = [];
  #current: Current | undefined;
  #index = 0;
  #takenAt = -Infinity;
  #failure: Failure | undefined;
  #foreign: { readonly error: unknown } | undefined;
  /** Whether no receipt is reported any more. */
  #untold = false;
  #broken: { readonly row: number; readonly failure: Failure } | undefined;
  /** Where account is kept: stops watching for the abort that drains the publisher. */
  #unwatch: (() => void) | undefined;

  /** A runner that tells each piece's receipt in order, and waits for what it is told. */
  constructor(
    batches: Batches,
    settings: SequenceSettings,
    report: (receipt: WriteReceipt) => void | Promise<void>,
  ) {
    this.#settings = settings;
    this.#report = report;
    this.#reader = new SourceReader(batches, settings.signal);
  }

  /** When the source gave its last batch, in milliseconds of `performance.now()`: what it takes is nobody's failure. */
  get takenAt(): number {
    return this.#takenAt;
  }

  /** Whether no publisher can mend it: the source or the receipts' listener threw, or rows with receipts are gone. */
  get hopeless(): boolean {
    return this.#foreign !== undefined || this.#broken !== undefined;
  }

  /**
   * Publishes to the end of the sequence, or goes on after {@linkcode settle}. False when rows of unknown fate would
   * have to go again, and may not any more.
   */
  async run(core: PublisherCore): Promise<boolean> {
    const { signal, account } = this.#settings;
    signal?.throwIfAborted();
    this.#unwatch?.();
    if (signal && account) this.#unwatch = watchAbort(signal, () => core.failed(abortedFailure(signal.reason)));
    for (const piece of [...this.#pieces]) {
      if (piece.complete) continue;
      if (piece.whyNotAgain(core.settings.publishTimeout) !== undefined) return false;
      piece.resume(core, account === undefined ? signal : undefined);
      this.#stale.delete(piece);
      await this.#until(piece.delivery.loaded.promise, () => piece.delivery.rows !== undefined);
      await this.#until(piece.delivery.done.promise, () => piece.delivery.over);
    }
    while (this.#current !== undefined || await this.#take(core)) await this.#runPart(core, this.#current!);
    while (this.#pieces.length > 0) await this.#reportFirst();
    this.#unwatch?.();
    return true;
  }

  /** Takes the next batch of the source; false at its end. */
  async #take(core: PublisherCore): Promise<boolean> {
    let here = false;
    const asked = this.#asked ??= this.#ask();
    const arrived = (): void => void (here = true);
    asked.then(arrived, arrived);
    await this.#until(asked, () => here);
    const batch = await asked;
    this.#asked = undefined;
    this.#takenAt = performance.now();
    if (batch === undefined) return false;
    const earlier = this.#settings.account?.earlier?.(this.#index);
    const source = { ...openBatch(batch, core.settings), earlier };
    const part: Part = {
      index: this.#index++,
      source,
      codes: new Uint8Array(source.selected),
      sent: false,
      highest: 0,
    };
    this.#parts.push(part);
    const ranges = rangesOf(source, this.#settings, core.mostRowsOfPiece);
    this.#current = { part, left: undefined, begun: undefined, ranges };
    return true;
  }

  async #ask(): Promise<RowBatch | undefined> {
    try {
      return await this.#reader.next();
    } catch (error) {
      if (!this.#settings.signal?.aborted) this.#foreign ??= { error };
      throw error;
    }
  }

  async #runPart(core: PublisherCore, current: Current): Promise<void> {
    for (current.left ??= nextRange(current); current.left !== undefined;) {
      const before = this.#pieces.at(-1);
      const piece = current.begun = new Piece(core, current.part, current.left, this.#settings);
      this.#pieces.push(piece);
      await this.#until(piece.delivery.loaded.promise, () => piece.delivery.rows !== undefined);
      advance(current);
      if (before !== undefined) await this.#until(freed(before), () => isFree(before));
    }
    this.#current = undefined;
  }

  /** Waits for something, and reports meanwhile what is acknowledged. Throws what a piece was ended by. */
  async #until(promise: Promise<unknown>, reached: () => boolean): Promise<void> {
    while (true) {
      while (this.#first?.delivery.over) await this.#reportFirst();
      if (reached()) return;
      const first = this.#first?.delivery.done.promise;
      await (first === undefined ? promise : Promise.race([promise, first]));
    }
  }

  /** The piece to be reported next, unless it still waits to be sent again. */
  get #first(): Piece | undefined {
    const piece = this.#pieces[0];
    return piece !== undefined && this.#stale.has(piece) ? undefined : piece;
  }

  async #reportFirst(): Promise<void> {
    const piece = this.#pieces[0]!;
    await piece.delivery.done.promise;
    this.#pieces.shift();
    piece.note();
    const fallen = piece.rise();
    if (fallen !== undefined) throw this.#breakAt(piece, fallen);
    while (this.#parts.length > 0 && this.#parts[0] !== (this.#pieces[0]?.part ?? this.#current?.part)) {
      this.#parts.shift();
    }
    try {
      await this.#report(piece.receipt());
      piece.delivery.free();
    } catch (error) {
      this.#untold = true;
      // Nobody's error: an abort has ended the wait for the listener.
      if (!this.#settings.signal?.aborted || error !== this.#settings.signal.reason) this.#foreign ??= { error };
      throw error;
    }
  }

  /**
   * The batch fails though each of its pieces was acknowledged: what was stored before the row went with the old
   * stream.
   */
  #breakAt({ part, from }: Piece, row: number): unknown {
    this.#untold = true;
    part.codes.fill(UNKNOWN, 0, from);
    const reason = `its sequence is not above those of the rows before it: the stream was made anew`;
    this.#broken = { row, failure: { code: "publish.stream_changed", reason } };
    return this.#errorOf(this.#broken.failure, part, row);
  }

  /** Lets all pieces come to their end after an error, and reports those that are whole. */
  async settle(): Promise<void> {
    await Promise.allSettled(this.#pieces.map(({ delivery }) => delivery.done.promise));
    for (const piece of this.#pieces) piece.note();
    this.#failure = this.#pieces.find(({ delivery }) => delivery.failure !== undefined)?.delivery.failure ??
      this.#failure;
    if (this.#current !== undefined) advance(this.#current);
    // A piece that was never loaded is begun anew from what is left of its batch.
    this.#pieces = this.#pieces.filter(({ loaded }) => loaded);
    for (const piece of this.#pieces) if (!piece.complete) this.#stale.add(piece);
    while (!this.#untold && this.#pieces[0]?.complete) await this.#reportFirst();
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
   * unfinished batch's, all its pieces included, and those never begun unsent. An error of the connection is one, too,
   * where rows of that batch were sent.
   */
  async close(error: unknown): Promise<unknown> {
    this.#unwatch?.();
    await this.#reader.close();
    this.#settings.account?.left(this.#pieces.map((piece) => piece.left()));
    const part = this.#parts.find(({ codes }) => !allAcknowledged(codes)) ?? this.#current?.part;
    const first = this.#foreign?.error ?? error;
    const failure = this.#broken?.failure ?? this.#failureOf(first, part);
    if (failure === undefined) return this.#foreign === undefined ? this.#placed(error) : first;
    // Aborted while it waited for the source: nothing was on its way.
    const none = { row: undefined, sent: false, batch: this.#index };
    if (part === undefined) return errorOf(failure, { resource: "the next batch", count: 0 }, new Uint8Array(0), none);
    return this.#errorOf(failure, part, this.#broken?.row ?? this.#failedRow(failure, part));
  }

  #errorOf(failure: Failure, part: Part, row: number | undefined): unknown {
    const rows = { ...part.source, count: part.source.selected };
    return errorOf(failure, rows, part.codes, { row, sent: part.sent, batch: part.index });
  }

  #failureOf(error: unknown, part: Part | undefined): Failure | undefined {
    const { signal } = this.#settings;
    if (signal?.aborted && error === signal.reason) return abortedFailure(error);
    const failure = this.#failure;
    if (isJetrowError(error) && error.name === "PublishError") return failure;
    if (failure === undefined || part === undefined) return undefined;
    // Another error tells no row's fate: it must not hide that some were sent and are not acknowledged.
    const untold = isJetrowError(error) && error.name === "ConnectionError" ? part.sent : hasFailed(part.codes);
    if (!untold) return undefined;
    const text = error instanceof Error ? error.message : describe(error);
    return { ...failure, reason: `${failure.reason}; and besides: ${text}`, cause: error };
  }

  /** An error of data says which batch's: the one that was taken last. */
  #placed(error: unknown): unknown {
    if (!isJetrowError(error) || error.name !== "EncodeError") return error;
    return withBatch(error, this.#current?.part.index ?? this.#index);
  }

  #failedRow(failure: Failure, part: Part): number | undefined {
    const { delivery } = failure;
    if (failure.index === undefined || delivery?.rows === undefined) return undefined;
    return this.#pieces.some((piece) => piece.delivery === delivery && piece.part === part)
      ? delivery.rows.rowNumber(failure.index)
      : undefined;
  }
}

/** Notes what the piece begun last has taken of its range; nothing, where it was never loaded. */
function advance(current: Current): void {
  const { begun, left } = current;
  current.begun = undefined;
  if (begun?.delivery.rows === undefined || left === undefined) return;
  const taken = begun.delivery.count;
  current.left = taken < left.count ? { from: left.from + taken, count: left.count - taken } : nextRange(current);
}

/** Fulfilled when a piece's encoded rows are out of memory. */
function freed({ delivery }: Piece): Promise<void> {
  return delivery.keepsRows ? delivery.done.promise : delivery.submitted.promise;
}

function isFree({ delivery }: Piece): boolean {
  return delivery.released || delivery.over;
}

function nextRange({ ranges }: { readonly ranges: Iterator<RowRange> }): RowRange | undefined {
  const next = ranges.next();
  return next.done ? undefined : next.value;
}

/** The pieces of a batch; a batch without rows is one piece, for its receipt. */
function* rangesOf(source: BatchSource, limits: PieceLimits, mostRows: number): Generator<RowRange> {
  if (source.selected === 0) return void (yield { from: 0, count: 0 });
  const { batchMaxRows, batchMaxBytes } = limits;
  yield* pieceRanges(source.view, { batchMaxRows: Math.min(batchMaxRows, mostRows), batchMaxBytes }, source.only);
}
