/**
 * What is kept of a server's log when its folder is removed.
 *
 * A server that exited by itself leaves its log in the cache folder, and prints the path. With `JETROW_KEEP_LOGS=1`, as
 * `deno task test` sets it, all servers do, since a test that fails does not notify its server.
 *
 * @module
 */

import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { cacheFolder } from "./binary.ts";

/** How many logs are kept; the oldest are removed first. */
const KEPT = 100;

/**
 * The last lines of a log.
 *
 * @param path the log
 * @param lines the number of lines
 * @returns the lines; empty without a log
 */
export function logTail(path: string, lines = 30): string {
  if (!existsSync(path)) return "";
  return readFileSync(path, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
}

/** Whether all logs are kept. */
export function keepsAllLogs(): boolean {
  return process.env.JETROW_KEEP_LOGS === "1";
}

/**
 * Copies a log into the cache folder.
 *
 * @param path the log
 * @param name the server's name
 * @returns the path of the copy
 */
export function keepLog(path: string, name: string): string {
  const folder = join(cacheFolder(), "logs");
  mkdirSync(folder, { recursive: true });
  const kept = join(folder, `${new Date().toISOString().replaceAll(":", "")}-${name}.log`);
  if (existsSync(path)) copyFileSync(path, kept);
  for (const old of readdirSync(folder).sort().slice(0, -KEPT)) rmSync(join(folder, old), { force: true });
  return kept;
}
