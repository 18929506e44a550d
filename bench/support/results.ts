/** Results on disk, one file per suite and runtime. */

import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Line } from "./measure.ts";

/** The result of one suite on one runtime. */
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

/** Suites that run once, from the first runtime: they start the other runtimes themselves. */
export const once: ReadonlySet<string> = new Set(["workerd"]);

const folder = fileURLToPath(new URL("../../.cache/bench/", import.meta.url));

/** Stores a result, replacing the last one of its suite and runtime. */
export function save(result: Result): void {
  mkdirSync(folder, { recursive: true });
  if (once.has(result.suite)) {
    for (const runtime of RUNTIMES) {
      rmSync(pathOf(result.suite, runtime), { force: true });
    }
  }
  writeFileSync(pathOf(result.suite, result.runtime), JSON.stringify(result, null, 1));
}

/** The last results of a suite, of the runtimes that have one. */
export function load(suite: string): Result[] {
  return RUNTIMES.map((runtime) => pathOf(suite, runtime)).filter((path) => existsSync(path))
    .map((path) => JSON.parse(readFileSync(path, "utf8")));
}

function pathOf(suite: string, runtime: string): string {
  return `${folder}${suite}-${runtime}.json`;
}
