/** Results on disk, one file a suite and runtime. */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Line } from "./measure.ts";

/** What one suite came to on one runtime. */
export interface Result {
  readonly suite: string;
  readonly runtime: string;
  readonly version: string;
  readonly machine: string;
  /** When it ended. */
  readonly at: string;
  /** The machine's load before and after. */
  readonly load: readonly number[];
  readonly arguments: readonly string[];
  readonly lines: readonly Line[];
}

/** The runtimes that benches run on. */
export const RUNTIMES = ["deno", "bun", "node"] as const;

/** Suites that run once, from whichever runtime comes first: they start their runtimes themselves. */
export const once: ReadonlySet<string> = new Set(["workerd"]);

const folder = fileURLToPath(new URL("../../.cache/bench/", import.meta.url));

/** Keeps a result, in place of the last one of its suite and runtime. */
export function save(result: Result): void {
  mkdirSync(folder, { recursive: true });
  if (once.has(result.suite)) {
    for (const runtime of RUNTIMES) {
      rmSync(pathOf(result.suite, runtime), { force: true });
    }
  }
  writeFileSync(pathOf(result.suite, result.runtime), JSON.stringify(result, null, 1));
}

/** The last results of a suite, of those runtimes that have one. */
export function load(suite: string): Result[] {
  return RUNTIMES.map((runtime) => pathOf(suite, runtime)).filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, "utf8")));
}

function pathOf(suite: string, runtime: string): string {
  return `${folder}${suite}-${runtime}.json`;
}
