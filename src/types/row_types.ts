/**
 * The types that `rowsOf` gives to the columns of rows made of objects.
 *
 * @module
 */

/**
 * The type of a value: a name, a list of one type, or a struct of named types.
 *
 * | type | values |
 * |---|---|
 * | `bool` | `true`, `false` |
 * | `int8` to `int64`, `uint8` to `uint64` | an integer in range: a number of at most 2^53 - 1 in magnitude, or a bigint |
 * | `float32`, `float64` | a number; `float32` keeps the nearest one of its width and refuses what is out of its range |
 * | `utf8` | a string without lone surrogates |
 * | `binary` | a `Uint8Array`; copied |
 * | `date` | a `Date` or an ISO 8601 date and time with a zone (its day in UTC), or an ISO 8601 date |
 * | `timestamp` | a `Date`, or an ISO 8601 date and time with a zone; written in UTC, with `Z` |
 * | `json` | a JSON value as `JSON.parse` returns it; embedded in the message |
 * | `{ list: T }` | an array |
 * | `{ struct: { ... } }` | an object with these keys |
 *
 * @example
 * ```ts
 * import type { RowType } from "@jetrow/jetrow/arrow";
 * import assert from "node:assert/strict";
 *
 * const tags: RowType = { list: { struct: { name: "utf8", weight: "float32" } } };
 * assert.ok("list" in tags);
 * ```
 */
export type RowType =
  | "bool"
  | "int8"
  | "int16"
  | "int32"
  | "int64"
  | "uint8"
  | "uint16"
  | "uint32"
  | "uint64"
  | "float32"
  | "float64"
  | "utf8"
  | "binary"
  | "date"
  | "timestamp"
  | "json"
  | { readonly list: RowType }
  | { readonly struct: RowTypes };

/**
 * The columns, in order: the type of each by its name.
 *
 * @example
 * ```ts
 * import { rowsOf, type RowTypes } from "@jetrow/jetrow/arrow";
 * import assert from "node:assert/strict";
 *
 * const types = { page: "utf8", ms: "int32" } satisfies RowTypes;
 * assert.equal(rowsOf([{ page: "/", ms: 12 }], types).numRows, 1);
 * ```
 */
export interface RowTypes {
  /** The type of one column. */
  readonly [column: string]: RowType;
}
