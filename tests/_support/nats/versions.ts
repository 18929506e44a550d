/**
 * Tests that require a server version.
 *
 * @module
 */

import { printSkip } from "../skip.ts";

/**
 * Whether a test must be skipped because the server is too old; prints it if so.
 *
 * ```ts
 * Deno.test({
 *   name: "publishAll() sends a batch as one when the server can",
 *   ignore: olderThan("2.14.0", server, "batches"),
 *   fn: async () => {},
 * });
 * ```
 *
 * @param minimum the oldest version that the test can use
 * @param server the server, or any object with its version
 * @param what what is skipped, for the message
 * @returns whether the server is older
 */
export function olderThan(minimum: string, server: { readonly version: string }, what: string): boolean {
  const older = compareVersions(server.version, minimum) < 0;
  if (older) printSkip(what, `needs nats-server ${minimum} or newer, this one is ${server.version}`);
  return older;
}

/**
 * Compares versions such as `2.9.10` and `2.15.0-dev` by their numbers.
 *
 * @param a a version
 * @param b another one
 * @returns below zero if `a` is older, zero if they are equal
 */
export function compareVersions(a: string, b: string): number {
  const [left, right] = [a, b].map((version) => version.split("-")[0]!.split(".").map(Number)) as [number[], number[]];
  for (let i = 0; i < 3; i++) {
    const difference = (left[i] ?? 0) - (right[i] ?? 0);
    if (difference !== 0) return difference;
  }
  return 0;
}
