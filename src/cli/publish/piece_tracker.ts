/**
 * Tracks the pieces that are published: adds their positions in the inputs to receipts, and writes the journal, if there
 * is one.
 *
 * @module
 */

import type { EarlierSends } from "../../stream/resend.ts";
import type { BegunPiece, LeftPiece, PieceLog } from "../../lifecycle/sequence/piece_log.ts";
import { ACKED, DUPLICATE, isAcknowledged, UNSENT } from "../../publish/outcomes.ts";
import type { WriteReceipt } from "../../types/mod.ts";
import type { Feed, PendingPiece, Place } from "./feed.ts";
import { JournalError } from "../journal/error.ts";
import type { InputField, JournalLine, PieceLine, StreamLine } from "../journal/line.ts";
import { begunPiece, type KnownPiece, mergedCode, outcomesOf, sequencesOf } from "../journal/piece.ts";
import { wholeReceipt } from "../journal/receipt.ts";
import type { JournalWriter } from "../journal/writer.ts";

/** What a tracker works with. */
export interface KeeperParts {
  /** The inputs, by index. */
  readonly inputs: readonly InputField[];
  /** The journal, if there is one. */
  readonly journal: JournalWriter | undefined;
  /** Lines to write before the next piece. */
  readonly notes: JournalLine[];
  /** Reads a stream's current state. */
  readonly lookUp: (stream: string) => Promise<Pick<StreamLine, "created" | "last" | "duplicateWindow">>;
}

/** A receipt with the position of its rows in an input. */
export interface PlacedReceipt {
  /** Index of the input. */
  readonly input: number;
  /** The receipt. */
  readonly receipt: WriteReceipt;
}

/** A piece on its way. */
interface Entry {
  readonly piece: KnownPiece;
  readonly pending: PendingPiece | undefined;
  /** The indices of the rows that are sent; undefined: all. */
  readonly rows: readonly number[] | undefined;
  /** Resolves when its line is on the disk. */
  ready: Promise<void>;
  /** Whether its line is being written. */
  written: boolean;
}

/** Tracks the pieces of one run. */
export class Keeper implements PieceLog {
  readonly #parts: KeeperParts;
  readonly #feed: Feed;
  readonly #open = new Map<string, Entry>();
  readonly #streams = new Set<string>();
  #leftTold = false;
  #hasBegun = false;

  /** Creates a tracker for a feed. */
  constructor(parts: KeeperParts, feed: Feed) {
    this.#parts = parts;
    this.#feed = feed;
  }

  /** Returns whether the journal has, or may have, a line of a piece. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  async begin(begun: BegunPiece): Promise<void> {
    const key = keyOf(begun);
    const known = this.#open.get(key);
    if (known !== undefined) return await known.ready;
    const entry = entryOf(begun, this.#feed.placeOf(begun.batch)!);
    // Added before it is written: after a failure meanwhile it must be found, to record that nothing of it was sent.
    this.#open.set(key, entry);
    if (this.#parts.journal !== undefined) entry.ready = this.#begin(entry, begun.stream, this.#parts.journal);
    try {
      await entry.ready;
    } catch (error) {
      if (!entry.written) this.#open.delete(key);
      throw error;
    }
  }

  async #begin(entry: Entry, stream: string, journal: JournalWriter): Promise<void> {
    const lines = await this.#streamLine(stream);
    if (this.#leftTold) throw new JournalError("the run is over");
    const { bytes, crc32c } = entry.piece;
    const line: JournalLine = { kind: "begin", time: now(), ...this.#line(entry.piece), bytes, crc32c };
    entry.written = this.#hasBegun = true;
    await journal.append(...this.#parts.notes.splice(0), ...lines, line);
    await journal.sync();
  }

  earlier(batch: number): EarlierSends | undefined {
    const again = this.#feed.placeOf(batch)?.again;
    const earlier = again?.pending.earlier;
    if (again === undefined || earlier === undefined) return undefined;
    const { duplicateWindow } = earlier;
    return { duplicateWindow, firstSent: (index) => earlier.firstSent(again.rows[index]!) };
  }

  /** Adds the position of its piece to a receipt; undefined while other rows of the piece are unsettled. */
  place(receipt: WriteReceipt): PlacedReceipt | undefined {
    const { input, batch, base } = this.#feed.placeOf(receipt.batch)!;
    this.#feed.forget(receipt.batch);
    const entry = this.#open.get(keyOf(receipt));
    // If writing its line fails, the piece has no end line, and the journal's reader must treat its rows as unknown.
    this.#open.delete(keyOf(receipt));
    if (entry?.rows === undefined) return { input, receipt: { ...receipt, batch, offset: base + receipt.offset } };
    const whole = this.#merge(entry.piece, entry.rows, receipt);
    return whole && { input, receipt: whole };
  }

