import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { gzipSync } from "node:zlib";
import config from "../deno.json" with { type: "json" };
import { buildSync } from "./_support/bundle.ts";

/** The bundle of an entry point: its size, and what it contains. */
interface Bundle {
  readonly minified: number;
  readonly gzipped: number;
  /** Names of packages, and folders or files of the sources, without the entry point itself and empty stubs. */
  readonly parts: readonly string[];
}

/** The NATS client and its parts: a caller of `.` has them already, for dialling. */
const CLIENT = ["@nats-io/nats-core", "@nats-io/nkeys", "@nats-io/nuid", "tweetnacl"];
const CORE = ["@noble/hashes", ...CLIENT].sort();

/** The packages that each entry point may contain. `./deno` and `./bun` equal `./node`; the command is not measured. */
const PACKAGES: Readonly<Record<string, readonly string[]>> = {
  ".": CORE,
  "./web": CORE,
  "./node": [...CORE, "@nats-io/transport-node"].sort(),
  "./json": [],
  "./arrow": ["fzstd"],
  "./subject": [],
  "./errors": [],
};

/** How far a documented size may be from the real one. */
const TOLERANCE = 0.15;

function bundle(contents: string, external: readonly string[] = []): Bundle {
  const result = buildSync({
    stdin: { contents, resolveDir: fileURLToPath(new URL("..", import.meta.url)) },
    bundle: true,
    format: "esm",
    minify: true,
    platform: contents.includes("node.ts") ? "node" : "browser",
    target: "es2022",
    external: [...external],
    write: false,
    metafile: true,
    logLevel: "warning",
  });
  const [output] = Object.values(result.metafile.outputs);
  const held = Object.entries(output!.inputs).filter(([, { bytesInOutput }]) => bytesInOutput > 0);
  const script = result.outputFiles[0]!.contents;
  return {
    minified: script.length,
    gzipped: gzipSync(script).length,
    parts: [...new Set(held.map(([path]) => partOf(path)))].filter((part) => !/^[<(]/.test(part)).sort(),
  };
}

function partOf(path: string): string {
  const [, name] = /.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path) ?? [];
  return name ?? /^src\/[^/]+/.exec(path)?.[0] ?? path;
}

function isPackage(part: string): boolean {
  return !/^(?:src\/|mod\.ts$)/.test(part);
}

const kilobytes = (bytes: number): string => `${(bytes / 1000).toFixed(1)} kB`;

/** One row of the table in the documentation. */
function rowOf(name: string, { minified, gzipped }: Bundle): string {
  return `| ${name} | ${kilobytes(minified)} | ${kilobytes(gzipped)} |`;
}

/** The documented sizes of one row, in bytes. */
function documentedSizes(table: string, name: string): readonly number[] {
  const row = table.split("\n").find((line) => line.replace(/\s+/g, " ").startsWith(`| ${name} |`)) ?? "";
  return [...row.matchAll(/([\d.]+) kB/g)].map(([, size]) => Number(size) * 1000);
}

Deno.test("the bundle of each entry point contains what it needs and no more", async (t) => {
  const documentation = await readFile(new URL("../docs/package.md", import.meta.url), "utf8");
  const rows: string[] = [];
  const stale: string[] = [];
  const measured = (name: string, made: Bundle): void => {
    const row = rowOf(name, made);
    rows.push(row);
    const [minified = 0, gzipped = 0] = documentedSizes(documentation, name);
    const isNear = (is: number, said: number) => Math.abs(is - said) <= TOLERANCE * is;
    if (!isNear(made.minified, minified) || !isNear(made.gzipped, gzipped)) stale.push(row);
  };
  for (const [entry, packages] of Object.entries(PACKAGES)) {
    const made = bundle(`export * from "${config.exports[entry as keyof typeof config.exports]}"`);
    measured(`\`${entry}\``, made);
    if (entry === ".") {
      measured("`.` without the client", bundle('export * from "./mod.ts"', ["@nats-io/*"]));
    }
    await t.step(`${entry} contains no other packages than ${packages.join(", ") || "none"}`, () => {
      assert.deepEqual(made.parts.filter(isPackage), packages);
      assert.ok(made.parts.some((part) => !isPackage(part)));
    });
    if (entry !== "./subject") continue;
    await t.step("./subject contains no Arrow and no NATS code", () => {
      const strange = made.parts.filter((part) => /arrow|json|message|publish|stream|lifecycle|runtime/.test(part));
      assert.deepEqual(strange, []);
    });
  }
  await t.step("one pure function of the main entry point is hardly larger than from its own entry point", () => {
    const [all, own] = ["./mod.ts", "./src/json/mod.ts"].map((path) =>
      bundle(`export { encodeRows } from "${path}"`, ["@nats-io/*", "@noble/*"])
    );
    assert.ok(all!.minified < 1.4 * own!.minified, `${all!.minified} and ${own!.minified} bytes`);
  });
  // deno-lint-ignore no-console
  console.log(["| entry | minified | gzipped |", ...rows].join("\n"));
  await t.step("the documented sizes are right", () => assert.deepEqual(stale, [], "write these to docs/package.md"));
});
