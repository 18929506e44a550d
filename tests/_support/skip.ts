/** Says on the console why a test, or a part of one, was left out. */
export function printSkip(what: string, reason: string): void {
  // deno-lint-ignore no-console
  console.log(`skipped: ${what}: ${reason}`);
}
