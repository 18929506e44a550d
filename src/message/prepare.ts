/**
 * Makes messages of rows: bodies, ids and sizes, with every refusal before anything is sent.
 *
 * @module
 */

import { checkRows } from "../arrow/intact.ts";
import type { RowsView } from "../arrow/view.ts";
import { describe } from "../util/describe.ts";
import { RouteError } from "../errors/mod.ts";
import { encodeSteps } from "../json/encode.ts";
import type { Bodies } from "../json/row_encoder.ts";
import { offsetsFor, type PieceMemory, type TextMemory } from "../json/memory/spare.ts";
import { type Steps, toEnd } from "../util/steps.ts";
import { type RowSource, writeIds } from "./ids.ts";
import { PreparedRows, type RowParts } from "./prepared_rows.ts";
import {
  headerWriter,
  type RowTexts,
  type RowWriters,
  subjectWriter,
  TextBuffer,
  textOfRow,
  type WriteRow,
} from "./row_texts.ts";
import { checkSize, checkSizes, type MessageSizes, type SizeLimits, sizeLimits, variantAt } from "./size_limits.ts";
import { type MessageTarget, type TargetFields, variantOf } from "./target.ts";
import { commandLineBytes, MAX_COMMAND_LINE } from "../subject/name.ts";

/** A piece's bodies, at most: one row may pass it. */
export const MAX_PIECE_BYTES = 64 * 1024 * 1024;

/** Selected rows of a source: `count` of them from the `from`th on. */
export interface RowRange {
  /** Index of the first among the selected rows. */
  readonly from: number;
  /** How many. */
  readonly count: number;
}

/**
 * Makes the messages of a range of rows. Throws EncodeErrors. When `cut`, of fewer rows than asked for: at 64 MiB of
 * bodies, and where they would not be outstanding together though they have to. With `memory`, they are in what their
 * release and their end give back: they must not be used after it.
 */
export function prepareRows(
  source: RowSource,
  range: RowRange,
  target: MessageTarget,
  cut: boolean,
  memory?: PieceMemory,
): PreparedRows {
  return toEnd(prepareSteps(source, range, target, cut, memory));
}

/** The same in steps. */
export function* prepareSteps(
  source: RowSource,
  range: RowRange,
  target: MessageTarget,
  cut: boolean,
  memory?: PieceMemory,
): Steps<PreparedRows> {
  const { only } = source;
  const { maxInFlightBytes, batchHeaderBytes } = target.fields;
  const rowAt = (index: number): number => only?.[range.from + index] ?? range.from + index;
  const indexOf = (row: number): number => (only === undefined ? row : only.indexOf(row)) - range.from;
  const limits = sizeLimits(source, target);
  const writers = writersOf(source, target, limits);
  if (writers.subject === undefined) checkCommandLine(target, limits.largestHeaders);
  const asBatch = cut && batchHeaderBytes !== undefined;
  // Rows that cannot fit the window with the others are not encoded: they would be encoded again for the next piece.
  const most = asBatch ? Math.max(1, Math.floor(maxInFlightBytes / limits.leastRowBytes)) : Infinity;
  const encoded: Bodies = yield* encodeSteps(source.body.view, {
    raw: source.body.raw,
    forms: source.body.forms,
    ...(only === undefined ? {} : { only }),
    from: range.from,
    count: Math.min(range.count, most),
    ...(cut ? { maxBytes: asBatch ? Math.min(MAX_PIECE_BYTES, maxInFlightBytes) : MAX_PIECE_BYTES } : {}),
    maxRowBytes: limits.maxBodyBytes,
    overRow: (row, body) => {
      const index = indexOf(row);
      const headers = target.block(variantAt(source, row)).bytes.length + textOfRow(writers.lines, row).length +
        (batchHeaderBytes?.(index, index === range.count - 1) ?? 0);
      checkSize(target, row, headers, body, textOfRow(writers.subject, row).length || target.subjectBytes.length);
    },
    memory,
  });
  const written = encoded.offsets.length - 1;
  const rows: RowList = { view: source.view, rowAt, count: written };
  const variants = yield* variantsOf(source, rows);
  const parts: RowParts = {
    subjects: yield* writeTexts(writers.subject, rows, memory?.subjects, target.fields.checkCaptured),
    lines: yield* writeTexts(writers.lines, rows, memory?.lines),
  };
  const sizes = sizesOf(target, encoded, variants, parts);
  const count = asBatch ? rowsTogether(target, written, sizes) : written;
  if (limits.uneven) checkSizes(target, sizes, rowAt, count);
  const bodies = firstOf(encoded, count);
  const ids = source.ids && (yield* writeIds(source, target, writers, bodies, rowAt, memory?.ids));
  return new PreparedRows(target, source, range.from, bodies, variants, parts, ids, memory);
}

/** Encoded rows, of which more columns are read. */
interface RowList {
  /** All columns. */
  readonly view: RowsView;
  /** Returns the number of a row in the batch. */
  readonly rowAt: (index: number) => number;
  /** How many rows. */
  readonly count: number;
}

/** Rows of which columns are read in one step: less than a millisecond's work. */
const ROWS_OF_STEP = 1024;

