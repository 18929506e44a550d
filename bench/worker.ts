/**
 * Runs suites on this runtime and writes their lines as JSON, one per line, to standard output.
 *
 * Usage: worker SUITES [--quick] [--rounds N] [WORD ...]
 *        worker contender JOB
 *        worker route JOB
 *
 * @module
 */

import process from "node:process";
import { contenders, type Job } from "./contenders.ts";
import { type RouteJob, routes } from "./routes.ts";
import { serve } from "./support/child.ts";
import type { Bench } from "./support/measure.ts";
import { runtimeName } from "./support/stage.ts";
import { suites } from "./suites.ts";

const [names = "", ...rest] = process.argv.slice(2);
if (names === "contender") {
  const job: Job = JSON.parse(rest[0]!);
  await serve(await contenders[job.contender](job));
  process.exit(0);
}
if (names === "route") {
  const job: RouteJob = JSON.parse(rest[0]!);
  await serve(await routes[job.way](job));
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
