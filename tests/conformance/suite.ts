/**
 * What jetrow promises on every runtime: plain TypeScript that takes the library as an argument, and no `node:`.
 *
 * @module
 */

import { modes, reading } from "./beyond.ts";
import { abort, cut, full, goesOn } from "./faults.ts";
import { boundedRun, duplicates, everyType, session } from "./publishing.ts";
import { errors, golden, ids } from "./pure.ts";
import type { Connect, Env, Fixtures, Library, Stage } from "./stage.ts";

/** How a check ended. */
export interface Result {
  readonly name: string;
  /** The error, with its stack; absent: passed. */
  readonly error?: string;
}

const CHECKS: Readonly<Record<string, (stage: Stage) => void | Promise<void>>> = {
  "encodeRows() writes every Arrow type's golden rows": golden,
  "messageId() and crc32c() give the vectors' values": ids,
  "errors are told apart by name and code": errors,
  "a bounded run publishes, counts and stores": boundedRun,
  "a run publishes every Arrow type": everyType,
  "rows with event ids are stored once": duplicates,
  "a session goes from epoch to epoch": session,
  "atomic and fast delivery store the rows": modes,
  "a destination is inspected, a receipt verified": reading,
  "a cut connection leaves rows unknown": cut,
  "publishAll() goes on after a cut connection": goesOn,
  "an abort ends a call": abort,
  "a full stream rejects rows": full,
};

/** The checks' names, in order. */
export const NAMES: readonly string[] = Object.keys(CHECKS);

/**
 * Runs every check.
 *
 * @param library an entry of the package
 * @param connect the entry's `connect`
 * @param env where things are
 * @param help data, and a hold on the proxy
 * @returns a result a check
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
 * Runs the suite for a test that listens elsewhere: asks it for everything, and tells it the results.
 *
 * @param library an entry of the package, with its `connect`
 * @param control the test's address
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
