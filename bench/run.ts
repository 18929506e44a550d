/**
 * Runs the benches on each runtime and prints tables; results stay in `.cache/bench/<suite>-<runtime>.json`.
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
import type { Line } from "./support/measure.ts";
import { save } from "./support/results.ts";
import { table } from "./support/table.ts";
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
    await runSuite(suite, commands, rest);
  }
}

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

async function runSuite(suite: string, commands: Commands, rest: readonly string[]): Promise<void> {
  for (const [runtime, [program, ...args]] of commands) {
    const lines: Line[] = [];
    const before = loadavg()[0]!;
    await eachLine(program!, [...args, suite, ...rest], (line) => lines.push(JSON.parse(line)));
    const load = [before, loadavg()[0]!].map((value) => Math.round(value * 10) / 10);
    const version = await versionOf(runtime) ?? "";
    print(`\n${suite} on ${runtime} ${version}, load ${load.join(" before, ")} after\n\n${table(lines)}`);
    const machine = `${cpus().length} x ${cpus()[0]?.model}, ${Math.round(totalmem() / 2 ** 30)} GiB`;
    save({ suite, runtime, version, machine, at: new Date().toISOString(), load, arguments: rest, lines });
  }
}

function eachLine(program: string, args: readonly string[], take: (line: string) => void): Promise<void> {
  const child = spawn(program, [...args], { cwd: fileURLToPath(root), stdio: ["ignore", "pipe", "inherit"] });
  createInterface({ input: child.stdout! }).on("line", take);
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => code === 0 ? resolve() : reject(new Error(`${program} ended with ${code}`)));
  });
}

function versionOf(runtime: string): Promise<string | undefined> {
  return new Promise((resolve) => {
    const child = spawn(runtime, ["--version"], { stdio: ["ignore", "pipe", "ignore"] });
    let text = "";
    child.stdout?.on("data", (chunk) => text += chunk);
    child.once("error", () => resolve(undefined));
    child.once("close", () => resolve(/\d+\.\d+\.\d+/.exec(text)?.[0]));
  });
}

await main();
process.exit(0);
