import assert from "node:assert/strict";
import { mkdir, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { bunTypes, nodeProgram, tscProgram } from "../_support/runtimes.ts";

const root = (path: string): string => fileURLToPath(new URL(`../../${path}`, import.meta.url));
const [node, tsc, types] = [await nodeProgram(), await tscProgram(), await bunTypes()];

/** Examples that Deno cannot check, since its own types differ, each with the types of its runtime. */
const EXAMPLES = [
  { name: "bun", files: ["service.ts", "bun_pipeline/main.ts"], lib: ["esnext"], types: ["bun-types"] },
  { name: "node", files: ["node_pipeline.ts"], lib: ["esnext"], types: ["node"] },
  { name: "worker", files: ["edge_worker/worker.ts"], lib: ["esnext", "webworker"], types: [] },
  { name: "page", files: ["web_page/page.ts"], lib: ["esnext", "dom", "dom.iterable"], types: [] },
] as const;

for (const { name, files, lib, types: used } of EXAMPLES) {
  Deno.test({
    name: `tsc finds no type error in ${files.join(" and ")}`,
    ignore: node === undefined || tsc === undefined || types === undefined,
  }, async () => {
    await mkdir(root(".cache/examples"), { recursive: true });
    const project = root(`.cache/examples/tsconfig.${name}.json`);
    const config = {
      extends: root("examples/tsconfig.json"),
      compilerOptions: { lib, types: used, typeRoots: [types, `${types}/@types`] },
      files: files.map((file) => root(`examples/${file}`)),
    };
    await writeFile(project, JSON.stringify(config));
    const { code, stdout } = await new Deno.Command(node!, { args: [tsc!, "--project", project] }).output();
    assert.equal(code, 0, new TextDecoder().decode(stdout));
  });
}
