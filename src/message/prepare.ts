/**
 * Makes messages of rows: bodies, ids and sizes, with every refusal before anything is sent.
 *
 * @module
 */

import { option, type OptionName, words } from "../errors/wording.ts";
import { describe } from "../util/describe.ts";
import { EncodeError, RouteError } from "../errors/mod.ts";
import { encodeSteps } from "../json/encode.ts";
import type { Bodies } from "../json/row_encoder.ts";
import type { PieceMemory } from "../json/memory/spare.ts";
import { type Steps, toEnd } from "../util/steps.ts";
import { MOST_ROWS_OF_BATCH } from "./batch_headers.ts";
import { MAX_HEADER_BYTES } from "./headers.ts";
import { hasEventId, type RowSource, writeIds } from "./ids.ts";
import { OPERATIONS } from "./operations.ts";
import { PreparedRows } from "./prepared_rows.ts";
import { type MessageTarget, variantOf } from "./target.ts";
import { commandLineBytes, MAX_COMMAND_LINE } from "../subject/name.ts";

/** A piece's bodies, at most: one row may pass it. */
export const MAX_PIECE_BYTES = 64 * 1024 * 1024;

/** The smallest body: `{}`. */
const LEAST_BODY = 2;

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
  const variantAt = (row: number): number => {
    const operation = typeof source.operations === "number" ? source.operations : source.operations[row]!;
    return variantOf(operation, hasEventId(source, row));
  };
  const sizes = sizeCheck(target, variantAt, possibleVariants(source));
  checkCommandLine(target, sizes.headerBytes);
  const indexOf = (row: number): number => (only === undefined ? row : only.indexOf(row)) - range.from;
  const asBatch = cut && target.fields.batchHeaderBytes !== undefined;
  const { maxInFlightBytes } = target.fields;
  // Rows that cannot fit the window with the others are not encoded: they would be encoded again for the next piece.
  const most = asBatch ? Math.max(1, Math.floor(maxInFlightBytes / sizes.leastRowBytes)) : Infinity;
  const rowAt = (index: number): number => only?.[range.from + index] ?? range.from + index;
  let encoded: Bodies = yield* encodeSteps(source.view, {
    ...(only === undefined ? {} : { only }),
    from: range.from,
    count: Math.min(range.count, most),
    ...(cut ? { maxBytes: asBatch ? Math.min(MAX_PIECE_BYTES, maxInFlightBytes) : MAX_PIECE_BYTES } : {}),
    maxRowBytes: sizes.maxRowBytes,
    overRow: (row, size) => sizes.check(row, size, indexOf(row), indexOf(row) === range.count - 1),
    memory,
  });
  if (asBatch) encoded = firstOf(encoded, rowsTogether(target, encoded, (index) => variantAt(rowAt(index))));
  const count = encoded.offsets.length - 1;
  const constant = typeof source.operations === "number" && source.eventIds === undefined;
  const variants = constant ? variantOf(source.operations as number, false) : new Uint8Array(count);
  if (typeof variants !== "number") { for (let i = 0; i < count; i++) variants[i] = variantAt(rowAt(i)); }
  if (sizes.uneven) {
    for (let i = 0; i < count; i++) {
      sizes.check(rowAt(i), encoded.offsets[i + 1]! - encoded.offsets[i]!, i, i === count - 1);
    }
  }
  const ids = source.eventIds === undefined ? undefined : yield* writeIds(source, target, encoded, rowAt, memory?.ids);
  return new PreparedRows(target, source, range.from, encoded, variants, ids, memory);
}

/** The first of some bodies, without a copy. */
function firstOf({ bytes, offsets }: Bodies, count: number): Bodies {
  return { bytes: bytes.subarray(0, offsets[count]), offsets: offsets.subarray(0, count + 1) };
}

/** How many rows fit the window together as one batch: at least one, whose own size is checked apart. */
function rowsTogether(target: MessageTarget, encoded: Bodies, variantAt: (index: number) => number): number {
  const { batchHeaderBytes, maxInFlightBytes } = target.fields;
  const count = encoded.offsets.length - 1;
  let size = 0;
  for (let i = 0; i < count; i++) {
    const row = target.block(variantAt(i)).bytes.length + encoded.offsets[i + 1]! - encoded.offsets[i]! +
      target.subjectBytes.length;
    if (size + row + batchHeaderBytes!(i, true) > maxInFlightBytes) return Math.max(1, i);
    size += row + batchHeaderBytes!(i, false);
  }
  return count;
}

