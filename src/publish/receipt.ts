/**
 * What a call that succeeded gives its caller.
 *
 * @module
 */

import type { WriteReceipt } from "../types.ts";
import type { Delivery } from "./delivery.ts";

/** The receipt of a delivery whose rows are all acknowledged; `batch` is its index in a sequence of batches. */
export function receiptOf(delivery: Delivery, batch: number): WriteReceipt {
  const { rows, destination, sequences, duplicates } = delivery;
  const { resource, stream, subject } = destination!;
  const pairs = sequencePairs(sequences);
  return {
    uri: `nats://${stream}/${resource}`,
    resource,
    stream,
    subject,
    rows: rows!.count,
    bytes: rows!.bodyBytes,
    crc32c: rows!.crc32c,
    duplicates,
    ...(pairs.length === 0 ? {} : {
      firstSequence: pairs.reduce((lowest, [first]) => Math.min(lowest, first), Infinity),
      lastSequence: pairs.reduce((highest, [, last]) => Math.max(highest, last), 0),
    }),
    ...(pairs.length === 0 ? {} : { sequences: pairs }),
    batch,
    offset: rows!.from,
  };
}

/**
 * Sequences in row order as pairs of the first and last of consecutive ones.
 *
 * @example
 * ```ts
 * console.assert(JSON.stringify(sequencePairs(Float64Array.of(4, 5, 6, 2, 9))) === "[[4,6],[2,2],[9,9]]");
 * ```
 */
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
