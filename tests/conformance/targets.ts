/** The runtimes on which the suite runs, and the commands that run it. */

import type { BuildOptions } from "esbuild";
import { fileURLToPath } from "node:url";
import { bundle } from "../_support/bundle.ts";
import { run } from "../_support/nats/mod.ts";
import {
  bunProgram,
  chromiumProgram,
  miniflareModule,
  node22Program,
  nodeProgram,
  playwrightModule,
} from "../_support/runtimes.ts";
import { printSkip } from "../_support/skip.ts";
import type { Transport } from "./control.ts";
import { TRANSPORT_DENO } from "./transport_deno.ts";

/** A runtime, an entry point of the package on it, and how the server is reached. */
export interface Target {
  readonly name: string;
  readonly transport: Transport;
  /** The runner to bundle; absent: the runtime reads TypeScript. */
  readonly bundle?: Runner;
  /** The command that runs the suite; `undefined` stands for a program that is missing. */
  command(control: string, bundle: string): Promise<readonly (string | undefined)[]>;
}

/** Whether the package, which only JSR has, can be loaded; prints the reason if not. */
async function transportDenoIsReached(): Promise<boolean> {
  try {
    await import(TRANSPORT_DENO);
    return true;
  } catch (error) {
    printSkip("the conformance suite over @nats-io/transport-deno", String(error).split("\n")[0]!);
    return false;
  }
}

type Runner = "run_node" | "run_workerd" | "run_browser";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

const deno = (control: string, entry: string) =>
  Promise.resolve([Deno.execPath(), "run", "-A", "--no-check", "--no-lock", here("run_deno.ts"), control, entry]);
const bun = async (control: string, entry: string) => [await bunProgram(), here("run_bun.ts"), control, entry];
const workerd = async (control: string, bundle: string, ...flags: string[]) => [
  await nodeProgram(),
  here("host_workerd.ts"),
  await miniflareModule(),
  bundle,
  control,
  ...flags,
];

/** All runtimes. */
export const TARGETS: readonly Target[] = [
  { name: "Deno, ./deno over TCP", transport: "tcp", command: (control) => deno(control, "deno") },
  {
    name: "Deno, a caller's connection by transport-deno",
    transport: "tcp",
    command: async (control) => await transportDenoIsReached() ? await deno(control, "transport-deno") : [undefined],
  },
  { name: "Deno, ./web", transport: "websocket", command: (control) => deno(control, "web") },
  { name: "Bun, ./bun over TCP", transport: "tcp", command: (control) => bun(control, "bun") },
  { name: "Bun, ./web", transport: "websocket", command: (control) => bun(control, "web") },
  {
    name: "Node 22, ./node over TCP",
    transport: "tcp",
    bundle: "run_node",
    command: async (control, bundle) => [await node22Program(), bundle, control, "node"],
  },
  {
    name: "newest Node, ./node over TCP",
    transport: "tcp",
    bundle: "run_node",
    command: async (control, bundle) => [await nodeProgram(), bundle, control, "node"],
  },
  {
    name: "newest Node, ./web",
    transport: "websocket",
    bundle: "run_node",
    command: async (control, bundle) => [await nodeProgram(), bundle, control, "web"],
  },
  {
    name: "workerd, ./web",
    transport: "websocket",
    bundle: "run_workerd",
    command: (control, bundle) => workerd(control, bundle),
  },
  {
    name: "workerd with nodejs_compat, ./web",
    transport: "websocket",
    bundle: "run_workerd",
    command: (control, bundle) => workerd(control, bundle, "nodejs_compat"),
  },
  {
    name: "Chromium, ./web",
    transport: "websocket",
    bundle: "run_browser",
    command: async (control) => [
      await nodeProgram(),
      here("host_browser.ts"),
      await playwrightModule(),
      chromiumProgram(),
      control,
    ],
  },
];

/** How the runners for workerd and browsers are bundled. */
const HOW: Readonly<Record<Runner, BuildOptions | undefined>> = {
  run_node: undefined,
  // Without nodejs_compat workerd has no `node:` modules, so any `node:` import fails the build.
  run_workerd: { platform: "browser", target: "es2022", conditions: ["workerd", "worker", "browser"] },
  run_browser: { platform: "browser", target: "es2022" },
};

/** Bundles the runners into the cache folder; returns the path of each. */
export function bundleRunners(): Readonly<Record<Runner, string>> {
  const paths: [Runner, string][] = [];
  for (const runner of Object.keys(HOW) as Runner[]) {
    const outfile = here(`../../.cache/conformance/${runner}.mjs`);
    paths.push([runner, bundle(here(`${runner}.ts`), outfile, HOW[runner])]);
  }
  return Object.fromEntries(paths) as Record<Runner, string>;
}

/** Runs a target's command to its end; returns false, with the reason printed, if a program is missing. */
export async function runTarget(command: readonly (string | undefined)[]): Promise<boolean> {
  const whole = command.filter((part) => part !== undefined);
  if (whole.length < command.length) return false;
  await run(whole, { within: 120_000 });
  return true;
}
