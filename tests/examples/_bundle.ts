/** Bundles of examples, as a user makes them. */

import { build, type BuildOptions, stop } from "esbuild";
import { fileURLToPath } from "node:url";

/**
 * Bundles an example into the cache folder. `examples/tsconfig.json` says where the package's sources are.
 *
 * @param example its path below `examples`
 * @param options how
 * @returns the bundle's path
 */
export async function bundle(example: string, options: BuildOptions): Promise<string> {
  const outfile = fileURLToPath(new URL(`../../.cache/examples/${example.replace(/\.ts$/, ".mjs")}`, import.meta.url));
  try {
    await build({
      bundle: true,
      format: "esm",
      logLevel: "warning",
      entryPoints: [fileURLToPath(new URL(`../../examples/${example}`, import.meta.url))],
      outfile,
      ...options,
    });
  } finally {
    await stop();
  }
  return outfile;
}