  /** Writes a receipt to the journal, if there is one. */
  async record({ input, receipt }: PlacedReceipt): Promise<void> {
    const { file } = this.#parts.inputs[input]!;
    await this.#parts.journal?.append({ kind: "receipt", time: now(), file, input, ...receipt });
  }

  left(pieces: readonly LeftPiece[]): void {
    this.#leftTold = true;
    const told = new Map(pieces.map((piece) => [keyOf(piece), piece]));
    for (const [key, { piece, rows }] of this.#open) {
      const left = told.get(key);
      // Rows that were to be sent again and were not keep their earlier outcome.
      if (left === undefined && rows === undefined && !piece.codes!.every(isAcknowledged)) piece.codes!.fill(UNSENT);
      left?.codes.forEach((code, i) => {
        const row = rows?.[i] ?? i;
        piece.codes![row] = rows === undefined ? code : mergedCode(piece.codes![row]!, code);
        if (left.sequences !== undefined && isAcknowledged(code)) piece.sequences![row] = left.sequences[i]!;
      });
      if (left !== undefined && left.sequences === undefined) piece.sequences = undefined;
    }
  }

  /** Processes receipts of pieces that turned out complete after the run had failed, with their rows of this run. */
  takeLate(): (PlacedReceipt & { readonly rows: number })[] {
    const late: (PlacedReceipt & { readonly rows: number })[] = [];
    for (const [key, { piece, rows }] of this.#leftTold ? this.#open : []) {
      const { input, codes } = piece;
      if (!codes!.every(isAcknowledged)) continue;
      late.push({ input, receipt: wholeReceipt(piece, this.#parts.inputs[input]!), rows: rows?.length ?? piece.rows });
      this.#open.delete(key);
    }
    return late;
  }

  /** Writes the outcomes of pieces without a receipt, and closes the journal. */
  async close(): Promise<void> {
    const { journal } = this.#parts;
    try {
      for (const { piece, written } of this.#leftTold ? this.#open.values() : []) {
        if (!written) continue;
        await journal?.append({ kind: "outcomes", time: now(), ...this.#line(piece), ...outcomesOf(piece) });
      }
    } finally {
      await journal?.close();
    }
  }

  /** Settles a piece's rows that were sent again; all of them are acknowledged now. */
  #merge(piece: KnownPiece, rows: readonly number[], receipt: WriteReceipt): WriteReceipt | undefined {
    const sequences = receipt.sequences && sequencesOf(receipt.sequences);
    if (sequences === undefined && rows.length > 0) piece.sequences = undefined;
    rows.forEach((row, i) => {
      // The receipt has the number of duplicates, not which rows they are.
      piece.codes![row] = i < (receipt.duplicates ?? 0) ? DUPLICATE : ACKED;
      if (piece.sequences !== undefined) piece.sequences[row] = sequences![i]!;
    });
    if (!piece.codes!.every(isAcknowledged)) return undefined;
    return wholeReceipt(piece, this.#parts.inputs[piece.input]!, receipt.lastSequence);
  }

  #line({ input, batch, offset, rows }: KnownPiece): PieceLine {
    return { file: this.#parts.inputs[input]!.file, input, batch, offset, rows };
  }

  /** Records a stream's state before this run sends to it. */
  async #streamLine(stream: string): Promise<StreamLine[]> {
    if (this.#streams.has(stream)) return [];
    const line = { kind: "stream", time: now(), stream, ...await this.#parts.lookUp(stream) } as const;
    this.#streams.add(stream);
    return [line];
  }
}

function entryOf(begun: BegunPiece, { input, batch, base, again }: Place): Entry {
  const { offset, rows, bytes, crc32c } = begun;
  const ready = Promise.resolve();
  if (again !== undefined) {
    const { pending } = again;
    return { piece: pending.piece, pending, rows: again.rows.slice(offset, offset + rows), ready, written: false };
  }
  const piece = begunPiece({ input, batch, offset: base + offset, rows, bytes, crc32c }, Date.now(), 0);
  return { piece, pending: undefined, rows: undefined, ready, written: false };
}

function keyOf({ batch, offset }: { readonly batch: number; readonly offset: number }): string {
  return `${batch}:${offset}`;
}

function now(): string {
  return new Date().toISOString();
}
