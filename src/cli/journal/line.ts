/**
 * Lines of a journal. Each ends with a checksum over itself and all lines before it, so that an edited journal is
 * detected.
 *
 * @module
 */

import { crc32c } from "../../hash/crc32c.ts";
import { visibleLines } from "../text.ts";
import type { WriteReceipt } from "../../types/mod.ts";

/** The position of a piece. */
export interface PieceLine {
  /** The name of its input. */
  readonly file: string;
  /** The input's index. */
  readonly input: number;
  /** The batch's index in the input. */
  readonly batch: number;
  /** The piece's first row in the batch. */
  readonly offset: number;
  /** The number of rows. */
  readonly rows: number;
}

/** An input of a run. */
export interface InputField {
  /** Its name. */
  readonly file: string;
  /** Its size in bytes; null for a pipe. */
  readonly size: number | null;
  /** The destination resource. */
  readonly resource: string;
  /** The stream. */
  readonly stream: string;
  /** The subject. */
  readonly subject: string;
}

/** The beginning of a run, with what it does. */
export interface RunLine {
  readonly kind: "run";
  /** The journal's version. */
  readonly journal: number;
  readonly time: string;
  /** Version of the command. */
  readonly jetrow: string;
  readonly inputs: readonly InputField[];
  /** Options that decide which rows there are, and their ids. */
  readonly options: Readonly<Record<string, string | number>>;
}

/** Written before an input's first batch. */
export interface InputLine {
  readonly kind: "input";
  readonly input: number;
  /** Its columns, one string each. */
  readonly schema: readonly string[];
}

/** Written before a stream receives its first row of a run. */
export interface StreamLine {
  readonly kind: "stream";
  readonly time: string;
  readonly stream: string;
  /** When it was created: a stream with another creation time is another stream. */
  readonly created: string;
  /** Its last sequence. */
  readonly last: number;
  /** Its duplicate window in milliseconds. */
  readonly duplicateWindow: number;
}

/** Written before a piece's first row is sent, and before the unsettled rows of a piece are sent again. */
export interface BeginLine extends PieceLine {
  readonly kind: "begin";
  readonly time: string;
  /** Bytes of JSON of all its rows. */
  readonly bytes: number;
  /** Their checksum. */
  readonly crc32c: number;
}

/** Every row of a piece is acknowledged. */
export interface ReceiptLine extends WriteReceipt {
  readonly kind: "receipt";
  readonly time: string;
  readonly file: string;
  readonly input: number;
}

/** The outcome of each row of a piece without a receipt. */
export interface OutcomesLine extends PieceLine {
  readonly kind: "outcomes";
  readonly time: string;
  /** Outcomes in row order, each with its number of consecutive rows. */
  readonly outcomes: readonly (readonly [outcome: string, rows: number])[];
  /** The stream sequences of acknowledged rows in row order, as pairs; absent if the server does not report them. */
  readonly sequences?: readonly (readonly [first: number, last: number])[];
}

/** Written when another process continues the run. */
export interface ResumeLine {
  readonly kind: "resume";
  readonly time: string;
  readonly jetrow: string;
}

/** A line. */
export type JournalLine = RunLine | InputLine | StreamLine | BeginLine | ReceiptLine | OutcomesLine | ResumeLine;

/** The beginning of every journal. */
export const JOURNAL_BEGINNING = '{"kind":"run","journal":';

/** The checksum before the first line. */
export const FIRST_CHECK = 0;

const CHECK = /,"check":(\d{1,10})\}$/;
/** A checksum that may be followed by other characters of its line. */
const CHECK_WITHIN = /,"check":\d{1,10}\}/;
const utf8 = new TextEncoder();

/** Returns a line as it is written. */
export function formatLine(line: JournalLine, before: number): { readonly text: string; readonly check: number } {
  const body = visibleLines(JSON.stringify(line));
  const check = crc32c(utf8.encode(body), before);
  return { text: `${body.slice(0, -1)},"check":${check}}`, check };
}

/** Returns whether a line that cannot be read was written completely: an incomplete line has no checksum. */
export function hasCheck(text: string): boolean {
  return CHECK_WITHIN.test(text);
}

/** Reads a line. */
export function parseLine(
  text: string,
  before: number,
): { readonly line: JournalLine; readonly check: number } | "torn" | "edited" {
  let whole: unknown;
  try {
    whole = JSON.parse(text);
  } catch {
    return "torn";
  }
  const [end, check] = CHECK.exec(text) ?? [];
  if (end === undefined || typeof whole !== "object" || whole === null) return "edited";
  const body = `${text.slice(0, -end.length)}}`;
  if (crc32c(utf8.encode(body), before) !== Number(check)) return "edited";
  const { check: _, ...line } = whole as Record<string, unknown>;
  return { line: line as unknown as JournalLine, check: Number(check) };
}
