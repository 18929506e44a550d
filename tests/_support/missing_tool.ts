import process from "node:process";
import { printSkip } from "./skip.ts";

/** Prints what is skipped because a tool is missing. Throws if `JETROW_EVERYTHING` is set, with which nothing may be skipped. */
export function printMissing(what: string, reason: string): void {
  if (process.env.JETROW_EVERYTHING) throw new Error(`${what} cannot be left out here: ${reason}`);
  printSkip(what, reason);
}
