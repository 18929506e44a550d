/**
 * Node 20 cannot read TypeScript: the benches become one script in `.cache`, packages left outside.
 *
 * @module
 */

import { build } from "esbuild";
import { fileURLToPath } from "node:url";

/** Bundles the worker; the script's path. Two folders deep, as test support is: what it finds beside itself stays right. */
export async function bundleForNode(root: URL): Promise<string> {
  const outfile = fileURLToPath(new URL(".cache/bench/worker.mjs", root));
  await build({
    entryPoints: [fileURLToPath(new URL("bench/worker.ts", root))],
    outfile,
    bundle: true,
    format: "esm",
    platform: "node",
    target: "node20",
    packages: "external",
    logLevel: "warning",
  });
  return outfile;
}
