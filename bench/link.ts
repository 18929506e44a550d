/**
 * Small batches over a long link: does the window stay full?
 *
 * @module
 */

import { Publisher } from "../src/publish/publisher.ts";
import { openRun } from "../src/lifecycle/run.ts";
import { startTcpProxy } from "../tests/_support/nats/tcp_proxy.ts";
import { type Bench, compare, type Contender, withServer } from "./support/measure.ts";
import { pipeline } from "./support/pipeline.ts";
import { sizedBatches } from "./support/rows.ts";
import { Stage, STREAM, SUBJECT } from "./support/stage.ts";

const ROWS = 10;
const WINDOW = 1024;
const ONE_WAY = 10;

/** Runs the suite. */
export async function link(bench: Bench): Promise<void> {
  await using stage = await Stage.open();
  await using proxy = await startTcpProxy(stage.server.url);
  proxy.delay({ up: ONE_WAY, down: ONE_WAY });
  const [rows] = sizedBatches(ROWS, 256, false);
  const batch = { resource: "rows", rows: rows! };
  const calls = bench.quick ? 4000 : 10_000;
  const options = { stream: STREAM, subject: SUBJECT, maxInFlight: WINDOW };
  const connect = () => stage.connect({ url: proxy.url });
  const contender = (name: string, work: () => Promise<Full>): Contender => ({
    name,
    async run() {
      await stage.freshStream("memory");
      const full = await work();
      shares.set(name, full.share);
      return full.sample;
    },
  });
  const shares = new Map<string, number>();
  const measured = async (inFlight: () => number, work: () => Promise<unknown>): Promise<Full> => {
    const seen: number[] = [];
    const timer = setInterval(() => seen.push(inFlight()), 5);
    const sample = await withServer(stage.server.pid, calls * ROWS, work);
    clearInterval(timer);
    return { sample, share: seen.reduce((sum, one) => sum + one, 0) / seen.length / WINDOW };
  };
  const emit = bench.emit;
  const withShares: Bench = {
    ...bench,
    emit: (line) => emit({ ...line, extra: { "of the window in use": shares.get(line.name)! } }),
  };
  await compare(withShares, { suite: "link", case: "batches of 10 rows, 20 ms round trip", unit: "rows" }, [
    contender("publish, one at a time", async () => {
      await using publisher = await Publisher.open(connect, options);
      const some = 20;
      const full = await measured(() => publisher.stats().inFlight, async () => {
        for (let i = 0; i < some; i++) await publisher.publish(batch);
      });
      return { ...full, sample: { ...full.sample, count: some * ROWS } };
    }),
    contender("publish, 300 at a time", async () => {
      await using publisher = await Publisher.open(connect, options);
      return await measured(() => publisher.stats().inFlight, async () => {
        const publishing = pipeline(300);
        for (let i = 0; i < calls; i++) await publishing.next(() => publisher.publish(batch));
        await publishing.end();
      });
    }),
    contender("applyAll", async () => {
      await using run = await openRun(connect, options);
      const full = await measured(() => run.stats().inFlight, () => run.applyAll(new Array(calls).fill(batch)));
      await run.commit();
      return full;
    }),
  ]);
}

interface Full {
  readonly sample: Awaited<ReturnType<typeof withServer>>;
  /** Rows in flight on average, as a share of the window. */
  readonly share: number;
}
