/** Bundles examples as a user does. */

import type { BuildOptions } from "esbuild";
import { fileURLToPath } from "node:url";
import * as support from "../_support/bundle.ts";

const here = (path: string) => fileURLToPath(new URL(path, import.meta.url));

/**
 * Bundles an example into the cache folder. `examples/tsconfig.json` names the folder of the package's sources.
 *
 * @param example its path below `examples`
 * @param options esbuild's options
 * @returns the bundle's path
 */
export function bundle(example: string, options: BuildOptions): string {
  const outfile = here(`../../.cache/examples/${example.replace(/\.ts$/, ".mjs")}`);
  return support.bundle(here(`../../examples/${example}`), outfile, options);
}
