/**
 * Reads Arrow IPC data into rows, without NATS: what the command reads its input with.
 *
 * ```ts
 * import { readArrow } from "@jetrow/jetrow/arrow";
 * import { tableFromArrays, tableToIPC } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * let rows = 0;
 * for await (const batch of readArrow(tableToIPC(tableFromArrays({ id: [1, 2, 3] })))) rows += batch.numRows;
 * assert.equal(rows, 3);
 * ```
 *
 * @module
 */

export { type ArrowBatches, type ArrowSource, readArrow, type ReadArrowOptions } from "./ipc/read_arrow.ts";
export type { ArrowBatch, ArrowField, ArrowRows, ArrowSchema, ArrowTable, FlechetteTable } from "../types/mod.ts";
