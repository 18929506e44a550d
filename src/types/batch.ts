/**
 * Batches of rows, their limits, and their encoded form.
 *
 * @module
 */

import type { ArrowRows } from "./arrow.ts";

/**
 * The operation of a row, a header of its message.
 *
 * @example
 * ```ts
 * import type { Operation } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const operations: Operation[] = ["insert", "update", "delete"];
 * assert.equal(operations.length, 3);
 * ```
 */
export type Operation = "insert" | "update" | "delete";

/**
 * The rows for one destination resource.
 *
 * @example
 * ```ts
 * import type { RowBatch } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const rows = tableFromArrays({ id: [1, 2, 3] });
 * const batch: RowBatch = { resource: "orders", rows, operations: ["insert", "update", "delete"], only: [0, 2] };
 * assert.equal(batch.operations?.length, batch.rows.numRows);
 * ```
 */
export interface RowBatch {
  /** The name of the rows' destination. It replaces `{resource}` in `stream` and `subject`. */
  readonly resource: string;
  /** The rows. Do not write to their buffers until the call has ended. */
  readonly rows: ArrowRows;
  /**
   * One operation for all rows, or one per row (the rows of a table are counted across its batches).
   *
   * @default {"insert"}
   */
  readonly operations?: Operation | readonly Operation[];
  /** The numbers of the rows to publish, ascending. Absent: all rows. Errors and outcomes keep these numbers. */
  readonly only?: readonly number[];
}

/**
 * A sequence of batches.
 *
 * @example
 * ```ts
 * import type { Batches, RowBatch } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * async function* daily(): AsyncGenerator<RowBatch> {
 *   yield { resource: "monday", rows: tableFromArrays({ id: [1] }) };
 * }
 * const batches: Batches = daily();
 * assert.ok(Symbol.asyncIterator in batches);
 * ```
 */
export type Batches = Iterable<RowBatch> | AsyncIterable<RowBatch>;

/**
 * The limits at which a batch is cut into pieces.
 *
 * @example
 * ```ts
 * import { type BatchLimits, sliceRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const limits: BatchLimits = { batchMaxRows: 1000, batchMaxBytes: 1024 * 1024 };
 * assert.equal([...sliceRows(tableFromArrays({ id: new Int32Array(2500) }), limits)].length, 3);
 * ```
 */
export interface BatchLimits {
  /**
   * The largest number of rows of a piece.
   *
   * @default {8192}
   */
  readonly batchMaxRows?: number;
  /**
   * The largest number of bytes of Arrow buffers that the rows of a piece refer to. A single row may exceed it.
   *
   * @default {16777216}
   */
  readonly batchMaxBytes?: number;
}

/**
 * Encoded rows in one array of bytes.
 *
 * @example
 * ```ts
 * import { type EncodedRows, encodeRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const { bytes, offsets }: EncodedRows = encodeRows(tableFromArrays({ id: [1, 2] }));
 * assert.equal(new TextDecoder().decode(bytes.subarray(offsets[1], offsets[2])), '{"id":2}');
 * ```
 */
export interface EncodedRows {
  /** All bodies, one after another, without separators. */
  readonly bytes: Uint8Array;
  /** Where each row begins; one more entry than rows, the last is the end. */
  readonly offsets: Uint32Array;
  /** CRC32C (Castagnoli) of `bytes`; computed on first reading. */
  readonly crc32c: number;
}