/** All variants that rows may have: looking for those that they do have would walk over the whole batch per piece. */
function possibleVariants(source: RowSource): number[] {
  const operations = typeof source.operations === "number" ? [source.operations] : OPERATIONS.map((_, code) => code);
  return operations.flatMap((operation) =>
    source.eventIds === undefined
      ? [variantOf(operation, false)]
      : [variantOf(operation, false), variantOf(operation, true)]
  );
}

/** The limit above which no row fits whatever its headers, and the exact check of one row. */
function sizeCheck(
  target: MessageTarget,
  variantAt: (row: number) => number,
  variants: readonly number[],
): SizeCheck {
  const { maxMessageBytes, maxInFlightBytes, limitedBy, batchHeaderBytes = () => 0 } = target.fields;
  const sizes = variants.map((variant) => target.block(variant).bytes.length);
  const smallest = Math.min(...sizes) + batchHeaderBytes(0, false);
  const largest = Math.max(...sizes) + batchHeaderBytes(MOST_ROWS_OF_BATCH - 1, true);
  const subject = target.subjectBytes.length;
  const check = (row: number, size: number, index: number, last: boolean): void => {
    const headers = target.block(variantAt(row)).bytes.length + batchHeaderBytes(index, last);
    if (headers > MAX_HEADER_BYTES) {
      throw tooLarge(row, "headers", headers, MAX_HEADER_BYTES, "the server's limit");
    }
    if (headers + size > maxMessageBytes) {
      throw tooLarge(row, "headers and body", headers + size, maxMessageBytes, limitedBy);
    }
    if (headers + size + subject > maxInFlightBytes) {
      throw tooLarge(
        row,
        "headers, body and subject",
        headers + size + subject,
        maxInFlightBytes,
        option("maxInFlightBytes"),
      );
    }
  };
  const limit = Math.min(maxMessageBytes, maxInFlightBytes - subject) - smallest;
  return {
    headerBytes: largest,
    leastRowBytes: smallest + subject + LEAST_BODY,
    maxRowBytes: smallest > MAX_HEADER_BYTES ? 0 : Math.max(0, limit),
    check,
    uneven: smallest !== largest || largest > MAX_HEADER_BYTES,
  };
}

interface SizeCheck {
  /** The largest header block. */
  readonly headerBytes: number;
  /** What a row takes of the window at least. */
  readonly leastRowBytes: number;
  /** A body above this fits with no header block. */
  readonly maxRowBytes: number;
  /** Throws for a row that is too large; its batch headers follow from its place. */
  readonly check: (row: number, size: number, index: number, last: boolean) => void;
  /** Whether a body below `maxRowBytes` may still be too large, by its own header block. */
  readonly uneven: boolean;
}

function tooLarge(row: number, what: string, size: number, limit: number, whose: string | OptionName): EncodeError {
  return new EncodeError(
    "encode.too_large",
    words`Cannot publish row ${row}: the limit for ${what} is ${limit} bytes (${whose}), and they have ${size}`,
    { row, size, limit },
  );
}

/** `HPUB subject reply hlen tlen` must fit the server's line buffer: what is longer closes the connection. */
function checkCommandLine(target: MessageTarget, headerBytes: number): void {
  const { subject, replyBytes, resource, stream, maxMessageBytes, maxInFlightBytes } = target.fields;
  const line = commandLineBytes(subject, replyBytes, headerBytes, Math.min(maxMessageBytes, maxInFlightBytes));
  if (line > MAX_COMMAND_LINE) {
    throw new RouteError(
      "route.subject",
      `Cannot publish to a subject of ${target.subjectBytes.length} bytes: with its reply subject the command line ` +
        `may have ${line} bytes, above a server's limit of ${MAX_COMMAND_LINE}: ${describe(subject)}`,
      { resource, stream, subject },
    );
  }
}
