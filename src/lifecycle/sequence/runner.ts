/**
 * Publishes a sequence of batches piece by piece: the next piece is encoded while the last one's acknowledgments come
 * in, and never more than two encoded pieces are in memory.
 *
 * @module
 */

import { withBatch } from "../../errors/encode.ts";
import { describe } from "../../util/describe.ts";
import { isJetrowError } from "../../errors/mod.ts";
import { openBatch } from "../../publish/prepare_batch.ts";
import type { PublisherCore } from "../../publish/core.ts";
import type { Call, Failure } from "../../publish/call.ts";
import { abortedFailure, batchError } from "../../publish/failure.ts";
import { modeOf } from "../../publish/mode.ts";
import { UNKNOWN } from "../../publish/outcomes.ts";
import type { Batches, RowBatch, WriteReceipt } from "../../types/mod.ts";
import type { SequenceSettings } from "../../options/calls.ts";
import type { PieceLog } from "./piece_log.ts";
import { advance, type Current, nextRange, rangesOf } from "./current_batch.ts";
import { allAcknowledged, hasFailed, type Part, Piece } from "./piece.ts";
import { SourceReader } from "./source.ts";
import { watchAbort } from "../../util/abort.ts";

/** How an attempt to publish a sequence ended. */
export type Attempt = { readonly kind: "done" } | { readonly kind: "failed"; readonly error: unknown };

/** Publishes a sequence of batches. A later publisher can continue what an ended one has not finished. */
export class SequenceRunner {
  readonly #settings: SequenceSettings;
  readonly #report: (receipt: WriteReceipt) => void | Promise<void>;
  readonly #log: PieceLog | undefined;
  readonly #reader: SourceReader;
  /** The batch that was requested and not yet taken: a publisher may end in between. */
  #asked: Promise<RowBatch | undefined> | undefined;
  /** Pieces whose receipts are still to be reported, in order. */
  #pieces: Piece[] = [];
  /** Those of them that an ended publisher did not finish. */
  readonly #stale = new Set<Piece>();
  /** Batches with such pieces, or with rows that are in no piece yet, in order. */
  #parts: Part[] = [];
  #current: Current | undefined;
  #index = 0;
  #takenAt = -Infinity;
  /** What ended the last attempt. */
  #error: unknown;
  #failure: Failure | undefined;
  #foreign: { readonly error: unknown } | undefined;
  /** Whether reporting of receipts has ended. */
  #untold = false;
  #broken: { readonly row: number; readonly failure: Failure } | undefined;

  /** A runner that calls `report` with each piece's receipt in order, and awaits it. */
  constructor(
    batches: Batches,
    settings: SequenceSettings,
    report: (receipt: WriteReceipt) => void | Promise<void>,
    log?: PieceLog,
  ) {
    this.#settings = settings;
    this.#report = report;
    this.#log = log;
    this.#reader = new SourceReader(batches, settings.signal);
  }

  /** When the source gave its last batch, in milliseconds of `performance.now()`: waiting for it is not a failure. */
  get takenAt(): number {
    return this.#takenAt;
  }

