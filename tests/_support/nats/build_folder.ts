/**
 * Shared by all ways of getting a nats-server: running a program, a working folder, an atomic last step.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** An environment. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Receives a line for the user. */
export type Say = (line: string) => void;

/** Where a nats-server is built or unpacked. */
export interface Workshop {
  /** The cache folder. */
  readonly cache: string;
  /** The environment. */
  readonly env: Env;
  /** Called with progress messages. */
  readonly say: Say;
  /** The version to get. */
  readonly version: string;
}

/**
 * Works in a new folder inside the cache folder, on the same file system, and moves the resulting program to its place
 * in one step: other processes see all of it or nothing.
 *
 * @param shop the cache folder
 * @param name the program's name in the cache folder
 * @param make makes the program in the given folder, and returns its path
 * @returns the program's path
 */
export async function makeInCache(
  shop: Workshop,
  name: string,
  make: (folder: string) => Promise<string>,
): Promise<string> {
  const folder = mkdtempSync(join(shop.cache, "making-"));
  try {
    const made = await make(folder);
    chmodSync(made, 0o755);
    await run([made, "--version"], { within: 10_000 });
    const place = join(shop.cache, name);
    renameSync(made, place);
    return place;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Options of a program's run. */
export interface RunOptions {
  /** Milliseconds until it is killed. */
  readonly within: number;
  /** The environment. @default the process's */
  readonly env?: Env;
  /** Its working folder. */
  readonly cwd?: string;
  /** Called with each line that it writes to standard error. */
  readonly say?: Say;
}

/**
 * Runs a program to its end.
 *
 * @param command the program and its arguments
 * @param options environment, folder, timeout
 * @returns its standard output and standard error; rejects with the end of its standard error if it fails
 */
export function run(
  command: readonly string[],
  options: RunOptions,
): Promise<{ readonly out: string; readonly err: string }> {
  const [program, ...args] = command as [string, ...string[]];
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, {
      stdio: ["ignore", "pipe", "pipe"],
      env: { ...(options.env ?? process.env) },
      ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    });
    let out = "";
    let err = "";
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      child.kill("SIGKILL");
    }, options.within);
    child.stdout.setEncoding("utf8").on("data", (text: string) => out += text);
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      err += text;
      if (options.say) { for (const line of text.split("\n")) if (line.trim() !== "") options.say(line.trimEnd()); }
    });
    child.on("error", (error) => {
      clearTimeout(timer);
      reject(new Error(`${program} cannot be run: ${error.message}`));
    });
    child.on("close", (code, signal) => {
      clearTimeout(timer);
      if (code === 0) return resolve({ out, err });
      const why = late ? `took longer than ${options.within / 1000} s` : `ended with ${code ?? signal}`;
      reject(new Error(`${program} ${why}${err === "" ? "" : `: ${err.trim().split("\n").slice(-3).join(" / ")}`}`));
    });
  });
}
