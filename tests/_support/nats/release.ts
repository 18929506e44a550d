/**
 * The official release of nats-server: fetched, its checksum verified, unpacked.
 *
 * @module
 */

import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { makeInCache, run, type Workshop } from "./build_folder.ts";

/** `JETROW_NATS_RELEASES` names another address with the same folders and files. */
const RELEASES = "https://github.com/nats-io/nats-server/releases/download";

/** How long the other side may be silent: before it answers, and between two parts of an answer. */
const ANSWER_WITHIN = 5_000;
const SILENCE = 15_000;

const ARCHITECTURES: Readonly<Record<string, string>> = { x64: "amd64", arm64: "arm64", arm: "arm7", ia32: "386" };

/**
 * Fetches the release for this platform.
 *
 * @param shop where it is unpacked
 * @param name the program's name in the cache folder
 * @returns its path
 */
export async function fromRelease(shop: Workshop, name: string): Promise<string> {
  const base = `${shop.env.JETROW_NATS_RELEASES || RELEASES}/v${shop.version}`;
  const release = `nats-server-v${shop.version}-${platform()}`;
  const archive = `${release}.tar.gz`;
  shop.say(`fetching ${base}/${archive}`);
  const expected = checksumOf(archive, await (await fetchWithin(`${base}/SHA256SUMS`)).text());
  return await makeInCache(shop, name, async (folder) => {
    const path = join(folder, archive);
    const actual = await download(`${base}/${archive}`, path);
    if (actual !== expected) throw new Error(`${archive} has the SHA-256 ${actual}, SHA256SUMS says ${expected}`);
    await run(["tar", "-xzf", path, "-C", folder, `${release}/nats-server`], { within: 60_000 });
    return join(folder, release, "nats-server");
  });
}

/** The platform's name in the names of release archives, such as `linux-amd64`. */
export function platform(): string {
  const architecture = ARCHITECTURES[process.arch];
  if (architecture === undefined || (process.platform !== "linux" && process.platform !== "darwin")) {
    throw new Error(`there is none for ${process.platform} on ${process.arch}`);
  }
  return `${process.platform}-${architecture}`;
}

function checksumOf(file: string, sums: string): string {
  const line = sums.split("\n").map((line) => line.trim().split(/\s+\*?/)).find(([, name]) => name === file);
  if (line === undefined) throw new Error(`SHA256SUMS has no line for ${file}`);
  return line[0]!.toLowerCase();
}

async function fetchWithin(url: string): Promise<Response> {
  const controller = new AbortController();
  const timer = setTimeout(
    () => controller.abort(new Error(`no answer within ${ANSWER_WITHIN / 1000} s`)),
    ANSWER_WITHIN,
  );
  try {
    const response = await fetch(url, { signal: controller.signal });
    if (response.ok) return response;
    await response.body?.cancel();
    throw new Error(`answered ${response.status} ${response.statusText}`);
  } catch (error) {
    throw new Error(`${url}: ${reasonOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

/** The innermost cause has the reason: the error of `fetch` itself says only that it failed. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? reasonOf(error.cause) : error.message;
}

async function download(url: string, path: string): Promise<string> {
  const response = await fetchWithin(url);
  if (response.body === null) throw new Error(`${url} has no body`);
  const hash = createHash("sha256");
  const body = Readable.fromWeb(response.body as Parameters<typeof Readable.fromWeb>[0]);
  const silence = () => body.destroy(new Error(`nothing came for ${SILENCE / 1000} s`));
  let timer = setTimeout(silence, SILENCE);
  const watch = new Transform({
    transform(chunk: Uint8Array, _encoding, done) {
      clearTimeout(timer);
      timer = setTimeout(silence, SILENCE);
      hash.update(chunk);
      done(null, chunk);
    },
  });
  try {
    await pipeline(body, watch, createWriteStream(path));
  } catch (error) {
    throw new Error(`${url} was cut: ${reasonOf(error)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
  return hash.digest("hex");
}
