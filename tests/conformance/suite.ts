/**
 * What jetrow promises on every runtime: plain TypeScript without `node:` that receives the library as an argument.
 *
 * @module
 */

import { modes, reading } from "./modes_and_reading.ts";
import { abort, continues, cut, full } from "./faults.ts";
import { boundedRun, duplicates, everyType, session } from "./publishing.ts";
import { errors, golden, ids } from "./pure.ts";
import type { Connect, Env, Fixtures, Library, Stage } from "./context.ts";

/** How a check ended. */
export interface Result {
  readonly name: string;
  /** The error, with its stack; absent: passed. */
  readonly error?: string;
}

const CHECKS: Readonly<Record<string, (stage: Stage) => void | Promise<void>>> = {
  "encodeRows() writes every Arrow type's golden rows": golden,
  "messageId() and crc32c() return the vectors' values": ids,
  "errors are recognized by name and code": errors,
  "a bounded run publishes, counts and stores": boundedRun,
  "a run publishes every Arrow type": everyType,
  "rows with event ids are stored once": duplicates,
  "a session commits epoch after epoch": session,
  "atomic and fast delivery store the rows": modes,
  "a destination can be inspected and a receipt verified": reading,
  "a cut connection leaves rows unknown": cut,
  "publishAll() continues after a cut connection": continues,
  "an abort ends a call": abort,
  "a full stream rejects rows": full,
};

/** The checks' names, in order. */
export const NAMES: readonly string[] = Object.keys(CHECKS);

/**
 * Runs every check.
 *
 * @param library an entry point of the package
 * @param connect the entry point's `connect`
 * @param env names and addresses
 * @param help data, and control of the proxy
 * @returns one result per check
 */
export async function suite(
  library: Library,
  connect: Connect,
  env: Env,
  help: Pick<Stage, "fixtures" | "tell">,
): Promise<Result[]> {
  const stage: Stage = { library, connect, env, ...help };
  const results: Result[] = [];
  for (const [name, check] of Object.entries(CHECKS)) {
    let failure: { error?: string } = {};
    try {
      await check(stage);
    } catch (error) {
      failure = { error: (error as Error).stack ?? String(error) };
    }
    results.push({ name, ...failure });
  }
  return results;
}

/**
 * Runs the suite for a test in another process: requests all data from it, and reports the results to it.
 *
 * @param library an entry point of the package, with its `connect`
 * @param control the address of the test's control server
 * @returns the results
 */
export async function conform(library: Library & { readonly connect: Connect }, control: string): Promise<Result[]> {
  const at = (path: string) => new URL(path, control);
  const [env, fixtures] = await Promise.all([
    fetch(at("env")).then((answer) => answer.json() as Promise<Env>),
    fetch(at("fixtures")).then((answer) => answer.json() as Promise<Fixtures>),
  ]);
  const tell: Stage["tell"] = async (order) => {
    const answer = await fetch(at(order), { method: "POST" });
    if (!answer.ok) throw new Error(`${order}: ${await answer.text()}`);
    await answer.body?.cancel();
  };
  const results = await suite(library, library.connect, env, { fixtures, tell });
  await fetch(at("results"), { method: "POST", body: JSON.stringify(results) }).then((answer) => answer.text());
  return results;
}
