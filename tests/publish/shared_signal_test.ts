import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { bundle } from "../_support/bundle.ts";
import { run, startNatsServer } from "../_support/nats/mod.ts";
import { node22Program, nodeProgram } from "../_support/runtimes.ts";

const here = (file: string): string => fileURLToPath(new URL(file, import.meta.url));

Deno.test("thirty calls in flight with one signal cause no warning about too many listeners on Node", async () => {
  const program = bundle(here("_shared_signal.ts"), here("../../.cache/shared_signal.mjs"));
  await using server = await startNatsServer();
  // Node 22 warns about more than ten listeners on any signal, later versions only if configured to.
  for (const node of [await node22Program(), await nodeProgram()]) {
    if (node === undefined) continue;
    const { out } = await run([node, program, server.url], { within: 60_000 });
    assert.deepEqual(JSON.parse(out), { rows: 900, warnings: [] });
  }
});
