/**
 * The sizes of messages against the limits of the connection, the stream and the window.
 *
 * @module
 */

import { EncodeError } from "../errors/mod.ts";
import { option, type OptionName, words } from "../errors/wording.ts";
import { MOST_ROWS_OF_BATCH } from "./batch_headers.ts";
import { MAX_HEADER_BYTES } from "./headers.ts";
import { hasEventId, type RowSource } from "./ids.ts";
import { operationOf, OPERATIONS } from "./operations.ts";
import { type MessageTarget, variantOf } from "./target.ts";

/** The smallest JSON body: `{}`. */
const LEAST_JSON = 2;

/** What is known of the sizes of a batch's messages before a row is read. */
export interface SizeLimits {
  /** Bytes of the largest header block; what servers accept at most if a row has lines of its own. */
  readonly largestHeaders: number;
  /** What a row takes of the window at least. */
  readonly leastRowBytes: number;
  /** A larger body fits with no header block and no subject. */
  readonly maxBodyBytes: number;
  /** Whether a body of at most {@linkcode maxBodyBytes} may still be too large, by its own headers or subject. */
  readonly uneven: boolean;
}

/** Bytes of the parts of messages, by index. The headers are those without batch headers. */
export interface MessageSizes {
  headers(index: number): number;
  body(index: number): number;
  subject(index: number): number;
}

/** Returns the limits of a batch's messages. */
export function sizeLimits(source: RowSource, target: MessageTarget): SizeLimits {
  const { fields, rowHeaders, subjectBytes } = target;
  const { maxMessageBytes, maxInFlightBytes, rowSubject, batchHeaderBytes = () => 0 } = fields;
  const blocks = possibleVariants(source).map((variant) => target.block(variant).bytes.length);
  const smallest = Math.min(...blocks) + batchHeaderBytes(0, false);
  const largestBlock = Math.max(...blocks) + batchHeaderBytes(MOST_ROWS_OF_BATCH - 1, true);
  const subject = rowSubject === undefined ? subjectBytes.length : 1;
  const maxBodyBytes = Math.min(maxMessageBytes, maxInFlightBytes - subject) - smallest;
  return {
    largestHeaders: rowHeaders.length === 0 ? largestBlock : MAX_HEADER_BYTES,
    leastRowBytes: smallest + subject + (source.body.raw ? 0 : LEAST_JSON),
    maxBodyBytes: smallest > MAX_HEADER_BYTES ? 0 : Math.max(0, maxBodyBytes),
    uneven: smallest !== largestBlock || largestBlock > MAX_HEADER_BYTES || rowSubject !== undefined ||
      rowHeaders.length > 0,
  };
}

/** Returns the variant of a row's header block. */
export function variantAt(source: RowSource, row: number): number {
  return variantOf(operationOf(source.operations, row), hasEventId(source, row));
}

/** Throws an EncodeError `encode.too_large` for the first of `count` messages that is too large. */
export function checkSizes(
  target: MessageTarget,
  sizes: MessageSizes,
  rowAt: (index: number) => number,
  count: number,
): void {
  const { batchHeaderBytes = () => 0 } = target.fields;
  for (let index = 0; index < count; index++) {
    const headers = sizes.headers(index) + batchHeaderBytes(index, index === count - 1);
    checkSize(target, rowAt(index), headers, sizes.body(index), sizes.subject(index));
  }
}

/**
 * Throws an EncodeError `encode.too_large` for a message that is too large; its headers include batch headers. Takes
 * plain numbers: an object per row took 40 to 70 ns, a tenth of what it takes to prepare a row of 256 bytes.
 */
export function checkSize(
  { fields }: MessageTarget,
  row: number,
  headers: number,
  body: number,
  subject: number,
): void {
  const { maxMessageBytes, maxInFlightBytes, limitedBy } = fields;
  if (headers > MAX_HEADER_BYTES) throw tooLarge(row, "headers", headers, MAX_HEADER_BYTES, "the server's limit");
  if (headers + body > maxMessageBytes) {
    throw tooLarge(row, "headers and body", headers + body, maxMessageBytes, limitedBy);
  }
  const size = headers + body + subject;
  if (size <= maxInFlightBytes) return;
  throw tooLarge(row, "headers, body and subject", size, maxInFlightBytes, option("maxInFlightBytes"));
}

/** All variants that rows may have: looking for those that they do have would read the whole batch per piece. */
function possibleVariants({ operations, ids }: RowSource): readonly number[] {
  const codes = typeof operations === "number" ? [operations] : OPERATIONS.map((_, code) => code);
  return codes.flatMap((operation) =>
    ids === undefined ? [variantOf(operation, false)] : [variantOf(operation, false), variantOf(operation, true)]
  );
}

function tooLarge(row: number, what: string, size: number, limit: number, whose: string | OptionName): EncodeError {
  return new EncodeError(
    "encode.too_large",
    words`Cannot publish row ${row}: the limit for ${what} is ${limit} bytes (${whose}), and they have ${size}`,
    { row, size, limit },
  );
}
