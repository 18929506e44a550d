/**
 * Rows as JSON, side by side in one arena.
 *
 * @module
 */

import { type RowsView, viewRows } from "../arrow/view.ts";
import { type Steps, toEnd } from "../util/steps.ts";
import type { ArrowRows, EncodedRows } from "../types/mod.ts";
import { begin, type EncodedPart, type EncodeOptions, encodeSlice, resultOf } from "./row_encoder.ts";

/** Bytes that one step encodes: a millisecond's work at most, since other work waits for it. */
const SLICE = 1 << 18;

/**
 * Every row as one JSON object, keys in schema order, valid UTF-8 always. Numbers have every digit, 64-bit integers and
 * decimals too; dates and times are ISO 8601 texts, binary is base64; NaN and the infinities are quoted.
 * `docs/messages.md` has each Arrow type.
 *
 * @throws {EncodeError} Where a type, a name or a value cannot be written, where data points outside of its buffers,
 * and above 4 GiB.
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
export function encodeRows(rows: ArrowRows): EncodedRows {
  return encodeView(viewRows(rows));
}

/** A part of a view's rows as JSON. */
export function encodeView(view: RowsView, options: EncodeOptions = {}): EncodedPart {
  return toEnd(encodeSteps(view, options, Infinity));
}

/** The same in steps of so many bytes, at least one. */
export function* encodeSteps(view: RowsView, options: EncodeOptions, size = SLICE): Steps<EncodedPart> {
  const encoding = begin(view, options);
  while (encodeSlice(encoding, size)) yield;
  return resultOf(encoding);
}
