/**
 * Memory over millions of rows, which must not grow with them.
 *
 * @module
 */

import type { RecordBatch } from "apache-arrow";
import process from "node:process";
import { openRun } from "../src/lifecycle/run.ts";
import { batchOf, intColumn } from "../tests/_support/arrow/batches.ts";
import { Child } from "./support/child.ts";
import { type Bench, cpuOf, ownCpu, type Sample, since } from "./support/measure.ts";
import { sizedBatches } from "./support/rows.ts";
import { runtimeConnect, Stage, STREAM, SUBJECT } from "./support/stage.ts";

const MIB = 1 << 20;
const BATCH = 8192;
const MILLION = 1e6;

/** What is published in a process of its own. */
export interface MemoryJob {
  readonly url: string;
  readonly rows: number;
  readonly options: { readonly subject: string };
}

/** A run's rate, CPU and memory. */
interface MemorySample extends Sample {
  readonly memory: Readonly<Record<string, number>>;
}

/** Options that give all rows one subject, or each row its own subject, header and id: its number in the run. */
const CASES = [
  { millions: 10, what: "", options: { subject: SUBJECT } },
  {
    millions: 3,
    what: ", each with its own subject, header and id",
    options: { subject: "bench.{row.n}", headers: { "X-Number": "{row.n}" }, eventIdColumn: "n" },
  },
];

/** Runs the suite. */
export async function memory(bench: Bench): Promise<void> {
  await using stage = await Stage.open();
  for (const { what, options, ...full } of CASES) {
    const millions = bench.quick ? 2 : full.millions;
    const rows = Math.ceil(millions * MILLION / BATCH) * BATCH;
    const name = `${millions} million rows of 256 B${what}`;
    if (bench.only.length > 0 && !bench.only.some((word) => name.includes(word))) continue;
    // The server keeps the last rows only, since the client's memory is measured.
    await stage.freshStream("memory", ["bench.>"], { max_msgs: 100_000, duplicate_window: 10e9 });
    const child = await Child.start(["millions", JSON.stringify({ url: stage.server.url, rows, options })]);
    const before = cpuOf(stage.server.pid);
    const { seconds, clientCpu, memory } = JSON.parse(await child.ask("run")) as MemorySample;
    const serverCpu = since(before, cpuOf(stage.server.pid));
    child.end();
    bench.emit({
      suite: "memory",
      case: name,
      name: "jetrow",
      unit: "rows",
      perSecond: rows / seconds,
      clientCpu: clientCpu! / rows,
      serverCpu: serverCpu === undefined ? undefined : serverCpu / rows,
      ratios: {},
      extra: memory,
    });
  }
}

/** Publishes the rows once, and notes the memory after each piece. */
export async function publishMillions({ url, rows, options }: MemoryJob): Promise<MemorySample> {
  const connect = await runtimeConnect();
  await using run = await openRun(() => connect({ url }), { stream: STREAM, ...options });
  const rss = (): number => process.memoryUsage().rss / MIB;
  const idle = rss();
  const at: number[] = [];
  let peak = 0;
  let done = 0;
  const cpu = ownCpu();
  const start = performance.now();
  await run.applyAll(numbered(rows), {
    onReceipt(receipt) {
      done += receipt.rows;
      peak = Math.max(peak, rss());
      if (done >= (at.length + 1) * MILLION) at.push(rss());
    },
  });
  const seconds = (performance.now() - start) / 1000;
  const clientCpu = ownCpu() - cpu;
  await run.commit();
  return {
    count: rows,
    seconds,
    clientCpu,
    memory: {
      "MiB idle": idle,
      "MiB at 1 million": at[0]!,
      "MiB at the end": at.at(-1)!,
      "MiB at most": peak,
      "end to 1 million": at.at(-1)! / at[0]!,
    },
  };
}

/** Batches of the same rows of 256 bytes, apart from a number that no other row has. */
function* numbered(total: number): Generator<{ readonly resource: string; readonly rows: RecordBatch }> {
  const [rows] = sizedBatches(BATCH, 256 - ',"n":10000000'.length, false);
  const same = rows!.schema.fields.map(({ name }, i) => ({ name, data: rows!.data.children[i]! }));
  for (let first = 10 * MILLION; first < 10 * MILLION + total; first += BATCH) {
    const numbers = Array.from({ length: BATCH }, (_, i) => first + i);
    yield { resource: "rows", rows: batchOf([...same, intColumn("n", numbers)], BATCH) };
  }
}