/** Calls `read` with each row. Between two steps the memory of the columns may be transferred: each step checks it. */
function* readRows({ view, rowAt, count }: RowList, read: (row: number, index: number) => void): Steps<void> {
  for (let from = 0; from < count; from += ROWS_OF_STEP) {
    if (from > 0) yield;
    const end = Math.min(from + ROWS_OF_STEP, count);
    checkRows(view, rowAt(from), rowAt(end - 1));
    for (let index = from; index < end; index++) read(rowAt(index), index);
  }
}

/** The variants of rows: one number if all rows have the same. */
function* variantsOf(source: RowSource, rows: RowList): Steps<number | Uint8Array> {
  if (typeof source.operations === "number" && source.ids === undefined) return variantOf(source.operations, false);
  const variants = new Uint8Array(rows.count);
  yield* readRows(rows, (row, index) => variants[index] = variantAt(source, row));
  return variants;
}

/** The sizes of encoded rows. */
function sizesOf(
  target: MessageTarget,
  bodies: Bodies,
  variants: number | Uint8Array,
  { subjects, lines }: RowParts,
): MessageSizes {
  const bytesAt = (offsets: Uint32Array, index: number): number => offsets[index + 1]! - offsets[index]!;
  return {
    headers: (index) =>
      target.block(typeof variants === "number" ? variants : variants[index]!).bytes.length +
      (lines === undefined ? 0 : bytesAt(lines.offsets, index)),
    body: (index) => bytesAt(bodies.offsets, index),
    subject: (index) => subjects === undefined ? target.subjectBytes.length : bytesAt(subjects.offsets, index),
  };
}

function writersOf(
  { values }: RowSource,
  { fields, rowHeaders }: MessageTarget,
  { largestHeaders }: SizeLimits,
): RowWriters {
  const { rowSubject, subjectEscape = "none" } = fields;
  const longest = MAX_COMMAND_LINE - lineBytes("", fields, largestHeaders);
  return {
    subject: rowSubject && subjectWriter(rowSubject, values, subjectEscape, longest),
    lines: rowHeaders.length === 0 ? undefined : headerWriter(rowHeaders, values),
  };
}

/** Memory that a row's subject or header lines take, as a first guess. */
const TEXT_GUESS = 32;

/** Writes the subjects, or the header lines, of rows. With `check`, each distinct string is checked once. */
function* writeTexts(
  write: WriteRow | undefined,
  rows: RowList,
  memory: TextMemory | undefined,
  check?: (text: string, row: number) => void,
): Steps<RowTexts | undefined> {
  if (write === undefined) return undefined;
  const buffer = new TextBuffer(TEXT_GUESS * rows.count, memory?.bytes);
  const offsets = offsetsFor(rows.count, memory?.offsets);
  const checked = new Set<string>();
  const decoder = new TextDecoder();
  yield* readRows(rows, (row, index) => {
    write(row, buffer);
    offsets[index + 1] = buffer.end;
    if (check === undefined) return;
    const text = decoder.decode(buffer.bytes.subarray(offsets[index], buffer.end));
    if (checked.has(text)) return;
    check(text, row);
    checked.add(text);
  });
  return { bytes: buffer.bytes, offsets };
}

/** The first of some bodies, without a copy. */
function firstOf(bodies: Bodies, count: number): Bodies {
  const { bytes, offsets } = bodies;
  if (offsets.length - 1 === count) return bodies;
  return { bytes: bytes.subarray(0, offsets[count]), offsets: offsets.subarray(0, count + 1) };
}

/** How many rows fit the window together as one batch: at least one, whose own size is checked apart. */
function rowsTogether(target: MessageTarget, count: number, sizes: MessageSizes): number {
  const { batchHeaderBytes, maxInFlightBytes } = target.fields;
  let size = 0;
  for (let i = 0; i < count; i++) {
    const row = sizes.headers(i) + sizes.body(i) + sizes.subject(i);
    if (size + row + batchHeaderBytes!(i, true) > maxInFlightBytes) return Math.max(1, i);
    size += row + batchHeaderBytes!(i, false);
  }
  return count;
}

/** Bytes of `HPUB subject reply hlen tlen`, at most. It must fit the server's line buffer, or the server disconnects. */
function lineBytes(
  subject: string,
  { replyBytes, maxMessageBytes, maxInFlightBytes }: TargetFields,
  headers: number,
): number {
  return commandLineBytes(subject, replyBytes, headers, Math.min(maxMessageBytes, maxInFlightBytes));
}

function checkCommandLine({ fields, subjectBytes }: MessageTarget, largestHeaders: number): void {
  const { subject, resource, stream } = fields;
  const line = lineBytes(subject, fields, largestHeaders);
  if (line <= MAX_COMMAND_LINE) return;
  throw new RouteError(
    "route.subject",
    `Cannot publish to a subject of ${subjectBytes.length} bytes: with its reply subject the command line may have ` +
      `${line} bytes, above a server's limit of ${MAX_COMMAND_LINE}: ${describe(subject)}`,
    { resource, stream, subject },
  );
}
