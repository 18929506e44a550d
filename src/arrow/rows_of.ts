/**
 * Makes rows from JavaScript objects by types that the caller gives.
 *
 * @module
 */

import { EncodeError } from "../errors/mod.ts";
import type { ArrowRows, RowTypes } from "../types/mod.ts";
import { describe } from "../util/describe.ts";
import { fieldBuilders } from "./rows/columns.ts";
import { rowError } from "./rows/fault.ts";

/**
 * Returns the rows of objects, such as a parsed JSON body, with one column for each key of `types`. Nothing is inferred
 * or converted: an absent or null key is null, and every other value has the type that its key names. The values are
 * copied.
 *
 * Throws an EncodeError `encode.value` with row and column (the path of a nested value: `user.tags[2]`) if a value does
 * not fit, if an object has a key that `types` does not list, or if `objects` is not an array of objects; a ConfigError
 * if `types` are not types.
 *
 * @example
 * ```ts
 * import { rowsOf } from "@jetrow/jetrow/arrow";
 * import { encodeRows } from "@jetrow/jetrow/json";
 * import assert from "node:assert/strict";
 *
 * const types = { page: "utf8", ms: "int32", at: "timestamp" } as const;
 * const rows = rowsOf([{ page: "/", at: "2026-01-31T09:00:00+01:00" }], types);
 * const json = new TextDecoder().decode(encodeRows(rows).bytes);
 * assert.equal(json, '{"page":"/","ms":null,"at":"2026-01-31T08:00:00Z"}');
 * assert.throws(() => rowsOf([{ ms: 1 }, { ms: "x" }], types), { code: "encode.value", row: 1, column: "ms" });
 * ```
 */
export function rowsOf(objects: readonly object[], types: RowTypes): ArrowRows {
  const columns = fieldBuilders(types, "types");
  if (!Array.isArray(objects)) {
    throw new EncodeError(
      "encode.value",
      `Cannot encode rows: expected an array of objects: received ${describe(objects)}`,
    );
  }
  const numRows = objects.length;
  for (let row = 0; row < numRows; row++) {
    try {
      columns.add(objects[row]);
    } catch (thrown) {
      throw rowError(thrown, row);
    }
  }
  const built = columns.finish();
  return {
    schema: { fields: built.map(({ name, type, metadata }) => ({ name, type, metadata })) },
    numRows,
    data: { length: numRows, children: built.map(({ data }) => data) },
  };
}
