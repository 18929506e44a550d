import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { bundle } from "../_support/bundle.ts";
import { run, startNatsServer } from "../_support/nats/mod.ts";
import { node22Program, nodeProgram } from "../_support/runtimes.ts";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

Deno.test("on Node, thirty calls in flight with one signal lead to no warning of too many listeners", async () => {
  const program = bundle(here("_shared_signal.ts"), here("../../.cache/shared_signal.mjs"));
  await using server = await startNatsServer();
  // Node 22 warns of more than ten listeners on any signal, later ones only where they are told to.
  for (const node of [await node22Program(), await nodeProgram()]) {
    if (node === undefined) continue;
    const { out } = await run([node, program, server.url], { within: 60_000 });
    assert.deepEqual(JSON.parse(out), { rows: 900, warnings: [] });
  }
});
