/**
 * Runs the benches on each runtime and prints tables; writes results of whole suites to
 * `.cache/bench/<suite>-<runtime>.json`. After a suite that fails the others still run.
 *
 * Usage: deno task bench [SUITE ...] [--quick] [--rounds N] [--runtimes deno,bun,node] [--only WORD]
 *
 * @module
 */

import { spawn } from "node:child_process";
import { cpus, loadavg, totalmem } from "node:os";
import process from "node:process";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { transpileForNode } from "./transpile.ts";
import { once, type Result, save } from "./support/results.ts";
import { type RuntimeLine, table } from "./support/table.ts";
import { versionOf } from "./support/version.ts";
import { suites } from "./suites.ts";

const root = new URL("../", import.meta.url);

async function main(): Promise<void> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: "boolean", default: false },
      rounds: { type: "string" },
      runtimes: { type: "string", default: "deno,bun,node" },
      only: { type: "string", multiple: true, default: [] },
    },
  });
  const rest = [
    ...(values.quick ? ["--quick"] : []),
    ...(values.rounds === undefined ? [] : ["--rounds", values.rounds]),
    ...values.only,
  ];
  const commands = await commandsOf(values.runtimes.split(","));
  for (const suite of positionals.length > 0 ? positionals : Object.keys(suites)) {
    if (suites[suite] === undefined) throw new Error(`no suite ${suite}: there are ${Object.keys(suites).join(", ")}`);
    await runSuite(suite, commands, rest, values.only.length === 0);
  }
  if (failures.length > 0) throw new Error(failures.join("; "));
}

/** The failed suites; later suites run nevertheless. */
const failures: string[] = [];

function print(text: string): void {
  process.stdout.write(`${text}\n`);
}

type Commands = ReadonlyMap<string, readonly string[]>;

async function commandsOf(names: readonly string[]): Promise<Commands> {
  const worker = fileURLToPath(new URL("bench/worker.ts", root));
  const commands = new Map<string, readonly string[]>();
  for (const name of names) {
    if (await versionOf(name) === undefined) print(`${name} skipped: it is not on the PATH`);
    else if (name === "deno") commands.set(name, ["deno", "run", "-A", "--no-lock", worker]);
    else if (name === "bun") commands.set(name, ["bun", worker]);
    else commands.set(name, ["node", await transpileForNode(root)]);
  }
  return commands;
}

async function runSuite(suite: string, commands: Commands, rest: readonly string[], whole: boolean): Promise<void> {
  for (const [i, runtime] of [...commands.keys()].entries()) {
    if (once.has(suite) && i > 0) {
      print(`\n${suite} skipped on ${runtime}: it runs once, and starts its runtimes itself`);
      continue;
    }
    try {
      const result = await measure(suite, runtime, commands.get(runtime)!, rest);
      // A partial result is printed, and does not replace that of the whole suite.
      if (whole && result.lines.length > 0) save(result);
    } catch (error) {
      failures.push(`${suite} on ${runtime}: ${(error as Error).message}`);
      print(`\n${failures.at(-1)}`);
    }
  }
}

async function measure(
  suite: string,
  runtime: string,
  [program, ...args]: readonly string[],
  rest: readonly string[],
): Promise<Result> {
  const lines: RuntimeLine[] = [];
  const loads = [loadavg()[0]!];
  const start = performance.now();
  await eachLine(program!, [...args, suite, ...rest], (line) => {
    if (line.startsWith("{")) lines.push(JSON.parse(line));
    else print(line); // for example, why something is skipped
  });
  loads.push(loadavg()[0]!);
  const load = loads.map((value) => Math.round(value * 10) / 10);
  const version = await versionOf(runtime) ?? "";
  const seconds = Math.round((performance.now() - start) / 1000);
  print(`\n${suite} on ${runtime} ${version}, ${seconds} s, load ${load.join(" before, ")} after\n`);
  print(lines.length === 0 ? "nothing was measured" : table(lines, { others: true }));
  const machine = `${cpus().length} x ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
  return { suite, runtime, version, machine, at: new Date().toISOString(), load, arguments: rest, lines };
}

function eachLine(program: string, args: readonly string[], take: (line: string) => void): Promise<void> {
  const child = spawn(program, [...args], { cwd: fileURLToPath(root), stdio: ["ignore", "pipe", "inherit"] });
  createInterface({ input: child.stdout! }).on("line", take);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`)));
  });
}

await main().catch((error) => {
  process.stderr.write(`${(error as Error).message}\n`);
  process.exit(1);
});
process.exit(0);
