import process from "node:process";
import { printSkip } from "./skip.ts";

/** Prints what is left out because the machine lacks a tool. Throws if `JETROW_EVERYTHING` is set: nothing may be left out. */
export function printMissing(what: string, reason: string): void {
  if (process.env.JETROW_EVERYTHING) throw new Error(`${what} cannot be left out here: ${reason}`);
  printSkip(what, reason);
}
