/**
 * nats-server by installed package managers: built by Go, or unpacked from Debian's package.
 *
 * @module
 */

import { mkdirSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { makeInCache, run, type Workshop } from "./build_folder.ts";

const MINUTE = 60_000;

/**
 * Builds nats-server with Go.
 *
 * @param shop where it is built
 * @param name the program's name in the cache folder
 * @returns its path
 */
export async function fromGo(shop: Workshop, name: string): Promise<string> {
  const { out } = await run(["go", "version"], { within: 10_000, env: shop.env });
  shop.say(`building v${shop.version} with ${out.trim()}: a minute or two`);
  return await makeInCache(shop, name, async (folder) => {
    const env = { ...shop.env, GOBIN: folder, GOFLAGS: "", CGO_ENABLED: "0" };
    const module = `github.com/nats-io/nats-server/v2@v${shop.version}`;
    await run(["go", "install", "-trimpath", "-ldflags=-s -w", module], { within: 10 * MINUTE, env, say: shop.say });
    return join(folder, "nats-server");
  });
}

/**
 * Fetches Debian's package, possibly of an older version, and unpacks it. If apt has no package lists, fresh ones are
 * fetched into the working folder; the system's own lists are not changed.
 *
 * @param shop where it is unpacked
 * @param name the program's name in the cache folder
 * @returns its path
 */
export async function fromDebian(shop: Workshop, name: string): Promise<string> {
  await run(["dpkg", "--version"], { within: 10_000, env: shop.env });
  shop.say("fetching Debian's package (an older version; some tests will be skipped)");
  return await makeInCache(shop, name, async (folder) => {
    const options = { within: 5 * MINUTE, env: { ...shop.env, LC_ALL: "C" }, cwd: folder };
    try {
      await run(["apt-get", "download", "nats-server"], options);
    } catch {
      shop.say("apt-get has no list of packages; fetching one");
      await downloadWithOwnLists(folder, options);
    }
    const deb = readdirSync(folder).find((file) => file.endsWith(".deb"));
    if (deb === undefined) throw new Error("apt-get download left no package");
    await run(["dpkg", "-x", deb, "unpacked"], options);
    return join(folder, "unpacked/usr/sbin/nats-server");
  });
}

async function downloadWithOwnLists(folder: string, options: Parameters<typeof run>[1]): Promise<void> {
  for (const path of ["lists/partial", "archives/partial"]) mkdirSync(join(folder, "apt", path), { recursive: true });
  const own = [
    `Dir::State::lists=${folder}/apt/lists`,
    `Dir::Cache=${folder}/apt`,
    "Debug::NoLocking=1",
    "APT::Sandbox::User=",
    "Acquire::Retries=1",
    "Acquire::http::Timeout=10",
    "Acquire::https::Timeout=10",
  ].flatMap((option) => ["-o", option]);
  await run(["apt-get", "update", ...own], options);
  await run(["apt-get", "download", ...own, "nats-server"], options);
}
