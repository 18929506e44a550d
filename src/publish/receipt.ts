/**
 * Makes the receipt of a settled call.
 *
 * @module
 */

import type { Destination } from "../stream/destination.ts";
import type { WriteReceipt } from "../types/mod.ts";
import type { Call } from "./call.ts";

/** The fields of a receipt. */
export interface ReceiptFields {
  /** Where the rows went. */
  readonly destination: Pick<Destination, "resource" | "stream" | "subject">;
  /** Rows acknowledged. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** CRC32C over the concatenated bodies. */
  readonly crc32c: number;
  /** Rows that the stream had already; undefined if the server does not report them. */
  readonly duplicates: number | undefined;
  /** Stream sequences in row order; undefined if the server does not report them. */
  readonly sequences: Float64Array | undefined;
  /** The highest sequence, if the server reports no other. */
  readonly lastSequence?: number | undefined;
  /** The batch's index in its sequence of batches. */
  readonly batch: number;
  /** The index of the first row among the selected rows of its batch. */
  readonly offset: number;
}

/** Returns the receipt of rows that are all acknowledged. */
export function makeReceipt(fields: ReceiptFields): WriteReceipt {
  const { resource, stream, subject } = fields.destination;
  const { rows, bytes, crc32c, duplicates, batch, offset, lastSequence } = fields;
  const pairs = fields.sequences === undefined ? [] : sequencePairs(fields.sequences);
  return {
    uri: `nats://${stream}/${resource}`,
    resource,
    stream,
    subject,
    rows,
    bytes,
    crc32c,
    ...(duplicates === undefined ? {} : { duplicates }),
    ...(lastSequence === undefined ? {} : { lastSequence }),
    ...(pairs.length === 0 ? {} : sequenceRange(pairs)),
    batch,
    offset,
  };
}

function sequenceRange(sequences: readonly (readonly [number, number])[]) {
  let firstSequence = Infinity;
  let lastSequence = 0;
  for (const [first, last] of sequences) {
    firstSequence = Math.min(firstSequence, first);
    lastSequence = Math.max(lastSequence, last);
  }
  return { firstSequence, lastSequence, sequences };
}

/** Returns the duplicates and sequences of a receipt, as far as the call's acknowledgments report them. */
export function reportedFields(
  { fields, lastSequence }: Call,
  duplicates: number,
  sequences: Float64Array,
): Pick<ReceiptFields, "duplicates" | "sequences" | "lastSequence"> {
  if (fields.reportsSequences) return { duplicates, sequences };
  return { duplicates: undefined, sequences: undefined, lastSequence };
}

/** Returns the receipt of a settled call; `batch` is its batch's index in a sequence of batches. */
export function receiptOf(call: Call, batch: number): WriteReceipt {
  const { rows, ledger } = call;
  return makeReceipt({
    destination: call.destination,
    rows: rows.count,
    bytes: rows.bodyBytes,
    crc32c: rows.crc32c,
    ...reportedFields(call, ledger.duplicates, ledger.sequences),
    batch,
    offset: rows.from,
  });
}

/** Returns sequences in row order as pairs of the first and last of consecutive ones. */
export function sequencePairs(sequences: Float64Array): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  for (let start = 0; start < sequences.length;) {
    let end = start + 1;
    while (end < sequences.length && sequences[end] === sequences[end - 1]! + 1) end++;
    pairs.push([sequences[start]!, sequences[end - 1]!]);
    start = end;
  }
  return pairs;
}
