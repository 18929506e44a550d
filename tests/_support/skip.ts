/** Prints why a test, or a part of one, is skipped. */
export function printSkip(what: string, reason: string): void {
  // deno-lint-ignore no-console
  console.log(`skipped: ${what}: ${reason}`);
}
