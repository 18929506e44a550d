/**
 * Other runtimes than the one that runs the tests: found on the PATH, or taken from npm into the cache folder.
 *
 * @module
 */

import { existsSync, mkdirSync } from "node:fs";
import { delimiter, join } from "node:path";
import process from "node:process";
import { withLock } from "./lock.ts";
import { cacheFolder } from "./nats_binary.ts";
import { run } from "./nats_workshop.ts";
import { printSkip } from "./skip.ts";

/** npm's packages of runtimes: `node` installs the newest Node.js. */
const PACKAGES = { bun: "bun@1", node20: "node@20", node: "node@latest" } as const;

/** Bun's program; undefined, with the reason printed, where it is not to be had. */
export function bunProgram(): Promise<string | undefined> {
  return onPath("bun") ?? fromNpm("bun", "bun");
}

/** Node 20's program; undefined, with the reason printed, where it is not to be had. */
export function node20Program(): Promise<string | undefined> {
  return fromNpm("node20", "node");
}

/** The newest Node.js that npm has; undefined, with the reason printed, where it is not to be had. */
export function nodeProgram(): Promise<string | undefined> {
  return fromNpm("node", "node");
}

function onPath(name: string): Promise<string> | undefined {
  const found = (process.env.PATH ?? "").split(delimiter).map((folder) => join(folder, name)).find(existsSync);
  return found === undefined ? undefined : Promise.resolve(found);
}

async function fromNpm(kept: keyof typeof PACKAGES, program: string): Promise<string | undefined> {
  const folder = join(cacheFolder(), "runtimes", kept);
  const path = join(folder, "node_modules", ".bin", program);
  if (existsSync(path)) return path;
  mkdirSync(folder, { recursive: true });
  try {
    await withLock(join(folder, "lock"), async () => {
      if (existsSync(path)) return;
      process.stderr.write(`getting ${PACKAGES[kept]} from npm, which is kept for the next time\n`);
      await run(["npm", "install", "--prefix", folder, "--no-audit", "--no-fund", PACKAGES[kept]], { within: 300_000 });
    });
    if (!existsSync(path)) throw new Error(`npm installed no ${program} at ${path}`);
    return path;
  } catch (error) {
    printSkip(`what needs ${PACKAGES[kept]}`, error instanceof Error ? error.message : String(error));
    return undefined;
  }
}
