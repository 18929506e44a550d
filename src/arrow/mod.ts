/**
 * Reads Arrow IPC data into rows, and makes rows from JavaScript objects, without NATS: for the input of the command, and
 * for services that receive JSON.
 *
 * ```ts
 * import { readArrow, rowsOf } from "@jetrow/jetrow/arrow";
 * import { tableFromArrays, tableToIPC } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * let rows = 0;
 * for await (const batch of readArrow(tableToIPC(tableFromArrays({ id: [1, 2, 3] })))) rows += batch.numRows;
 * assert.equal(rows, 3);
 * assert.equal(rowsOf([{ id: 7 }, {}], { id: "int64" }).numRows, 2);
 * ```
 *
 * @module
 */

export { type ArrowBatches, type ArrowSource, readArrow, type ReadArrowOptions } from "./ipc/read_arrow.ts";
export { rowsOf } from "./rows_of.ts";
export type {
  ArrowBatch,
  ArrowField,
  ArrowRows,
  ArrowSchema,
  ArrowTable,
  FlechetteTable,
  RowType,
  RowTypes,
} from "../types/mod.ts";
