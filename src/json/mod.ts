/**
 * Rows of Arrow batches as JSON, without any NATS: what jetrow publishes, to be had alone.
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
export { encodeRows } from "./encode.ts";
export type {
  ArrowBatch,
  ArrowField,
  ArrowRows,
  ArrowSchema,
  ArrowTable,
  ArrowWindow,
  BatchLimits,
  EncodedRows,
  FlechetteTable,
} from "../types/mod.ts";
