/**
 * From an Arrow file to the stream, including reading, encoding and receipts, compared with code without jetrow.
 *
 * @module
 */

import { jetstream } from "@nats-io/jetstream";
import { RecordBatchReader, tableFromIPC, tableToIPC } from "apache-arrow";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { openRun } from "../src/lifecycle/run.ts";
import { tableOf } from "../tests/_support/arrow/batches.ts";
import { type Bench, compare, type Sample, withServer } from "./support/measure.ts";
import { stringifyRow } from "./support/naive.ts";
import { pipeline } from "./support/pipeline.ts";
import { tenColumns } from "./support/rows.ts";
import { runtimeName, Stage, STREAM, SUBJECT } from "./support/stage.ts";

const BATCH = 8192;
const WINDOW = 1024;

/** Runs the suite. */
export async function file(bench: Bench): Promise<void> {
  await using stage = await Stage.open();
  const rows = bench.quick ? 5 * BATCH : 20 * BATCH;
  const path = writeFile(rows);
  const measured = async (work: () => Promise<unknown>): Promise<Sample> => {
    await stage.freshStream("file");
    return await withServer(stage.server.pid, rows, work);
  };
  const nc = await stage.connect({ url: stage.server.url });
  await compare(bench, { suite: "file", case: "10 columns, 311 B", unit: "rows" }, [
    { name: "jetrow", run: () => measured(() => byJetrow(stage, path)) },
    { name: "JSON.stringify and js.publish", run: () => measured(() => withoutJetrow(jetstream(nc), path)) },
  ]);
  await nc.close();
}

function writeFile(rows: number): string {
  const batches = Array.from({ length: rows / BATCH }, (_, i) => tenColumns(BATCH, { first: i * BATCH }));
  const folder = join(process.cwd(), ".cache/bench");
  mkdirSync(folder, { recursive: true });
  const path = join(folder, `rows-${runtimeName()}.arrow`);
  writeFileSync(path, tableToIPC(tableOf(...batches), "file"));
  return path;
}

async function byJetrow(stage: Stage, path: string): Promise<void> {
  const options = { stream: STREAM, subject: SUBJECT, maxInFlight: WINDOW };
  await using run = await openRun(() => stage.connect({ url: stage.server.url }), options);
  const reader = await RecordBatchReader.from(readFileSync(path));
  await run.applyAll((function* () {
    for (const rows of reader) yield { resource: "rows", rows };
  })());
  await run.commit();
}

async function withoutJetrow(js: ReturnType<typeof jetstream>, path: string): Promise<void> {
  const publishing = pipeline(WINDOW);
  for (const row of tableFromIPC(readFileSync(path))) {
    const body = stringifyRow(row);
    const room = publishing.next(() => js.publish(SUBJECT, body));
    // Only without room: awaiting each publish would make the client write one message at a time.
    if (room !== undefined) await room;
  }
  await publishing.end();
}
