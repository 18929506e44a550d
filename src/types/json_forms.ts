/**
 * How values are written as JSON.
 *
 * @module
 */

/**
 * How the values of all columns, or of one, are written. The default of each is the first word.
 *
 * @example
 * ```ts
 * import { encodeRows, type JsonValueForms } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const forms: JsonValueForms = { int64: "safe", nonFinite: "null" };
 * const rows = tableFromArrays({ id: [1n, 9007199254740993n], ratio: Float64Array.of(0.5, NaN) });
 * const text = new TextDecoder().decode(encodeRows(rows, { json: forms }).bytes);
 * assert.equal(text, '{"id":1,"ratio":0.5}{"id":"9007199254740993","ratio":null}');
 * ```
 */
export interface JsonValueForms {
  /**
   * Int64 and UInt64: a number, a string, or (`safe`) a string only above 2^53 - 1 in magnitude.
   *
   * @default {"number"}
   */
  readonly int64?: "number" | "string" | "safe";
  /**
   * Decimals of every width, and strings with the metadata `filament.logical=decimal`: a number or a string.
   *
   * @default {"number"}
   */
  readonly decimal?: "number" | "string";
  /**
   * Floats that are not finite: `"NaN"`, `"Infinity"` and `"-Infinity"`, or `null`.
   *
   * @default {"string"}
   */
  readonly nonFinite?: "string" | "null";
  /**
   * Timestamps: an ISO 8601 string, or the whole seconds, milliseconds, microseconds or nanoseconds since 1970 as a
   * number. A timestamp with digits below that unit is refused (`encode.value`). The infinite ones stay strings.
   *
   * @default {"iso"}
   */
  readonly timestamp?: "iso" | "s" | "ms" | "us" | "ns";
  /**
   * Timestamps without a time zone, written as ISO 8601: without a zone, or with `Z`.
   *
   * @default {"none"}
   */
  readonly naive?: "none" | "Z";
  /**
   * Infinite dates and timestamps: the smallest and the largest value of Date32 and Timestamp; `duckdb` also counts the
   * negative of the largest, which DuckDB stores for `-infinity`.
   *
   * @default {"extremes"}
   */
  readonly infinity?: "extremes" | "duckdb";
  /**
   * Members of the row's object and of structs that are null: `null`, or left out. Null list items, map values and
   * embedded JSON stay.
   *
   * @default {"keep"}
   */
  readonly nulls?: "keep" | "omit";
  /**
   * Binary values: padded base64, base64 with the URL alphabet and without padding, or lower-case hex digits.
   *
   * @default {"base64"}
   */
  readonly binary?: "base64" | "base64url" | "hex";
}

/**
 * How values are written as JSON, for all columns and for single ones.
 *
 * @example
 * ```ts
 * import { encodeRows, type JsonForms } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const json: JsonForms = { int64: "string", columns: { count: { int64: "number" } } };
 * const rows = tableFromArrays({ id: [7n], count: [2n] });
 * assert.equal(new TextDecoder().decode(encodeRows(rows, { json }).bytes), '{"id":"7","count":2}');
 * ```
 */
export interface JsonForms extends JsonValueForms {
  /** The forms of top-level columns, and of all that is nested in them, by name. They override the others. */
  readonly columns?: Readonly<Record<string, JsonValueForms>>;
}
