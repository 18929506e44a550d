/**
 * Programs and packages that tests run next to their own runtime: found on the PATH, or installed from npm into the
 * cache folder. Large packages that few tests need are here and not among the project's imports.
 *
 * @module
 */

import { existsSync, mkdirSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import process from "node:process";
import { withLock } from "./lock.ts";
import { cacheFolder, run } from "./nats/mod.ts";
import { printMissing } from "./missing_tool.ts";

/** npm's packages: `node` installs the newest Node.js. */
const PACKAGES = {
  bun: "bun@1",
  node22: "node@22",
  node: "node@latest",
  miniflare: "miniflare@4",
  "playwright-core": "playwright-core@1",
  typescript: "typescript@7",
  "bun-types": "bun-types@1",
} as const;

/** Bun's program; undefined, with the reason printed, if it is not available. */
export function bunProgram(): Promise<string | undefined> {
  const found = onPath("bun");
  return found === undefined ? fromNpm("bun", ".bin/bun") : Promise.resolve(found);
}

/** Node 22's program; undefined, with the reason printed, if it is not available. */
export function node22Program(): Promise<string | undefined> {
  return fromNpm("node22", ".bin/node");
}

/** The newest Node.js that npm has; undefined, with the reason printed, if it is not available. */
export function nodeProgram(): Promise<string | undefined> {
  return fromNpm("node", ".bin/node");
}

/** TypeScript's compiler, run by Node; undefined, with the reason printed, if it is not available. */
export function tscProgram(): Promise<string | undefined> {
  return fromNpm("typescript", ".bin/tsc");
}

/** A folder with the types of Bun and of Node; undefined, with the reason printed, if they are not available. */
export async function bunTypes(): Promise<string | undefined> {
  const found = await fromNpm("bun-types", "bun-types/package.json");
  return found && dirname(dirname(found));
}

/**
 * The module of miniflare, which runs workers in workerd; undefined, with the reason printed, if it is not available.
 */
export function miniflareModule(): Promise<string | undefined> {
  return fromNpm("miniflare", "miniflare/dist/src/index.js");
}

/**
 * The module of playwright-core, which drives browsers; undefined, with the reason printed, if it is not available.
 */
export function playwrightModule(): Promise<string | undefined> {
  return fromNpm("playwright-core", "playwright-core/index.mjs");
}

/** A Chromium; undefined, with the reason printed, if none is installed. */
export function chromiumProgram(): string | undefined {
  const found = ["chromium", "chromium-browser", "google-chrome"].map(onPath).find((path) => path !== undefined);
  if (found === undefined) printMissing("tests in a browser", "chromium is not on the PATH");
  return found;
}

function onPath(name: string): string | undefined {
  return (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)).find(existsSync);
}

/** The path of a file of a package, which is installed into `node_modules` of a folder of its own. */
async function fromNpm(kept: keyof typeof PACKAGES, file: string): Promise<string | undefined> {
  const folder = join(cacheFolder(), "runtimes", kept);
  const path = join(folder, "node_modules", file);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  try {
    await withLock(join(folder, "lock"), async () => {
      if (existsSync(path)) return;
      process.stderr.write(`getting ${PACKAGES[kept]} from npm, which is kept for the next time\n`);
      await run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", PACKAGES[kept]], { within: 300_000 });
    });
    if (!existsSync(path)) throw new Error(`npm installed nothing at ${path}`);
    return path;
  } catch (error) {
    printMissing(`what needs ${PACKAGES[kept]}`, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
