import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { startControl } from "./control.ts";
import { NAMES } from "./suite.ts";
import { bundleRunners, runTarget, TARGETS } from "./targets.ts";

const bundles = bundleRunners();

for (const [index, { name, transport, bundle, command }] of TARGETS.entries()) {
  Deno.test(`${name}: the conformance suite`, async (t) => {
    const path = bundle === undefined ? "" : bundles[bundle];
    const script = bundle === "run_browser" ? await readFile(path, "utf8") : undefined;
    await using control = await startControl(`T${index}`, transport, script);
    if (!await runTarget(await command(control.url, path))) return;
    const results = await control.results;
    assert.deepEqual(results.map((result) => result.name), NAMES);
    for (const { name, error } of results) await t.step(name, () => assert.equal(error, undefined, error));
  });
}
