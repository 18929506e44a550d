/**
 * Finds a nats-server, or gets one.
 *
 * @module
 */

import { accessSync, constants, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { withLock } from "../lock.ts";
import { type Env, run, type Say, type Workshop } from "./build_folder.ts";
import { fromDebian, fromGo } from "./packages.ts";
import { fromRelease } from "./release.ts";

/** The release that is fetched or built if no nats-server is installed. */
const NATS_VERSION = "2.15.2";

/** Options of the search for a nats-server. */
export interface BinaryOptions {
  /** The environment. @default the process's */
  readonly env?: Env;
  /** Called with progress messages. @default writes a line to standard error */
  readonly say?: Say;
}

/** A way to find a nats-server; it returns the path, or throws the reason why there is none. */
type Way = readonly [name: string, find: () => Promise<string>];

let found: Promise<string> | undefined;

/**
 * The path of a working nats-server: `NATS_SERVER`, `nats-server` on the `PATH`, the cache folder, the official
 * release, `go install`, Debian's package; the first that works. A fetched server stays in the cache folder, and
 * nothing is installed. The search runs once per process.
 *
 * @returns the path; rejects with an error that lists all attempts if none works
 */
export function natsServerBinary(): Promise<string> {
  return found ??= findBinary();
}

/**
 * The version of that nats-server, for tests that require a version.
 *
 * @returns the version, such as `2.15.2`, in the form that `olderThan` takes
 */
export async function natsServerVersion(): Promise<{ readonly version: string }> {
  const { out } = await run([await natsServerBinary(), "--version"], { within: 10_000 });
  return { version: out.trim().replace(/^.*v/, "") };
}

/** As `natsServerBinary`, but with options, and searching each time. */
export async function findBinary(options: BinaryOptions = {}): Promise<string> {
  const env = options.env ?? process.env;
  const say = options.say ?? ((line) => process.stderr.write(`nats-server: ${line}\n`));
  const cache = cacheFolder(env);
  const tried: string[] = [];
  const kept: Way = [
    `the cache folder ${cache}`,
    () => firstThatRuns(CACHED.map((name) => join(cache, name)), "none in it"),
  ];
  const near = await firstOf(
    [["NATS_SERVER", () => named(env)], ["the PATH", () => onPath(env)], kept],
    tried,
    () => {},
  );
  if (near !== undefined) return near;

  say(`none at hand (NATS_SERVER, PATH, ${cache}); getting one, which is kept for the next time`);
  mkdirSync(cache, { recursive: true });
  return await withLock(join(cache, "nats-server.lock"), async () => {
    const far = await firstOf([kept], [], () => {}) ??
      await firstOf(ways({ cache, env, say, version: NATS_VERSION }), tried, say);
    if (far !== undefined) return far;
    throw new Error(`no nats-server could be found or got. Tried:\n${tried.map((line) => `  - ${line}`).join("\n")}`);
  });
}

/** The folder for what takes long to get: `JETROW_CACHE`, otherwise `.cache` in the project's folder. */
export function cacheFolder(env: Env = process.env): string {
  return env.JETROW_CACHE || fileURLToPath(new URL("../../../.cache", import.meta.url));
}

const EXACT = `nats-server-${NATS_VERSION}`;
const DEBIAN = "nats-server-debian";
const CACHED = [EXACT, DEBIAN];

function ways(shop: Workshop): Way[] {
  return [
    ["the official release", () => fromRelease(shop, EXACT)],
    ["go install", () => fromGo(shop, EXACT)],
    ["Debian's package", () => fromDebian(shop, DEBIAN)],
  ];
}

async function firstOf(ways: readonly Way[], tried: string[], say: Say): Promise<string | undefined> {
  for (const [name, find] of ways) {
    try {
      const path = await find();
      say(`from ${name}: ${path}`);
      return path;
    } catch (error) {
      const line = `${name}: ${(error as Error).message}`;
      tried.push(line);
      say(line);
    }
  }
}

async function named(env: Env): Promise<string> {
  if (!env.NATS_SERVER) throw new Error("not set");
  return await firstThatRuns([env.NATS_SERVER], `${env.NATS_SERVER} is not a program`);
}

async function onPath(env: Env): Promise<string> {
  const folders = (env.PATH ?? "").split(delimiter).filter((folder) => folder !== "");
  return await firstThatRuns(folders.map((folder) => join(folder, "nats-server")), "no nats-server on it");
}

async function firstThatRuns(paths: readonly string[], nothing: string): Promise<string> {
  const there = paths.filter(isExecutable);
  if (there.length === 0) throw new Error(nothing);
  const reasons: string[] = [];
  for (const path of there) {
    try {
      const { out } = await run([path, "--version"], { within: 10_000 });
      if (out.includes("nats-server")) return path;
      reasons.push(`${path} is not a nats-server: ${out.slice(0, 80)}`);
    } catch (error) {
      reasons.push((error as Error).message);
    }
  }
  throw new Error(reasons.join("; "));
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

if (import.meta.main) process.stdout.write(`${await natsServerBinary()}\n`);
