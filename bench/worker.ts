/**
 * Runs suites on this runtime and writes their lines as JSON, one per line, to standard output.
 *
 * Usage: worker SUITES [--quick] [--rounds N] [WORD ...]
 *        worker contender JOB
 *        worker route JOB
 *        worker millions JOB
 *
 * @module
 */

import process from "node:process";
import { contenders, type Job } from "./contenders.ts";
import { type MemoryJob, publishMillions } from "./memory.ts";
import { type RouteJob, routes } from "./routes.ts";
import { serve } from "./support/child.ts";
import type { Bench } from "./support/measure.ts";
import { runtimeName } from "./support/stage.ts";
import { suites } from "./suites.ts";

const [names = "", ...rest] = process.argv.slice(2);
/** What a process does once per line that it reads, after it has prepared its job. */
const jobs: Readonly<Record<string, (job: string) => Promise<() => Promise<unknown>>>> = {
  contender(text) {
    const job: Job = JSON.parse(text);
    return contenders[job.contender](job);
  },
  route(text) {
    const job: RouteJob = JSON.parse(text);
    return routes[job.way](job);
  },
  millions(text) {
    const job: MemoryJob = JSON.parse(text);
    return Promise.resolve(() => publishMillions(job));
  },
};
const job = jobs[names];
if (job !== undefined) {
  await serve(await job(rest[0]!));
  process.exit(0);
}
const quick = rest.includes("--quick");
const at = rest.indexOf("--rounds");
const bench: Bench = {
  quick,
  rounds: at >= 0 ? Number(rest[at + 1]) : quick ? 3 : 5,
  only: rest.filter((word, i) => !word.startsWith("--") && (at < 0 || i !== at + 1)),
  emit: (line) => process.stdout.write(`${JSON.stringify({ runtime: runtimeName(), ...line })}\n`),
  say: (text) => process.stderr.write(`${text}\n`),
};
for (const name of names.split(",")) await suites[name]!(bench);
process.exit(0);
