/**
 * Encodes the rows of a view as JSON, at once or in steps.
 *
 * @module
 */

import { type RowsView, viewRows } from "../arrow/view.ts";
import { type Steps, toEnd } from "../util/steps.ts";
import { resolveEncodeRows } from "../options/encode_rows.ts";
import type { ArrowRows, BodyColumns, EncodedRows, JsonForms } from "../types/mod.ts";
import { bodyView } from "../arrow/pick.ts";
import { begin, type EncodedPart, type EncodeOptions, encodeSlice, resultOf } from "./row_encoder.ts";
import { rowForms } from "./row_forms.ts";

/** Bytes that one step encodes: at most a millisecond of work, because acknowledgments wait for it. */
const SLICE = 1 << 18;

/**
 * What {@linkcode encodeRows} writes.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeRows, type EncodeRowsOptions } from "@jetrow/jetrow/json";
 * import { tableFromArrays } from "apache-arrow";
 *
 * const options: EncodeRowsOptions = { bodyColumns: { pick: ["name"] } };
 * const { bytes } = encodeRows(tableFromArrays({ id: Int32Array.of(1), name: ["a"] }), options);
 * assert.equal(new TextDecoder().decode(bytes), '{"name":"a"}');
 * ```
 */
export interface EncodeRowsOptions {
  /** The columns of the objects. @default all columns */
  readonly bodyColumns?: BodyColumns;
  /** How values are written. @default every value in the form of its type */
  readonly json?: JsonForms;
}

/**
 * Encodes every row as one JSON object: keys in schema order, no white space, always valid UTF-8. Numbers have every
 * digit, also 64-bit integers and decimals. Dates and times are ISO 8601 strings, binary is base64, and NaN and the
 * infinities are quoted. `docs/messages.md` lists the JSON form of each Arrow type; the option `json` chooses others.
 *
 * @throws {EncodeError} If a type, a column name or a value has no JSON form, if an option names a column that the rows
 * do not have, if data points outside its buffers, or if the result would exceed 4 GiB.
 * @throws {ConfigError} If an option is unknown or wrong.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { encodeRows } from "@jetrow/jetrow/json";
 * import { tableFromArrays } from "apache-arrow";
 *
 * const { bytes, offsets } = encodeRows(tableFromArrays({ id: Int32Array.of(1, 2), name: ["a", "b"] }));
 * const first = new TextDecoder().decode(bytes.subarray(offsets[0], offsets[1]));
 * assert.ok(first === '{"id":1,"name":"a"}');
 * ```
 */
export function encodeRows(rows: ArrowRows, options: EncodeRowsOptions = {}): EncodedRows {
  const { bodyColumns, json } = resolveEncodeRows(options);
  const view = viewRows(rows);
  const body = bodyView(view, bodyColumns);
  return encodeView(body, { forms: rowForms(view, body, json) });
}

/** Encodes part of a view's rows. */
export function encodeView(view: RowsView, options: EncodeOptions = {}): EncodedPart {
  return toEnd(encodeSteps(view, options, Infinity));
}

/** Does the same as `encodeView`, and yields after every `size` bytes. */
export function* encodeSteps(view: RowsView, options: EncodeOptions, size = SLICE): Steps<EncodedPart> {
  const encoding = begin(view, options);
  while (encodeSlice(encoding, size)) yield;
  return resultOf(encoding);
}
