import process from "node:process";

/** Says on the console why a test, or a part of one, was left out. */
export function printSkip(what: string, reason: string): void {
  // deno-lint-ignore no-console
  console.log(`skipped: ${what}: ${reason}`);
}

/** As `printSkip`, for what a machine lacks: where `JETROW_EVERYTHING` is set nothing may lack, and it throws. */
export function missing(what: string, reason: string): void {
  if (process.env.JETROW_EVERYTHING) throw new Error(`${what} cannot be left out here: ${reason}`);
  printSkip(what, reason);
}