  /** Publishes until the sequence is done or the publisher fails, from where the last attempt ended. */
  async attempt(core: PublisherCore): Promise<Attempt> {
    const { signal } = this.#settings;
    // With a log an abort drains: the end of the publisher ends the pieces, not the signal.
    const drains = this.#log !== undefined;
    const unwatch = drains && signal && watchAbort(signal, () => core.fail(abortedFailure(signal.reason)));
    try {
      if (await this.#run(core, drains ? undefined : signal)) return { kind: "done" };
    } catch (error) {
      this.#error = error;
      // An error that `onReceipt` throws meanwhile is the caller's, too.
      await this.#settle().catch(() => {});
    } finally {
      if (unwatch) unwatch();
    }
    return { kind: "failed", error: this.#error };
  }

  /**
   * Whether another publisher may send what is not acknowledged. Not after an abort, an error of the source or of the
   * `onReceipt`, or the loss of rows with receipts, and not if a row could be stored twice.
   */
  canResume(publishTimeout: number): boolean {
    if (this.#foreign !== undefined || this.#broken !== undefined || this.#settings.signal?.aborted) return false;
    return this.#pieces.every((piece) => piece.complete || piece.whyNotAgain(publishTimeout) === undefined);
  }

  /** Publishes to the end. Returns false if rows that may be stored would have to be sent again, too late for that. */
  async #run(core: PublisherCore, signal: AbortSignal | undefined): Promise<boolean> {
    this.#settings.signal?.throwIfAborted();
    for (const piece of [...this.#pieces]) {
      if (piece.complete) continue;
      if (piece.whyNotAgain(core.settings.publishTimeout) !== undefined) return false;
      piece.resume(core, signal);
      this.#stale.delete(piece);
      await this.#until(piece.call.loaded, () => piece.call.isLoaded);
      await this.#until(piece.call.done, () => piece.call.isOver);
    }
    while (this.#current !== undefined || await this.#take(core)) {
      await this.#runPart(core, this.#current!, signal);
    }
    while (this.#pieces.length > 0) await this.#reportFirst();
    return true;
  }

  /** Takes the next batch of the source. Returns false at its end. */
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
    const earlier = this.#log?.earlier?.(this.#index);
    const source = { ...openBatch(batch, core.settings), earlier };
    const part: Part = {
      index: this.#index++,
      source,
      codes: new Uint8Array(source.selected),
      sent: false,
      highest: 0,
    };
    this.#parts.push(part);
    const ranges = rangesOf(source, this.#settings, modeOf(core.settings).mostRowsOfPiece(core.settings));
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

  async #runPart(core: PublisherCore, current: Current, signal: AbortSignal | undefined): Promise<void> {
    for (current.left ??= nextRange(current); current.left !== undefined;) {
      const before = this.#pieces.at(-1);
      const piece = current.begun = new Piece(core, current.part, current.left, signal, this.#log);
      this.#pieces.push(piece);
      await this.#until(piece.call.loaded, () => piece.call.isLoaded);
      advance(current);
      if (before !== undefined) await this.#until(before.call.released, () => before.call.isReleased);
    }
    this.#current = undefined;
  }

  /** Awaits a promise, and meanwhile reports the receipts of complete pieces. Throws the error of a failed piece. */
  async #until(promise: Promise<unknown>, reached: () => boolean): Promise<void> {
    while (true) {
      while (this.#first?.call.isOver) await this.#reportFirst();
      if (reached()) return;
      const first = this.#first?.call.done;
      await (first === undefined ? promise : Promise.race([promise, first]));
    }
  }

  /** Returns the piece to report next, unless it still has to be sent again. */
  get #first(): Piece | undefined {
    const piece = this.#pieces[0];
    return piece !== undefined && this.#stale.has(piece) ? undefined : piece;
  }

  async #reportFirst(): Promise<void> {
    const piece = this.#pieces[0]!;
    await piece.call.done;
    this.#pieces.shift();
    piece.note();
    const fallen = piece.rise();
    if (fallen !== undefined) throw this.#breakAt(piece, fallen);
    while (this.#parts.length > 0 && this.#parts[0] !== (this.#pieces[0]?.part ?? this.#current?.part)) {
      this.#parts.shift();
    }
    try {
      await this.#report(piece.receipt());
      piece.call.free();
    } catch (error) {
      this.#untold = true;
      // An abort that ended the wait for the listener is not the listener's error.
      if (!this.#settings.signal?.aborted || error !== this.#settings.signal.reason) this.#foreign ??= { error };
      throw error;
    }
  }

  /**
   * Makes the error of a batch whose pieces were all acknowledged: the rows before this one were stored in the old stream,
   * which was deleted.
   */
  #breakAt({ part, from }: Piece, row: number): unknown {
    this.#untold = true;
    part.codes.fill(UNKNOWN, 0, from);
    const reason = `its sequence is not above those of the rows before it: the stream was recreated`;
    this.#broken = { row, failure: { code: "publish.stream_changed", reason } };
    return this.#errorOf(this.#broken.failure, part, row);
  }

  /** Waits for all pieces after an error, and reports those that are complete. */
  async #settle(): Promise<void> {
    await Promise.allSettled(this.#pieces.map(({ call }) => call.done));
    for (const piece of this.#pieces) piece.note();
    this.#failure = this.#pieces.map(({ call }) => failureOf(call)).find((failure) => failure !== undefined) ??
      this.#failure;
    if (this.#current !== undefined) advance(this.#current);
    // A piece that was never encoded is begun again with the rest of its batch.
    this.#pieces = this.#pieces.filter(({ loaded }) => loaded);
    for (const piece of this.#pieces) if (!piece.complete) this.#stale.add(piece);
    while (!this.#untold && this.#pieces[0]?.complete) await this.#reportFirst();
  }

  /**
   * Closes the source and throws the caller's error. A PublishError is about the first unfinished batch, with all its
   * pieces: those never begun are unsent. A ConnectionError becomes a PublishError if rows of that batch were sent.
   */
  async fail(error: unknown): Promise<never> {
    await this.#reader.close();
    this.#log?.left(this.#pieces.map((piece) => piece.left()));
    throw this.#errorFor(error);
  }

  #errorFor(error: unknown): unknown {
    const part = this.#parts.find(({ codes }) => !allAcknowledged(codes)) ?? this.#current?.part;
    const first = this.#foreign?.error ?? error;
    const failure = this.#broken?.failure ?? this.#failureOf(first, part);
    if (failure === undefined) return this.#foreign === undefined ? this.#placed(error) : first;
    // Aborted while waiting for the source: no row was on the wire.
    const none = { resource: "the next batch", codes: new Uint8Array(0), row: undefined, sent: false };
    if (part === undefined) return batchError(failure, { ...none, batch: this.#index });
    return this.#errorOf(failure, part, this.#broken?.row ?? this.#failedRow(failure, part));
  }

  #errorOf(failure: Failure, part: Part, row: number | undefined): unknown {
    const { source: { resource, only }, codes, sent, index: batch } = part;
    return batchError(failure, { resource, only, codes, row, sent, batch });
  }

  #failureOf(error: unknown, part: Part | undefined): Failure | undefined {
    const { signal } = this.#settings;
    if (signal?.aborted && error === signal.reason) return abortedFailure(error);
    const failure = this.#failure;
    if (part === undefined) return undefined;
    if (isJetrowError(error) && error.name === "PublishError") return failure;
    if (failure === undefined) return undefined;
    // Other errors have no row outcomes: they must not hide that rows were sent and are not acknowledged.
    const untold = isJetrowError(error) && error.name === "ConnectionError" ? part.sent : hasFailed(part.codes);
    if (!untold) return undefined;
    const text = error instanceof Error ? error.message : describe(error);
    return { ...failure, reason: `${failure.reason}; also: ${text}`, cause: error };
  }

  /** Adds the batch to an error of the data: the batch that was taken last. */
  #placed(error: unknown): unknown {
    if (!isJetrowError(error) || error.name !== "EncodeError") return error;
    return withBatch(error, this.#current?.part.index ?? this.#index);
  }

  #failedRow(failure: Failure, part: Part): number | undefined {
    const { call } = failure;
    if (failure.index === undefined || !call?.isLoaded) return undefined;
    return this.#pieces.some((piece) => piece.call === call && piece.part === part)
      ? call.rows.rowNumber(failure.index)
      : undefined;
  }
}

/** Returns the failure that ended a call, if publishing failed. */
function failureOf({ state }: Call): Failure | undefined {
  return state.tag === "failed" ? state.failure : undefined;
}
