import assert from "node:assert/strict";

Deno.test("the module graph of ./subject contains neither NATS nor Arrow", async () => {
  const root = new URL("../../src/subject/mod.ts", import.meta.url).href;
  const command = new Deno.Command(Deno.execPath(), { args: ["info", "--json", "--no-lock", root] });
  const { stdout, success } = await command.output();
  assert.ok(success);
  const { modules } = JSON.parse(new TextDecoder().decode(stdout)) as { modules: { specifier: string }[] };
  const specifiers = modules.map(({ specifier }) => specifier);
  assert.ok(specifiers.includes(root));
  const own = /^file:.*\/src\/(subject\/\w+|errors\/\w+|util\/describe)\.ts$/;
  for (const specifier of specifiers) assert.match(specifier, own);
});

Deno.test("./subject exports the public names", async () => {
  assert.deepEqual(Object.keys(await import("../../src/subject/mod.ts")).sort(), [
    "assertStreamName",
    "assertSubject",
    "captureFilter",
    "expandTemplate",
    "hasPlaceholder",
    "intersectSubjects",
    "matchesSubject",
    "overlapsSubject",
  ]);
});
