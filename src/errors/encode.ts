/**
 * The error of data that cannot become messages.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { EncodeErrorCode } from "./codes.ts";
import { type Wording, words } from "./wording.ts";

/** The message of each error without the batch. */
const problems = new WeakMap<EncodeError, string | Wording>();

/** The parts of an {@linkcode EncodeError}: where in the batch, and how large. */
export interface EncodeErrorParts {
  /** The batch's index in a sequence. */
  readonly batch?: number | undefined;
  /** How the message names the batch. Default: its index. */
  readonly batchName?: string | undefined;
  /** The row's number in the batch as the caller passed it. */
  readonly row?: number | undefined;
  /** The column's name. */
  readonly column?: string | undefined;
  /** Bytes that the message or the header block would have. */
  readonly size?: number | undefined;
  /** The largest number of bytes allowed. */
  readonly limit?: number | undefined;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * The data cannot become messages: the caller fixes it. Nothing of the batch was sent. In a sequence (`applyAll`,
 * `publishAll`) nothing of the row's piece was sent; earlier pieces may be stored, and `onReceipt` has been called for
 * them. If rows of an earlier piece also failed, the call throws a PublishError whose `cause` is this error.
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
  /** The batch's index in the sequence, if the batch is part of one. */
  readonly batch: number | undefined;
  /** The row's number in the batch, if the error is about one row. */
  readonly row: number | undefined;
  /** The column's name, if the error is about one column. */
  readonly column: string | undefined;
  /** The size in bytes, if a limit was exceeded. */
  readonly size: number | undefined;
  /** The limit that was exceeded, in bytes. */
  readonly limit: number | undefined;

  /** @internal */
  constructor(code: EncodeErrorCode, problem: string | Wording, parts: EncodeErrorParts = {}) {
    const { batch, batchName = `batch ${batch} of the sequence` } = parts;
    super(batch === undefined ? problem : words`${problem} (${batchName})`, parts);
    this.code = code;
    problems.set(this, problem);
    this.batch = batch;
    this.row = parts.row;
    this.column = parts.column;
    this.size = parts.size;
    this.limit = parts.limit;
  }
}

/** Returns the same error for a batch of a sequence. `batchName` is how the message names it. */
export function withBatch(error: EncodeError, batch: number, batchName?: string): EncodeError {
  const { code, row, column, size, limit } = error;
  const cause = "cause" in error ? { cause: error.cause } : {};
  return new EncodeError(code, problems.get(error)!, { batch, batchName, row, column, size, limit, ...cause });
}
