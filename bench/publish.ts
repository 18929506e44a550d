/**
 * Publishing: rows of Arrow batches, encoded, sent and acknowledged, compared with ways without jetrow.
 *
 * @module
 */

import process from "node:process";
import { contenders, type Job } from "./contenders.ts";
import { Child } from "./support/child.ts";
import { buildGoPeer } from "./support/go_peer.ts";
import { type Bench, compare, type Contender, cpuOf, since } from "./support/measure.ts";
import { Stage } from "./support/stage.ts";

/** What is published, and how. */
interface Case {
  readonly bytes: number;
  readonly storage: "file" | "memory";
  readonly window: number;
  readonly ids: boolean;
}

const USUAL: Case = { bytes: 256, storage: "file", window: 1024, ids: false };
const MAIN: readonly Case[] = [USUAL, { ...USUAL, ids: true }];
const OTHERS: readonly Case[] = [
  { ...USUAL, storage: "memory" },
  { ...USUAL, storage: "memory", ids: true },
  { ...USUAL, bytes: 64 },
  { ...USUAL, bytes: 1024 },
  { ...USUAL, bytes: 16_384 },
  { ...USUAL, window: 1 },
  { ...USUAL, window: 64 },
  { ...USUAL, window: 16_384 },
  { ...USUAL, window: 16_384, ids: true },
];
/** The maximum number of bytes that one measurement publishes: many windows even of large rows. */
const VOLUME = 192 << 20;

/** The case to which all others are compared, with and without ids. */
export function publish(bench: Bench): Promise<void> {
  return compareAll(bench, "publish", MAIN);
}

/** Other sizes, storages and windows. */
export function cases(bench: Bench): Promise<void> {
  return compareAll(bench, "cases", OTHERS);
}

async function compareAll(bench: Bench, suite: string, all: readonly Case[]): Promise<void> {
  await using stage = await Stage.open();
  const hasGo = await buildGoPeer(process.cwd(), bench.say) !== undefined;
  const names = (Object.keys(contenders) as (keyof typeof contenders)[]).filter((name) => hasGo || name !== "nats.go");
  for (const each of all) {
    const name = nameOf(each);
    if (bench.only.length > 0 && !bench.only.some((word) => name.includes(word))) continue;
    const job = { ...each, url: stage.server.url, rows: rowsOf(each, bench.quick) };
    const children = await Promise.all(names.map((contender) => startChild({ ...job, contender })));
    const ways = names.map((name, i) => contenderOf(stage, each, name, children[i]!));
    await compare(bench, { suite, case: name, unit: "rows" }, ways);
    for (const child of children) child.end();
  }
}

function nameOf({ bytes, storage, window, ids }: Case): string {
  return `${bytes} B, ${storage}, window ${window}${ids ? ", ids" : ""}`;
}

function rowsOf({ bytes, window }: Case, quick: boolean): number {
  const most = window === 1 ? 4000 : Math.min(160_000, Math.floor(VOLUME / bytes));
  return quick ? Math.ceil(most / 2) : most;
}

function startChild(job: Job): Promise<Child> {
  return Child.start(["contender", JSON.stringify(job)]);
}

/** Each run goes to an empty stream, and counts only if all of it is stored. */
function contenderOf(stage: Stage, { storage }: Case, name: string, child: Child): Contender {
  const { pid } = stage.server;
  return {
    name,
    async run() {
      await stage.freshStream(storage);
      const before = cpuOf(pid);
      const sample = await child.run();
      const serverCpu = since(before, cpuOf(pid));
      const stored = await stage.stored();
      if (stored !== sample.count) throw new Error(`${name}: ${stored} of ${sample.count} rows are stored`);
      return { ...sample, serverCpu };
    },
  };
}
