/**
 * Reading Arrow IPC from memory, batch by batch, compared with apache-arrow's reader, which checks less: jetrow checks
 * every length, offset and count, and counts the nulls.
 *
 * @module
 */

import { RecordBatchReader, tableToIPC } from "apache-arrow";
import { readArrow } from "../src/arrow/mod.ts";
import { tableOf } from "../tests/_support/arrow/batches.ts";
import { type Bench, compare, type Contender, ownCpu } from "./support/measure.ts";
import { fiftyColumns, tenColumns } from "./support/rows.ts";

/** The minimum CPU time of one measurement, in seconds. */
const AT_LEAST = 0.1;
const BATCHES = 20;

/** Runs the suite. */
export async function read(bench: Bench): Promise<void> {
  const cases = [
    ["10 columns, a stream", tenColumns(8192), "stream"],
    ["10 columns, a file", tenColumns(8192), "file"],
    ["10 columns, 20 % nulls", tenColumns(8192, { nulls: 20 }), "stream"],
    ["50 columns, 1,024 rows per batch", fiftyColumns(1024), "stream"],
    ["10 columns, 64 rows per batch", tenColumns(64), "stream"],
  ] as const;
  for (const [name, batch, format] of cases) {
    const ipc = tableToIPC(tableOf(...new Array<typeof batch>(BATCHES).fill(batch)), format);
    const rows = BATCHES * batch.numRows;
    await compare(bench, { suite: "read", case: name, unit: "rows" }, [
      by("jetrow", rows, () => readByJetrow(ipc)),
      by("apache-arrow", rows, () => readByApacheArrow(ipc)),
    ]);
  }
}

function by(name: string, rows: number, work: () => Promise<number> | number): Contender {
  return {
    name,
    async run() {
      const start = ownCpu();
      let count = 0;
      do {
        const found = await work();
        if (found !== rows) throw new Error(`${name} read ${found} of ${rows} rows`);
        count += found;
      } while (ownCpu() - start < AT_LEAST * 1e6);
      return { count, seconds: (ownCpu() - start) / 1e6 };
    },
  };
}

async function readByJetrow(ipc: Uint8Array): Promise<number> {
  let rows = 0;
  for await (const batch of readArrow(ipc)) rows += batch.numRows;
  return rows;
}

function readByApacheArrow(ipc: Uint8Array): number {
  let rows = 0;
  for (const batch of RecordBatchReader.from(ipc)) rows += batch.numRows;
  return rows;
}
