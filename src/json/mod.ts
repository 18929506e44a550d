/**
 * Encodes the rows of Arrow batches as JSON, exactly as jetrow publishes them, without NATS in the module graph.
 *
 * ```ts
 * import assert from "node:assert/strict";
 * import { crc32c, encodeRows } from "@jetrow/jetrow/json";
 * import { tableFromArrays } from "apache-arrow";
 *
 * const rows = encodeRows(tableFromArrays({ id: Int32Array.of(7) }));
 * assert.ok(new TextDecoder().decode(rows.bytes) === '{"id":7}');
 * assert.ok(rows.crc32c === crc32c(rows.bytes));
 * ```
 *
 * @module
 */

export { sliceRows } from "../arrow/slice.ts";
export { crc32c } from "../hash/crc32c.ts";
export { encodeRows, type EncodeRowsOptions } from "./encode.ts";
export type {
  ArrowBatch,
  ArrowField,
  ArrowRows,
  ArrowSchema,
  ArrowTable,
  BatchLimits,
  BodyColumns,
  EncodedRows,
  FlechetteTable,
  JsonForms,
  JsonValueForms,
} from "../types/mod.ts";
