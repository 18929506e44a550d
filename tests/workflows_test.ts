import assert from "node:assert/strict";
import { readdir, readFile } from "node:fs/promises";

const FOLDER = new URL("../.github/workflows/", import.meta.url);
const names = await readdir(FOLDER);
const workflows = await Promise.all(names.map(async (name) => {
  return { name, text: await readFile(new URL(name, FOLDER), "utf8") };
}));

Deno.test("workflows pin every action by its commit, and name its version", () => {
  const uses = workflows.flatMap(({ text }) => [...text.matchAll(/uses: +(.*)/g)].map(([, action]) => action!));
  const loose = uses.filter((one) => !/^(?:\.\/\S+|[\w./-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+)$/.test(one));
  assert.ok(uses.length > 4);
  assert.deepEqual(loose, []);
});

Deno.test("workflows have read permission only, except the release's id-token", () => {
  const granted = workflows.flatMap(({ name, text }) => {
    assert.match(text, /^permissions:\n {2}contents: read\n\n/m, name);
    return [...text.matchAll(/^ +([\w-]+): (?:write|write-all)$/gm)].map(([, scope]) => `${name}: ${scope}`);
  });
  assert.deepEqual(granted, ["release.yml: id-token"]);
});

Deno.test("workflows put no expression into a script", () => {
  const scripts = workflows.flatMap(({ text }) => [...text.matchAll(/run: +(.*)/g)].map(([, script]) => script!));
  assert.deepEqual(scripts.filter((script) => script.includes("${{") || script === "|"), []);
});
