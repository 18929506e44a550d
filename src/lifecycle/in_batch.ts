/**
 * Which batch of a sequence an error of data is about.
 *
 * @module
 */

import { EncodeError } from "../errors/mod.ts";

const PLACE = / \(batch \d+ of the sequence\)$/;

/**
 * The same error with its batch's index, which its message names too: by `where`, else by the index.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { EncodeError } from "../errors/mod.ts";
 *
 * const first = inBatch(new EncodeError("encode.value", "Cannot encode row 3", { row: 3 }), 7);
 * assert.deepEqual([first.message, first.batch], ["Cannot encode row 3 (batch 7 of the sequence)", 7]);
 * assert.equal(inBatch(first, 2, "batch 2 of a.arrow").message, "Cannot encode row 3 (batch 2 of a.arrow)");
 * ```
 */
export function inBatch(error: EncodeError, batch: number, where = `batch ${batch} of the sequence`): EncodeError {
  const { code, message, row, column, size, limit, cause } = error;
  return new EncodeError(code, `${message.replace(PLACE, "")} (${where})`, {
    batch,
    row,
    column,
    size,
    limit,
    ...(cause === undefined ? {} : { cause }),
  });
}
