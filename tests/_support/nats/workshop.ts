/**
 * What all ways of getting a nats-server need: running a program, a folder to work in, a safe last step.
 *
 * @module
 */

import { spawn } from "node:child_process";
import { chmodSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";

/** An environment. */
export type Env = Readonly<Record<string, string | undefined>>;

/** Takes a line for the reader. */
export type Say = (line: string) => void;

/** Where a nats-server is made. */
export interface Workshop {
  /** The cache folder. */
  readonly cache: string;
  /** The environment. */
  readonly env: Env;
  /** Told what is being done. */
  readonly say: Say;
  /** The version that is wanted. */
  readonly version: string;
}

/**
 * Works in a new folder inside the cache folder, on the same file system, and moves the program that comes out of it to
 * its place in one step: others see it whole or not at all.
 *
 * @param shop where
 * @param name the program's name in the cache folder
 * @param make makes the program in the folder given, and answers its path
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

/** How a program is run. */
export interface RunOptions {
  /** Milliseconds until it is killed. */
  readonly within: number;
  /** The environment. @default the process's */
  readonly env?: Env;
  /** The folder it runs in. */
  readonly cwd?: string;
  /** Told each line it writes to standard error. */
  readonly say?: Say;
}

/**
 * Runs a program to its end.
 *
 * @param command the program and its arguments
 * @param options how
 * @returns what it wrote to standard output and to standard error; an error with the end of what it wrote to standard error when it fails
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
