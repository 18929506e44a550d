/**
 * A lock between processes.
 *
 * @module
 */

import { mkdirSync, renameSync, rmSync, statSync, utimesSync } from "node:fs";
import { until } from "./wait.ts";

/** How often the holder touches the lock; a lock that was not touched for `STALE` has no holder any more. */
const BEAT = 1_000;
const STALE = 15_000;

/**
 * Runs a function while no other process runs one under the same lock. A lock whose holder died is taken over.
 *
 * @param path the lock, a folder that is created and removed
 * @param work the function to run
 * @returns what it returns
 */
export async function withLock<T>(path: string, work: () => Promise<T>): Promise<T> {
  await until(`the lock ${path}`, () => tryLock(path), { within: 15 * 60_000, every: 100 });
  const beat = setInterval(() => touch(path), BEAT);
  try {
    return await work();
  } finally {
    clearInterval(beat);
    rmSync(path, { recursive: true, force: true });
  }
}

function tryLock(path: string): boolean {
  try {
    mkdirSync(path);
    return true;
  } catch (error) {
    if ((error as { code?: string }).code !== "EEXIST") throw error;
  }
  if (isStale(path)) takeAway(path);
  return false;
}

function isStale(path: string): boolean {
  const stat = statSync(path, { throwIfNoEntry: false });
  return stat !== undefined && Date.now() - stat.mtimeMs > STALE;
}

/** Of several processes that find it stale, only one can rename it. */
function takeAway(path: string): void {
  const aside = `${path}.${crypto.randomUUID()}`;
  try {
    renameSync(path, aside);
    rmSync(aside, { recursive: true, force: true });
  } catch {
    // Another process renamed it first.
  }
}

function touch(path: string): void {
  const now = new Date();
  try {
    utimesSync(path, now, now);
  } catch {
    // Removed as stale: this process was suspended for longer than STALE.
  }
}
