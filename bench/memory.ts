/**
 * Memory over millions of rows, which must not grow with them.
 *
 * @module
 */

import process from "node:process";
import { openRun } from "../src/lifecycle/run.ts";
import { type Bench, withServer } from "./support/measure.ts";
import { sizedBatches } from "./support/rows.ts";
import { Stage, STREAM, SUBJECT } from "./support/stage.ts";

const MIB = 1 << 20;
const BATCH = 8192;
const MILLION = 1e6;

/** Runs the suite. */
export async function memory(bench: Bench): Promise<void> {
  await using stage = await Stage.open();
  const millions = bench.quick ? 2 : 10;
  // The server keeps the last rows only, since the client's memory is measured.
  await stage.freshStream("memory", [SUBJECT], { max_msgs: 100_000 });
  const [rows] = sizedBatches(BATCH, 256, false);
  await using run = await openRun(() => stage.connect({ url: stage.server.url }), { stream: STREAM, subject: SUBJECT });
  const idle = process.memoryUsage().rss / MIB;
  const at: number[] = [];
  let peak = 0;
  let done = 0;
  const note = (): void => {
    const rss = process.memoryUsage().rss / MIB;
    peak = Math.max(peak, rss);
    if (done >= (at.length + 1) * MILLION) at.push(rss);
  };
  const total = Math.ceil(millions * MILLION / BATCH) * BATCH;
  const batches = (function* () {
    for (let first = 0; first < total; first += BATCH) yield { resource: "rows", rows: rows! };
  })();
  const { seconds, clientCpu, serverCpu } = await withServer(stage.server.pid, total, () =>
    run.applyAll(batches, {
      onReceipt(receipt) {
        done += receipt.rows;
        note();
      },
    }));
  await run.commit();
  bench.emit({
    suite: "memory",
    case: `${millions} million rows of 256 B`,
    name: "jetrow",
    unit: "rows",
    perSecond: total / seconds,
    clientCpu: clientCpu === undefined ? undefined : clientCpu / total,
    serverCpu: serverCpu === undefined ? undefined : serverCpu / total,
    ratios: {},
    extra: {
      "MiB idle": idle,
      "MiB at 1 million": at[0]!,
      "MiB at the end": at.at(-1)!,
      "MiB at most": peak,
      "end to 1 million": at.at(-1)! / at[0]!,
    },
  });
}
