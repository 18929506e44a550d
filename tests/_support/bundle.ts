/** Bundles programs for runtimes that do not read TypeScript. */

import type { BuildOptions } from "esbuild";
import process from "node:process";

// Without this a worker thread of the bundler outlives the test. The variable is read when the module is loaded.
process.env.ESBUILD_WORKER_THREADS = "0";
export const { buildSync } = await import("esbuild");

/** For Node 22. Packages are not bundled but found in `node_modules`, as a user's are. */
const FOR_NODE: BuildOptions = { platform: "node", target: "node22", packages: "external" };

/**
 * Bundles a program. The bundler's process has ended when this returns.
 *
 * @param entry its path
 * @param outfile the bundle's path
 * @param options esbuild's options; by default for a program on Node
 * @returns the bundle's path
 */
export function bundle(entry: string, outfile: string, options: BuildOptions = FOR_NODE): string {
  buildSync({ bundle: true, format: "esm", logLevel: "warning", entryPoints: [entry], outfile, ...options });
  return outfile;
}
