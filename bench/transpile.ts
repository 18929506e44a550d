/**
 * Node 20 cannot read TypeScript: files are transpiled one by one into `.cache`, like those of a package. A bundle would
 * be slower, since bundlers turn module constants into variables.
 *
 * @module
 */

import { build } from "esbuild";
import { mkdirSync, readdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

const FOLDERS = ["src", "bench", "tests/_support"];

/** Transpiles what the benches import; returns the worker's path. */
export async function transpileForNode(root: URL): Promise<string> {
  const base = fileURLToPath(root);
  const { outputFiles } = await build({
    entryPoints: [join(base, "mod.ts"), ...FOLDERS.flatMap((folder) => typeScriptBelow(join(base, folder)))],
    outbase: base,
    outdir: join(base, ".cache/node"),
    format: "esm",
    target: "node20",
    write: false,
    logLevel: "warning",
  });
  for (const { path, text } of outputFiles) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text.replaceAll(/((?:from|import) ?\(?"\.[^"]*)\.ts"/g, '$1.js"'));
  }
  writeFileSync(join(base, ".cache/node/package.json"), '{"type":"module"}');
  return join(base, ".cache/node/bench/worker.js");
}

function typeScriptBelow(folder: string): string[] {
  return readdirSync(folder).flatMap((name) => {
    const path = join(folder, name);
    return statSync(path).isDirectory() ? typeScriptBelow(path) : name.endsWith(".ts") ? [path] : [];
  });
}
