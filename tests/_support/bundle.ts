/** Bundles, for runtimes that read no TypeScript. */

import { build, type BuildOptions, stop } from "esbuild";

/** For Node 22. Packages stay outside and are found in `node_modules`, as a user's are. */
const FOR_NODE: BuildOptions = { platform: "node", target: "node22", packages: "external" };

/**
 * Bundles a program.
 *
 * @param entry its path
 * @param outfile the bundle's path
 * @param options how; a program for Node if left out
 * @returns the bundle's path
 */
export async function bundle(entry: string, outfile: string, options: BuildOptions = FOR_NODE): Promise<string> {
  try {
    await build({ bundle: true, format: "esm", logLevel: "warning", entryPoints: [entry], outfile, ...options });
  } finally {
    await stop();
  }
  return outfile;
}
