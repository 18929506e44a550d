/**
 * What is kept of a server's log when something went wrong.
 *
 * @module
 */

import { copyFileSync, existsSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { cacheFolder } from "./nats_binary.ts";

/**
 * The last lines of a log.
 *
 * @param path the log
 * @param lines how many
 * @returns the lines; empty when there is no log
 */
export function logTail(path: string, lines = 30): string {
  if (!existsSync(path)) return "";
  return readFileSync(path, "utf8").trimEnd().split("\n").slice(-lines).join("\n");
}

/**
 * Copies a log out of the folder that is about to go.
 *
 * @param path the log
 * @param name the server's name
 * @returns where it is now
 */
export function keepLog(path: string, name: string): string {
  const folder = join(cacheFolder(), "logs");
  mkdirSync(folder, { recursive: true });
  const kept = join(folder, `${name}.log`);
  if (existsSync(path)) copyFileSync(path, kept);
  return kept;
}
