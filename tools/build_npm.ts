/**
 * Makes the npm package: `deno task build:npm [folder]` writes a tarball to `dist`, or to the folder.
 *
 * `deno pack` makes JavaScript and declarations of the sources. The dependencies are set here: what only the command loads
 * is an optional peer. The command itself is one bundled file: with its 300 modules and the client's it started in 0.31 s
 * on Node, bundled it starts in 0.16 s.
 *
 * @module
 */

import { join } from "node:path";
import { fileURLToPath } from "node:url";
import config from "../deno.json" with { type: "json" };
import { bundle } from "../tests/_support/bundle.ts";
import { codeOf, importsOf } from "../tests/_support/source_scan.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));

/** Packages that the command loads when it needs them; if one is missing, the error names it. */
const PEERS: Readonly<Record<string, string>> = {
  "fzstd": ">=0.1.1",
  "parquet-wasm": ">=0.7",
};

/** Files and folders that README.md links to and `deno pack` omits. */
const DOCUMENTS = ["docs", "examples", "CONTRIBUTING.md"];

/** The module of the command, and the file that is run. */
const COMMAND_MODULE = "src/cli/main.js";
const COMMAND = "bin/jetrow.js";

/**
 * Builds the package.
 *
 * @param folder where the tarball is written
 * @returns the tarball's path
 */
export async function buildNpm(folder: string): Promise<string> {
  const work = await Deno.makeTempDir({ prefix: "jetrow-npm-" });
  try {
    const packed = join(work, "packed.tgz");
    await run(ROOT, Deno.execPath(), "pack", "--allow-dirty", "--no-source-maps", "--output", packed);
    await run(work, "tar", "-xzf", packed);
    const unpacked = join(work, "package");
    await prepare(unpacked);
    // README.md links to these.
    for (const path of DOCUMENTS) await copy(path, unpacked);
    await Deno.mkdir(folder, { recursive: true });
    const name = await run(unpacked, "npm", "pack", "--silent", "--ignore-scripts", "--pack-destination", folder);
    return join(folder, name.trim());
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

async function prepare(folder: string): Promise<void> {
  const scripts = new Map<string, string>();
  for await (const path of filesIn(folder)) {
    if (path.endsWith(".js")) scripts.set(path, await Deno.readTextFile(join(folder, path)));
    if (path.endsWith(".d.ts")) await prepareDeclarations(join(folder, path));
  }
  bundle(join(folder, COMMAND_MODULE), join(folder, COMMAND), {
    platform: "node",
    target: "node22",
    external: Object.keys(PEERS),
    nodePaths: [join(ROOT, "node_modules")],
    // The client's packages are CommonJS: they call `require` for modules of Node.
    banner: {
      js:
        '#!/usr/bin/env node\nimport { createRequire } from "node:module";\nconst require = createRequire(import.meta.url);',
    },
  });

  const manifest = join(folder, "package.json");
  const { exports } = JSON.parse(await Deno.readTextFile(manifest));
  const prepared = { ...described(), exports, ...dependenciesOf([...scripts.values()]) };
  await Deno.writeTextFile(manifest, `${JSON.stringify(prepared, null, 2)}\n`);
}

/** The declaration of `Symbol.asyncDispose`, which a project's libraries may not have. */
async function prepareDeclarations(path: string): Promise<void> {
  const text = await Deno.readTextFile(path);
  if (/Symbol\.(?:asyncD|d)ispose|(?:Async)?Disposable/.test(codeOf(text))) {
    await Deno.writeTextFile(path, `/// <reference lib="esnext.disposable" />\n${text}`);
  }
}

function described(): Record<string, unknown> {
  const { name, version, license } = config;
  return {
    name,
    version,
    description: "Apache Arrow rows in, acknowledged NATS JetStream messages out",
    keywords: ["arrow", "apache-arrow", "nats", "jetstream"],
    license,
    type: "module",
    main: "./mod.js",
    types: "./mod.d.ts",
    bin: { jetrow: `./${COMMAND}` },
    sideEffects: [`./${COMMAND}`, `./${COMMAND_MODULE}`],
    engines: { node: ">=22" },
  };
}

/** Imported packages are dependencies; packages that are only loaded by a dynamic `import()` are optional peers. */
function dependenciesOf(scripts: readonly string[]): Record<string, unknown> {
  const dependencies: Record<string, string> = {};
  const peers: Record<string, string> = {};
  for (const script of scripts) {
    for (const { specifier } of importsOf(script)) {
      if (/^(?:\.|node:)/.test(specifier)) continue;
      const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)![0];
      if (specifier === name && script.includes(`import("${specifier}")`)) peers[name] = peerVersion(name);
      else dependencies[name] = npmVersion(name);
    }
  }
  const optional = Object.keys(peers).map((name) => [name, { optional: true }] as const);
  return {
    dependencies: sorted(dependencies),
    peerDependencies: sorted(peers),
    peerDependenciesMeta: sorted(Object.fromEntries(optional)),
  };
}

function sorted<T>(record: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(record).sort(([a], [b]) => a < b ? -1 : 1));
}

function peerVersion(name: string): string {
  const version = PEERS[name];
  if (version === undefined) throw new Error(`${name} is loaded by import(), and no optional peer; say which versions`);
  return version;
}

function npmVersion(name: string): string {
  const [, version] = /^npm:.+@([^@]+)$/.exec((config.imports as Record<string, string>)[name] ?? "") ?? [];
  if (version === undefined) throw new Error(`${name} is imported, and not from npm`);
  return version;
}

/** Copies a file or a folder of the repository, without hidden files and installed packages. */
async function copy(path: string, into: string): Promise<void> {
  const { isDirectory } = await Deno.stat(join(ROOT, path));
  if (!isDirectory) return await Deno.copyFile(join(ROOT, path), join(into, path));
  await Deno.mkdir(join(into, path), { recursive: true });
  for await (const { name } of Deno.readDir(join(ROOT, path))) {
    if (!name.startsWith(".") && name !== "node_modules") await copy(`${path}/${name}`, into);
  }
}

async function* filesIn(folder: string, below = ""): AsyncGenerator<string> {
  for await (const { name, isDirectory } of Deno.readDir(join(folder, below))) {
    const path = below === "" ? name : `${below}/${name}`;
    if (isDirectory) yield* filesIn(folder, path);
    else yield path;
  }
}

async function run(cwd: string, command: string, ...args: string[]): Promise<string> {
  const { success, stdout, stderr } = await new Deno.Command(command, { args, cwd, stdin: "null" }).output();
  if (!success) throw new Error(`${command} ${args.join(" ")} failed: ${new TextDecoder().decode(stderr)}`);
  return new TextDecoder().decode(stdout);
}

if (import.meta.main) {
  // deno-lint-ignore no-console
  console.log(await buildNpm(Deno.args[0] ?? join(ROOT, "dist")));
}
