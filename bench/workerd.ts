/**
 * Publishing over WebSocket from inside workerd, compared with processes of Deno, Bun and Node. Clocks stand still
 * while a worker computes, so all is measured from outside, including dialling.
 *
 * @module
 */

import { build, stop } from "esbuild";
import { dirname, join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { bunProgram, miniflareModule, nodeProgram } from "../tests/_support/runtimes.ts";
import { printSkip } from "../tests/_support/skip.ts";
import { ways, type WebSocketJob } from "./peers/websocket/work.ts";
import { Child } from "./support/child.ts";
import { type Bench, compare, type Contender, cpuOf, since } from "./support/measure.ts";
import { Stage, STREAM, SUBJECT } from "./support/stage.ts";
import { versionOf } from "./support/version.ts";
import { transpileForNode } from "./transpile.ts";

/** Benches run in the project's folder. */
const root = process.cwd();
const peers = join(root, "bench/peers/websocket");

/** A runtime, and the command that answers jobs on it; undefined, with the reason printed, if it is missing. */
interface Host {
  readonly name: string;
  command(): Promise<readonly string[] | undefined>;
}

const HOSTS: readonly Host[] = [
  { name: "workerd", command: workerdCommand },
  { name: "deno", command: denoCommand },
  { name: "bun", command: async () => commandOf(await bunProgram(), join(peers, "process.ts")) },
  { name: "newest node", command: nodeCommand },
];

/** Runs the suite. */
export async function workerd(bench: Bench): Promise<void> {
  await using stage = await Stage.open({ websocket: true });
  const rows = bench.quick ? 40_000 : 120_000;
  const job = { url: stage.server.wsUrl, stream: STREAM, subject: SUBJECT, rows, bytes: 256, window: 1024 };
  for (const { name, command } of HOSTS) {
    const started = await command();
    if (started === undefined) continue;
    const { child, ready } = await Child.spawn(started);
    const { pid } = JSON.parse(ready) as { pid?: number };
    const contenders = (Object.keys(ways) as (keyof typeof ways)[]).map((way) =>
      contenderOf(stage, child, pid, { ...job, way })
    );
    await compare(bench, { suite: "workerd", case: `256 B, WebSocket, ${name}`, unit: "rows" }, contenders);
    child.end();
  }
}

/** Each run goes to an empty stream, and counts only if all of it is stored. */
function contenderOf(stage: Stage, child: Child, pid: number | undefined, job: WebSocketJob): Contender {
  const cpu = () => [pid === undefined ? undefined : cpuOf(pid), cpuOf(stage.server.pid)];
  return {
    name: job.way,
    async run() {
      await stage.freshStream("file");
      const before = cpu();
      const start = performance.now();
      await child.ask(JSON.stringify(job));
      const seconds = (performance.now() - start) / 1000;
      const [clientCpu, serverCpu] = cpu().map((after, i) => since(before[i], after));
      const stored = await stage.stored();
      if (stored !== job.rows) throw new Error(`${job.way}: ${stored} of ${job.rows} rows are stored`);
      return { count: job.rows, seconds, clientCpu, serverCpu };
    },
  };
}

async function denoCommand(): Promise<readonly string[] | undefined> {
  if (await versionOf("deno") !== undefined) return ["deno", "run", "-A", "--no-lock", join(peers, "process.ts")];
  printSkip("the bench on Deno", "deno is not on the PATH");
  return undefined;
}

async function workerdCommand(): Promise<readonly string[] | undefined> {
  const [node, miniflare] = [await nodeProgram(), await miniflareModule()];
  if (miniflare === undefined) return undefined;
  const outfile = join(root, ".cache/bench/worker.mjs");
  // As a worker is deployed: one file, without Node modules.
  await build({
    entryPoints: [join(peers, "worker.ts")],
    outfile,
    bundle: true,
    minify: true,
    format: "esm",
    platform: "browser",
    target: "es2022",
    conditions: ["workerd", "worker", "browser"],
    logLevel: "warning",
  });
  await stop();
  return commandOf(node, join(peers, "host.ts"), miniflare, outfile);
}

async function nodeCommand(): Promise<readonly string[] | undefined> {
  const node = await nodeProgram();
  const worker = await transpileForNode(pathToFileURL(`${root}/`));
  await stop();
  return commandOf(node, join(dirname(worker), "peers/websocket/process.js"));
}

function commandOf(program: string | undefined, ...args: readonly string[]): readonly string[] | undefined {
  return program === undefined ? undefined : [program, ...args];
}
