/**
 * How cost grows with rows, columns, resources and publishers.
 *
 * @module
 */

import type { RowBatch } from "../src/types/mod.ts";
import { openRun } from "../src/lifecycle/run.ts";
import { added, type Bench, compare, type Contender, type Sample, withServer } from "./support/measure.ts";
import { sizedBatches, someColumns } from "./support/rows.ts";
import { Stage, STREAM, SUBJECT } from "./support/stage.ts";

const BATCH = 8192;
const EACH_SUBJECT = "bench.{resource}";

/** Runs the suite. */
export async function curves(bench: Bench): Promise<void> {
  await using stage = await Stage.open();
  const { quick } = bench;
  const [usual] = sizedBatches(BATCH, 256, false);
  const [small] = sizedBatches(100, 256, false);
  const repeated = function* (rows: number): Generator<RowBatch> {
    for (let left = rows; left > 0; left -= BATCH) {
      yield { resource: "rows", rows: left < BATCH ? usual!.slice(0, left) : usual! };
    }
  };
  // The longest run is a minute by itself.
  const few = { ...bench, rounds: Math.min(bench.rounds, 3) };
  await compare(few, { suite: "curves", case: "rows", unit: "rows" }, [
    ...(quick ? [1e4, 1e5, 1e6] : [1e4, 1e5, 1e6, 1e7]).map((rows) => ({
      ...repeatedly(Math.ceil(2e5 / rows), point(stage, `${rows}`, rows, () => repeated(rows))),
      isWarm: rows > 1e5,
    })),
  ]);
  const cells = quick ? 400_000 : 2_000_000;
  await compare(bench, { suite: "curves", case: "columns", unit: "cells" }, [
    ...[1, 2, 10, 50, 100, 200].map((columns) => {
      const rows = Math.min(BATCH, Math.ceil(cells / columns));
      const batch = { resource: "rows", rows: someColumns(rows, columns) };
      const times = Math.ceil(Math.min(cells, 100_000 * columns) / columns / rows);
      return point(stage, `${columns}`, rows * times * columns, () => new Array<RowBatch>(times).fill(batch));
    }),
  ]);
  const calls = quick ? 1000 : 3000;
  await compare(bench, { suite: "curves", case: "resources, 100 rows a batch", unit: "rows" }, [
    ...[1, 10, 100, 1000].map((resources) =>
      point(stage, `${resources}`, calls * 100, function* (): Generator<RowBatch> {
        for (let i = 0; i < calls; i++) yield { resource: `r${i % resources}`, rows: small! };
      }, EACH_SUBJECT)
    ),
  ]);
  const share = (quick ? 8 : 16) * BATCH;
  await compare(bench, { suite: "curves", case: "publishers", unit: "rows" }, [
    ...[1, 2, 4, 8].map((publishers) => together(stage, publishers, share, () => repeated(share / publishers))),
  ]);
}

/** One run of some batches; `count` is the number of units in them. */
function point(
  stage: Stage,
  name: string,
  count: number,
  batches: () => Iterable<RowBatch>,
  subject = SUBJECT,
): Contender {
  return {
    name,
    async run() {
      await freshStream(stage);
      await using run = await openRun(() => stage.connect({ url: stage.server.url }), { stream: STREAM, subject });
      return await withServer(stage.server.pid, count, async () => {
        await run.applyAll(batches());
        await run.commit();
      });
    },
  };
}

/** Several runs as one measurement, since a short one is lost in noise. */
function repeatedly(times: number, { name, run }: Contender): Contender {
  return {
    name,
    async run() {
      const samples: Sample[] = [];
      for (let i = 0; i < times; i++) samples.push(await run());
      return added(samples);
    },
  };
}

function together(stage: Stage, publishers: number, rows: number, batches: () => Iterable<RowBatch>): Contender {
  return {
    name: `${publishers}`,
    async run() {
      await freshStream(stage);
      const options = { stream: STREAM, subject: SUBJECT };
      const open = () => openRun(() => stage.connect({ url: stage.server.url }), options);
      const runs = await Promise.all(Array.from({ length: publishers }, open));
      const sample = await withServer(stage.server.pid, rows, () =>
        Promise.all(runs.map(async (run) => {
          await run.applyAll(batches());
          await run.commit();
        })));
      return sample;
    },
  };
}

/** The stream keeps the last rows only, so that a long run does not fill the memory. */
async function freshStream(stage: Stage): Promise<void> {
  await stage.freshStream("memory", ["bench.*"], { max_msgs: 200_000 });
}
