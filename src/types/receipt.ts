/**
 * Receipts of acknowledged rows.
 *
 * @module
 */

/**
 * Proof that every row of a batch was acknowledged.
 *
 * @example
 * ```ts
 * import type { WriteReceipt } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const receipt: WriteReceipt = {
 *   uri: "nats://ORDERS/eu", resource: "eu", stream: "ORDERS", subject: "orders.eu",
 *   rows: 3, bytes: 24, crc32c: 0x1234, duplicates: 0, firstSequence: 7, lastSequence: 12,
 *   sequences: [[7, 8], [12, 12]], batch: 0, offset: 0,
 * };
 * const counted = receipt.sequences!.reduce((rows, [first, last]) => rows + last - first + 1, 0);
 * assert.equal(counted, receipt.rows);
 * ```
 */
export interface WriteReceipt {
  /** `nats://<stream>/<resource>`: a name, not an address to dial. */
  readonly uri: string;
  /** The destination resource. */
  readonly resource: string;
  /** The stream. */
  readonly stream: string;
  /** The subject. If the rows' values are part of it, the pattern of all their subjects: `orders.*`. */
  readonly subject: string;
  /** The number of acknowledged rows, duplicates included. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** CRC32C over the concatenated bodies, without separators. */
  readonly crc32c: number;
  /** Rows that the stream already had. Absent with `publishMode: "fast"`. */
  readonly duplicates?: number;
  /** The lowest stream sequence of its rows. Absent for no rows, and with `publishMode: "fast"`. */
  readonly firstSequence?: number;
  /**
   * The highest stream sequence of its rows. Absent for no rows; with `publishMode: "fast"` also if none of them was new,
   * or if they were acknowledged together with the rows of another call.
   */
  readonly lastSequence?: number;
  /**
   * The stream sequences in row order, as pairs of the first and the last of consecutive ones. Absent for no rows, and
   * with `publishMode: "fast"`.
   */
  readonly sequences?: readonly (readonly [first: number, last: number])[];
  /** The batch's index in its sequence of batches; 0 for a single one. */
  readonly batch: number;
  /** The piece's first row within its batch (with `only`: within the rows selected). */
  readonly offset: number;
}

/**
 * The totals of a run or an epoch for one resource.
 *
 * @example
 * ```ts
 * import type { ResourceTotal } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const total: ResourceTotal = { resource: "eu", stream: "ORDERS", rows: 3, bytes: 24, duplicates: 1, batches: 1 };
 * assert.equal(total.rows - total.duplicates!, 2);
 * ```
 */
export interface ResourceTotal {
  /** The destination resource. */
  readonly resource: string;
  /** The stream. */
  readonly stream: string;
  /** Rows acknowledged, duplicates included. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** Rows that the stream already had. Absent with `publishMode: "fast"`. */
  readonly duplicates?: number;
  /** Batches that the caller passed. `applyAll` and `publishAll` may publish one in several pieces, each with a receipt. */
  readonly batches: number;
}

/**
 * The totals of a run.
 *
 * @example
 * ```ts
 * import type { RunReceipt } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const eu = { resource: "eu", stream: "ORDERS", rows: 3, bytes: 24, batches: 1 };
 * const receipt: RunReceipt = { resources: [eu], rows: 3, bytes: 24 };
 * assert.equal(receipt.resources.reduce((rows, total) => rows + total.rows, 0), receipt.rows);
 * ```
 */
export interface RunReceipt {
  /** The totals by resource, sorted by name. */
  readonly resources: readonly ResourceTotal[];
  /** Rows acknowledged, duplicates included. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** Rows that the streams already had. Absent with `publishMode: "fast"`. */
  readonly duplicates?: number;
}
