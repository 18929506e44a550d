/**
 * The state that all lines of a journal together describe.
 *
 * @module
 */

import { JournalError } from "./error.ts";
import type { BeginLine, JournalLine, OutcomesLine, ReceiptLine, RunLine, StreamLine } from "./line.ts";
import { beginAgain, begunPiece, type KnownPiece, takeOutcomes } from "./piece.ts";

/** The state of a stream. */
export interface KnownStream {
  /** When it was created. */
  readonly created: string;
  /** A sequence that it has reached. */
  last: number;
  /** The shortest duplicate window that it has had, in milliseconds. */
  readonly duplicateWindow: number;
}

/** The journal's version. */
export const VERSION_OF_JOURNAL = 1;

/** The state that a journal's lines lead to. */
export class JournalState {
  readonly #path: string;
  /** The run; undefined if the journal is empty. */
  run: RunLine | undefined;
  /** Columns of inputs. */
  readonly schemas: Map<number, readonly string[]> = new Map();
  /** Streams. */
  readonly streams: Map<string, KnownStream> = new Map();
  /** Pieces in the order of their rows. */
  readonly pieces: KnownPiece[] = [];
  readonly #places = new Map<string, KnownPiece>();
  #time = 0;

  /** Creates an empty state. */
  constructor(path: string) {
    this.#path = path;
  }

  /** Applies a line, the `number`th. Throws a JournalError for a line that cannot be there. */
  take(line: JournalLine, number: number): void {
    const fail = (reason: string): never => {
      throw new JournalError(`${this.#path}, line ${number}: ${reason}`);
    };
    if ((line.kind === "run") !== (this.run === undefined)) fail("a journal has one run line, the first");
    if ("time" in line) this.#time = timeOf(line.time) ?? fail("its time is none");
    switch (line.kind) {
      case "run":
        if (line.journal !== VERSION_OF_JOURNAL) {
          fail(`a journal of version ${line.journal}, which this one cannot read`);
        }
        this.run = line;
        return;
      case "input":
        this.schemas.set(line.input, line.schema);
        return;
      case "stream":
        return this.#stream(line, fail);
      case "begin":
        return this.#begin(line, fail);
      case "receipt":
        return this.#receipt(line, fail);
      case "outcomes":
        return this.#outcomes(line, fail);
      case "resume":
        return;
      default:
        return fail(`a line of kind ${JSON.stringify((line as { kind?: unknown }).kind)}`);
    }
  }

  /** Applies the begin line of a piece, before it is written. */
  begin(line: BeginLine): void {
    this.take(line, NaN);
  }

  #stream({ stream, created, ...line }: StreamLine, fail: Fail): void {
    const known = this.streams.get(stream);
    if (known !== undefined && known.created !== created) fail(`${stream} is another stream than before`);
    this.streams.set(stream, {
      created,
      last: Math.max(line.last, known?.last ?? 0),
      duplicateWindow: Math.min(line.duplicateWindow, known?.duplicateWindow ?? Infinity),
    });
  }

  #begin(line: BeginLine, fail: Fail): void {
    const after = this.streams.get(this.#inputOf(line, fail).stream)?.last ?? fail("its stream was not looked up");
    const known = this.#places.get(placeOf(line));
    if (known === undefined) {
      if (!follows(line, this.pieces.at(-1))) fail("it does not follow the piece before it");
      const piece = begunPiece(line, this.#time, after);
      this.pieces.push(piece);
      this.#places.set(placeOf(line), piece);
      return;
    }
    if (known.codes === undefined) fail("it begins what has its receipt already");
    if (known.rows !== line.rows || known.bytes !== line.bytes || known.crc32c !== line.crc32c) {
      fail("the piece is not what it was before");
    }
    beginAgain(known, this.#time, after);
  }

  #receipt(line: ReceiptLine, fail: Fail): void {
    const { stream, subject, resource } = this.#inputOf(line, fail);
    const piece = this.#places.get(placeOf(line)) ?? fail("a receipt of what was not begun");
    if (piece.codes === undefined) fail("a second receipt");
    if (line.rows !== piece.rows || line.bytes !== piece.bytes || line.crc32c !== piece.crc32c) {
      fail("the receipt is not of what was begun");
    }
    if (line.stream !== stream || line.subject !== subject || line.resource !== resource) {
      fail("the receipt is of another destination");
    }
    piece.codes = undefined;
    piece.sequences = undefined;
    this.#noteSequence(stream, line.lastSequence ?? 0);
  }

  #outcomes(line: OutcomesLine, fail: Fail): void {
    const { stream } = this.#inputOf(line, fail);
    const piece = this.#places.get(placeOf(line)) ?? fail("outcomes of what was not begun");
    if (piece.codes === undefined) fail("outcomes of what has its receipt already");
    const fault = takeOutcomes(piece, line);
    if (fault !== undefined) fail(fault);
    this.#noteSequence(stream, (line.sequences ?? []).reduce((most, [, last]) => Math.max(most, last), 0));
  }

  #noteSequence(stream: string, sequence: number): void {
    const known = this.streams.get(stream)!;
    known.last = Math.max(known.last, sequence);
  }

  #inputOf({ input }: { readonly input: number }, fail: Fail): RunLine["inputs"][number] {
    return this.run!.inputs[input] ?? fail("its input is none of the run's");
  }
}

type Fail = (reason: string) => never;

function placeOf({ input, batch, offset }: { input: number; batch: number; offset: number }): string {
  return `${input}/${batch}/${offset}`;
}

/** Pieces are begun in the order of rows, without gaps. */
function follows(line: BeginLine, last: KnownPiece | undefined): boolean {
  const { input, batch, offset } = line;
  if (last === undefined || input > last.input) return batch === 0 && offset === 0;
  if (input < last.input) return false;
  return batch === last.batch ? offset === last.offset + last.rows : batch === last.batch + 1 && offset === 0;
}

function timeOf(text: string): number | undefined {
  const time = Date.parse(text);
  return Number.isNaN(time) ? undefined : time;
}
