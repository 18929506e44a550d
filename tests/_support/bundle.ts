/** Bundles, for runtimes that read no TypeScript. */

import type { BuildOptions } from "esbuild";
import process from "node:process";

// Otherwise a worker thread stays, which a test would leave behind. The variable is read when the module is loaded.
process.env.ESBUILD_WORKER_THREADS = "0";
export const { buildSync } = await import("esbuild");

/** For Node 22. Packages stay outside and are found in `node_modules`, as a user's are. */
const FOR_NODE: BuildOptions = { platform: "node", target: "node22", packages: "external" };

/**
 * Bundles a program. The bundler's process has ended then.
 *
 * @param entry its path
 * @param outfile the bundle's path
 * @param options how; a program for Node if left out
 * @returns the bundle's path
 */
export function bundle(entry: string, outfile: string, options: BuildOptions = FOR_NODE): string {
  buildSync({ bundle: true, format: "esm", logLevel: "warning", entryPoints: [entry], outfile, ...options });
  return outfile;
}
