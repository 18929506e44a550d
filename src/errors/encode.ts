/**
 * The error of data.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { EncodeErrorCode } from "./codes.ts";

/**
 * Details of an {@linkcode EncodeError}: where in the batch, and how large.
 *
 * @example
 * ```ts
 * import { EncodeError, type EncodeErrorDetails } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const details: EncodeErrorDetails = { row: 7, column: "note", size: 2_000_000, limit: 1_048_576 };
 * assert.equal(new EncodeError("encode.too_large", "row 7 has 2000000 bytes", details).row, 7);
 * ```
 */
export interface EncodeErrorDetails {
  /** The batch's index in a sequence. */
  readonly batch?: number | undefined;
  /** The row's number in the batch as the caller gave it. */
  readonly row?: number | undefined;
  /** The column's name. */
  readonly column?: string | undefined;
  /** Bytes that the message or header block would have. */
  readonly size?: number | undefined;
  /** Bytes that are allowed. */
  readonly limit?: number | undefined;
  /** What led to this error. */
  readonly cause?: unknown;
}

/**
 * The data cannot become messages: the caller fixes it. Nothing of the batch was sent; of a sequence (`applyAll`,
 * `publishAll`), nothing of the piece that the row is in: earlier pieces are stored, and `onReceipt` was told. Where one
 * of them failed besides, the error is a PublishError with this one as its cause.
 *
 * @example
 * ```ts
 * import { encodeRows } from "@jetrow/jetrow/json";
 * import { EncodeError } from "@jetrow/jetrow/errors";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const table = tableFromArrays({ a: [1] });
 * const schema = { fields: [...table.schema.fields, ...table.schema.fields] };
 * const twice = { ...table, numRows: 1, batches: table.batches, schema };
 * try {
 *   encodeRows(twice);
 * } catch (error) {
 *   assert.ok(error instanceof EncodeError && error.code === "encode.column_name");
 * }
 * ```
 */
export class EncodeError extends JetrowError {
  /** Always `"EncodeError"`. */
  override readonly name = "EncodeError" as const;
  /** What is wrong with the data. */
  override readonly code: EncodeErrorCode;
  /** The batch's index in the sequence, where it is one of a sequence. */
  readonly batch: number | undefined;
  /** The row's number, where one is concerned. */
  readonly row: number | undefined;
  /** The column's name, where one is concerned. */
  readonly column: string | undefined;
  /** Bytes that it would take, where a limit was passed. */
  readonly size: number | undefined;
  /** The limit that was passed, in bytes. */
  readonly limit: number | undefined;

  /** Makes the error. */
  constructor(code: EncodeErrorCode, message: string, details: EncodeErrorDetails = {}) {
    super(message, details);
    this.code = code;
    this.batch = details.batch;
    this.row = details.row;
    this.column = details.column;
    this.size = details.size;
    this.limit = details.limit;
  }
}
