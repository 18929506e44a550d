import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { build, stop } from "esbuild";
import { run, startNatsServer } from "../_support/nats/mod.ts";
import { node22Program, nodeProgram } from "../_support/runtimes.ts";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

/** Node 22 reads no TypeScript. Packages stay outside, found in node_modules as a user's are. */
async function bundled(): Promise<string> {
  const outfile = here("../../.cache/shared_signal.mjs");
  const entryPoints = [here("_shared_signal.ts")];
  try {
    await build({ bundle: true, format: "esm", platform: "node", packages: "external", entryPoints, outfile });
  } finally {
    await stop();
  }
  return outfile;
}

Deno.test("on Node, thirty calls in flight with one signal lead to no warning of too many listeners", async () => {
  const program = await bundled();
  await using server = await startNatsServer();
  // Node 22 warns of more than ten listeners on any signal, later ones only where they are told to.
  for (const node of [await node22Program(), await nodeProgram()]) {
    if (node === undefined) continue;
    const { out } = await run([node, program, server.url], { within: 60_000 });
    assert.deepEqual(JSON.parse(out), { rows: 900, warnings: [] });
  }
});
