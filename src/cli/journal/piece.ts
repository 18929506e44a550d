/**
 * The pieces of a journal.
 *
 * @module
 */

import type { RowOutcome } from "../../errors/mod.ts";
import { isAcknowledged, OUTCOMES, UNKNOWN, UNSENT } from "../../publish/outcomes.ts";
import { sequencePairs } from "../../publish/receipt.ts";
import type { BeginLine, OutcomesLine } from "./line.ts";

/** The journal's record of a piece. */
export interface KnownPiece {
  /** Index of its input. */
  readonly input: number;
  /** The batch's index in the input. */
  readonly batch: number;
  /** Its first row in the batch. */
  readonly offset: number;
  /** The number of rows. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** CRC32C over the bodies. */
  readonly crc32c: number;
  /** Outcomes of its rows; undefined if all are acknowledged and a receipt says so. */
  codes: Uint8Array | undefined;
  /** Sequences of its acknowledged rows; undefined if the server does not report them. */
  sequences: Float64Array | undefined;
  /** The earliest time at which rows of unknown outcome may have been sent, in milliseconds since 1970. */
  since: number;
  /** Rows of unknown outcome have higher sequences than this, if they are stored. */
  after: number;
}

/** Returns a piece that is begun: until an end line says more, each of its rows may be stored. */
export function begunPiece(line: Omit<BeginLine, "kind" | "time" | "file">, since: number, after: number): KnownPiece {
  const { input, batch, offset, rows, bytes, crc32c } = line;
  return {
    input,
    batch,
    offset,
    rows,
    bytes,
    crc32c,
    codes: new Uint8Array(rows).fill(UNKNOWN),
    sequences: new Float64Array(rows),
    since,
    after,
  };
}

/** Records that the unsettled rows of a piece are sent again. */
export function beginAgain(piece: KnownPiece, since: number, after: number): void {
  const codes = piece.codes!;
  if (!codes.includes(UNKNOWN)) Object.assign(piece, { since, after });
  codes.forEach((code, i) => codes[i] = isAcknowledged(code) ? code : UNKNOWN);
}

/** Records the outcome of a row that was sent again. An unknown outcome stays unknown unless the row is acknowledged. */
export function mergedCode(before: number, now: number): number {
  if (isAcknowledged(before) || (before === UNKNOWN && !isAcknowledged(now))) return before;
  return now === UNSENT ? before : now;
}

/** Returns the indices of the unsettled rows. */
export function unsettledOf({ codes }: KnownPiece): number[] {
  return codes === undefined ? [] : [...codes.keys()].filter((i) => !isAcknowledged(codes[i]!));
}

/** Returns outcomes in the form of a line. */
export function outcomesOf({ codes, sequences }: KnownPiece): Pick<OutcomesLine, "outcomes" | "sequences"> {
  const outcomes: [string, number][] = [];
  for (const code of codes!) {
    const last = outcomes.at(-1);
    if (last?.[0] === OUTCOMES[code]) last![1]++;
    else outcomes.push([OUTCOMES[code]!, 1]);
  }
  if (sequences === undefined) return { outcomes };
  return { outcomes, sequences: sequencePairs(sequences.filter((_, i) => isAcknowledged(codes![i]!))) };
}

/** Applies a line's outcomes to a piece. */
export function takeOutcomes(
  piece: KnownPiece,
  line: Pick<OutcomesLine, "outcomes" | "sequences">,
): string | undefined {
  const codes = line.outcomes.flatMap(([word, rows]) => Array<number>(rows).fill(OUTCOMES.indexOf(word as RowOutcome)));
  if (codes.length !== piece.rows || codes.includes(-1)) return "its outcomes are not one a row";
  piece.codes = Uint8Array.from(codes);
  if (line.sequences === undefined) {
    piece.sequences = undefined;
    return;
  }
  const sequences = sequencesOf(line.sequences);
  const settled = [...codes.keys()].filter((i) => isAcknowledged(codes[i]!));
  if (sequences.length !== settled.length) return "its sequences are not one an acknowledged row";
  piece.sequences = new Float64Array(piece.rows);
  settled.forEach((row, i) => piece.sequences![row] = sequences[i]!);
}

/** Returns the sequences of pairs of first and last sequences. */
export function sequencesOf(pairs: readonly (readonly [first: number, last: number])[]): number[] {
  return pairs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
}

/** Returns the rows of unknown outcome. */
export function unknownOf({ codes }: KnownPiece): number[] {
  return codes === undefined ? [] : [...codes.keys()].filter((i) => codes[i] === UNKNOWN);
}
