/**
 * The publish modes compared: the same rows, the same window, one server.
 *
 * @module
 */

import { openRun } from "../src/lifecycle/run.ts";
import type { PublisherOptions, PublishMode } from "../src/types/mod.ts";
import { type Bench, compare, type Contender, withServer } from "./support/measure.ts";
import { sizedBatches } from "./support/rows.ts";
import { Stage, STREAM, SUBJECT } from "./support/stage.ts";

/** What is published, and how. */
interface Case {
  readonly bytes: number;
  readonly window: number;
  readonly ids: boolean;
  readonly storage: "file" | "memory";
}

const USUAL: Case = { bytes: 256, window: 1024, ids: false, storage: "file" };
const CASES: readonly Case[] = [
  USUAL,
  { ...USUAL, ids: true },
  { ...USUAL, window: 4096 },
  { ...USUAL, window: 4096, ids: true },
  { ...USUAL, storage: "memory" },
  { ...USUAL, bytes: 1024 },
];
const MODES: readonly PublishMode[] = ["individual", "fast", "atomic"];

/** Runs the suite. */
export async function modes(bench: Bench): Promise<void> {
  await using stage = await Stage.open();
  for (const each of bench.quick && bench.only.length === 0 ? CASES.slice(0, 2) : CASES) {
    const { bytes, window, ids, storage } = each;
    const name = `${bytes} B, ${storage}, window ${window}${ids ? ", ids" : ""}`;
    const count = Math.min(bench.quick ? 50_000 : 150_000, Math.floor((40 << 20) / bytes));
    const contenders = MODES.map((mode) => published(stage, mode, each, count));
    contenders.push(published(stage, "fast", each, count, { standardHeaders: false }));
    await compare(bench, { suite: "modes", case: name, unit: "rows" }, contenders);
  }
}

function published(
  stage: Stage,
  publishMode: PublishMode,
  { bytes, window, ids, storage }: Case,
  count: number,
  others: Partial<PublisherOptions> = {},
): Contender {
  const limits = { maxInFlight: window, maxInFlightBytes: 64 << 20 };
  const options = { stream: STREAM, subject: SUBJECT, ...limits, publishMode, ...others };
  const batches = sizedBatches(count, bytes, ids, 8192).map((rows) => ({ resource: "rows", rows }));
  return {
    name: others.standardHeaders === false ? `${publishMode}, no headers` : publishMode,
    async run() {
      await stage.freshStream(storage, [SUBJECT], { allow_atomic: true, allow_batched: true });
      await using run = await openRun(() => stage.connect({ url: stage.server.url }), options);
      const sample = await withServer(stage.server.pid, count, () => run.applyAll(batches));
      await run.commit();
      const stored = await stage.stored();
      if (stored !== count) throw new Error(`${publishMode}: ${stored} of ${count} rows are stored`);
      return sample;
    },
  };
}
