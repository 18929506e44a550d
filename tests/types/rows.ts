/** Type-checked, never run: `rows` accepts what the libraries make, without a cast. */

import * as flechette from "@uwdata/flechette";
import * as arrow21 from "apache-arrow";
import * as arrow17 from "apache-arrow-17";
import * as arrow18 from "apache-arrow-18";
import * as arrow19 from "apache-arrow-19";
import * as arrow20 from "apache-arrow-20";
import { batchesOf, encodeRows, type RowBatch, sliceRows } from "../../mod.ts";

type Rows = RowBatch["rows"];

/** What Arrow libraries return when they read a file. */
declare const ipc: Uint8Array;

export const tables: readonly Rows[] = [
  arrow17.tableFromIPC(ipc),
  arrow18.tableFromIPC(ipc),
  arrow19.tableFromIPC(ipc),
  arrow20.tableFromIPC(ipc),
  arrow21.tableFromIPC(ipc),
  flechette.tableFromIPC(ipc),
];

export const made: readonly Rows[] = [
  arrow17.tableFromArrays({ id: [1] }),
  arrow18.tableFromArrays({ id: [1] }),
  arrow19.tableFromArrays({ id: [1] }),
  arrow20.tableFromArrays({ id: [1] }),
  arrow21.tableFromArrays({ id: Int32Array.of(1), name: ["a"] }),
  arrow21.tableFromJSON([{ id: 1 }]),
  flechette.tableFromArrays({ id: [1] }),
];

/** Tables and batches with known column types, and with any. */
type Columns = { id: arrow21.Int32; at: arrow21.TimestampMicrosecond; tags: arrow21.List<arrow21.Utf8> };
declare const held: readonly [
  arrow17.Table,
  arrow17.RecordBatch,
  arrow18.Table,
  arrow18.RecordBatch,
  arrow19.Table,
  arrow19.RecordBatch,
  arrow20.Table,
  arrow20.RecordBatch,
  arrow21.Table,
  arrow21.RecordBatch,
  arrow21.Table<Columns>,
  arrow21.RecordBatch<Columns>,
  flechette.Table,
];
export const batches: readonly RowBatch[] = held.map((rows) => ({ resource: "r", rows }));

/** A reader is a sequence of batches, read synchronously or asynchronously. */
declare const reader: arrow21.RecordBatchReader;
declare const stream: arrow21.AsyncRecordBatchStreamReader;
export const sequences = [batchesOf("r", reader), batchesOf("r", stream), batchesOf("r", held[8].batches)];

/** The pieces of `sliceRows()` are rows, too. */
export const pieces: readonly Rows[] = [...sliceRows(held[9], { batchMaxRows: 10 })];
export const bytes: Uint8Array = encodeRows(held[12]).bytes;
