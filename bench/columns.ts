/**
 * Rows with their own subject and header, compared with the same rows with one subject and one header, and with what
 * one writes without jetrow.
 *
 * @module
 */

import { type RouteJob, routes } from "./routes.ts";
import { Child } from "./support/child.ts";
import { type Bench, compare, type Contender, cpuOf, type Line, since } from "./support/measure.ts";
import { Stage } from "./support/stage.ts";

type Case = Pick<RouteJob, "publishMode" | "ids" | "values">;

const CASES: readonly Case[] = [
  { publishMode: "individual", ids: true, values: "strings" },
  { publishMode: "individual", ids: false, values: "strings" },
  { publishMode: "individual", ids: true, values: "integers" },
  { publishMode: "fast", ids: true, values: "strings" },
  { publishMode: "atomic", ids: true, values: "strings" },
];

const BYTES = 256;
const WINDOW = 1024;

const SUBJECTS = "bench.>";

/** Runs the suite. */
export async function columns(bench: Bench): Promise<void> {
  await using stage = await Stage.open();
  const names = Object.keys(routes) as (keyof typeof routes)[];
  for (const each of CASES) {
    const name = nameOf(each);
    if (bench.only.length > 0 && !bench.only.some((word) => name.includes(word))) continue;
    const job = { ...each, url: stage.server.url, bytes: BYTES, window: WINDOW };
    const children = await Promise.all(names.map((way) => {
      const rows = rowsOf(way, bench.quick);
      return Child.start(["route", JSON.stringify({ ...job, way, rows })]);
    }));
    const emit = (line: Line) => bench.emit({ ...line, extra: costs(line) });
    const ways = names.map((name, i) => contenderOf(stage, name, children[i]!));
    await compare({ ...bench, emit }, { suite: "columns", case: name, unit: "rows" }, ways);
    for (const child of children) child.end();
  }
}

/** Takes the slowest way for fewer rows, so that the others are measured soon after each other. */
function rowsOf(way: keyof typeof routes, quick: boolean): number {
  const rows = quick ? 40_000 : 120_000;
  return way === "JSON.stringify and js.publish" ? rows / 8 : rows;
}

function nameOf({ publishMode, ids, values }: Case): string {
  return `${publishMode}, ${values}${ids ? ", ids" : ""}`;
}

/** How much more CPU the rows take than those with one subject. */
function costs({ clientCpuRatios, serverCpuRatios }: Line): Record<string, number> {
  const [client, server] = [clientCpuRatios?.["fixed subject"], serverCpuRatios?.["fixed subject"]];
  return client === undefined || server === undefined
    ? {}
    : { "client CPU x fixed": client, "server CPU x fixed": server };
}

/** Each run publishes to an empty stream, and fails unless the stream has stored all rows. */
function contenderOf(stage: Stage, name: string, child: Child): Contender {
  const { pid } = stage.server;
  return {
    name,
    async run() {
      await stage.freshStream("file", [SUBJECTS], { allow_atomic: true, allow_batched: true });
      const before = cpuOf(pid);
      const sample = await child.run();
      const serverCpu = since(before, cpuOf(pid));
      const stored = await stage.stored();
      if (stored !== sample.count) throw new Error(`${name}: ${stored} of ${sample.count} rows are stored`);
      return { ...sample, serverCpu };
    },
  };
}
