import assert from "node:assert/strict";
import { codeOf, importsOf } from "./_support/source_scan.ts";

/** From the lowest to the highest. A file imports lower ranks, or files of its own folder with its own rank. */
const RANKS: readonly (readonly string[])[] = [
  ["src/errors/", "src/types/", "src/capabilities.ts"],
  ["src/util/"],
  ["src/subject/", "src/arrow/", "src/hash/"],
  ["src/options/"],
  ["src/json/"],
  ["src/message/"],
  ["src/stream/"],
  ["src/publish/"],
  ["src/lifecycle/"],
  ["mod.ts"],
  ["src/runtime/"],
  ["src/cli/"],
];

/** Where a runtime may be named. */
const RUNTIME = ["src/runtime/", "src/cli/"];

/** What the core may import as a value: the client's runtime-independent parts and the hash. */
const CORE_PACKAGES = /^(?:@nats-io\/(?:nats-core|jetstream)|@noble\/hashes)(?:\/|$)/;

/** What the Arrow IPC reader loads for data compressed with ZSTD. */
const ZSTD = "fzstd";

const LONGEST_FILE = 300;

const root = new URL("../", import.meta.url);
const sources = new Map<string, string>();
for (const path of ["mod.ts", ...filesBelow("src/")]) sources.set(path, Deno.readTextFileSync(new URL(path, root)));

function filesBelow(folder: string): string[] {
  return [...Deno.readDirSync(new URL(folder, root))].flatMap(({ name, isDirectory }) => {
    if (isDirectory) return filesBelow(`${folder}${name}/`);
    return name.endsWith(".ts") ? [folder + name] : [];
  }).sort();
}

function placeOf(path: string): string | undefined {
  return RANKS.flat().find((place) => place.endsWith("/") ? path.startsWith(place) : path === place);
}

function rankOf(path: string): number {
  return RANKS.findIndex((places) => places.includes(placeOf(path) ?? ""));
}

function folderOf(path: string): string {
  return path.slice(0, path.lastIndexOf("/") + 1);
}

const isBelowRuntime = (path: string) => !RUNTIME.some((place) => path.startsWith(place));

/** A relative specifier as a path in the package. */
function resolve(specifier: string, path: string): string {
  return new URL(specifier, new URL(path, root)).href.slice(root.href.length);
}

/** The files of the package that a file imports, also for types. */
function filesImportedBy(path: string): string[] {
  const relative = importsOf(sources.get(path)!).filter(({ specifier }) => specifier.startsWith("."));
  return relative.map(({ specifier }) => resolve(specifier, path));
}

/** What importing an entry point loads: its files, and the packages that they name. */
function graphOf(entry: string): { readonly files: ReadonlySet<string>; readonly packages: ReadonlySet<string> } {
  const files = new Set<string>();
  const packages = new Set<string>();
  const visit = (path: string): void => {
    if (files.has(path) || !sources.has(path)) return;
    files.add(path);
    for (const { specifier, typeOnly } of importsOf(sources.get(path)!)) {
      if (!typeOnly) specifier.startsWith(".") ? visit(resolve(specifier, path)) : packages.add(specifier);
    }
  };
  visit(entry);
  return { files, packages };
}

/** Lines of the form `file: what is wrong`, for every file in which `check` finds something. */
function findings(check: (path: string, source: string) => readonly string[]): string[] {
  return [...sources].flatMap(([path, source]) => check(path, source).map((fault) => `${path}: ${fault}`));
}

Deno.test("every source file has a rank", () => {
  assert.ok(sources.size > 40);
  assert.deepEqual(findings((path) => rankOf(path) < 0 ? ["belongs to no rank"] : []), []);
});

Deno.test("a file imports lower ranks or its own folder", () => {
  const faults = findings((path) =>
    filesImportedBy(path).filter((imported) => {
      const isOwn = placeOf(imported) === placeOf(path) ||
        (rankOf(imported) === rankOf(path) && folderOf(imported) === folderOf(path));
      return !isOwn && rankOf(imported) >= rankOf(path);
    }).map((imported) => `imports ${imported}`)
  );
  assert.deepEqual(faults, []);
});

Deno.test("imports stay in the package and lead to existing files", () => {
  const faults = findings((path) => filesImportedBy(path).filter((imported) => !sources.has(imported)));
  assert.deepEqual(faults, []);
});

Deno.test("imports form no cycle", () => {
  const done = new Set<string>();
  const visit = (path: string, above: readonly string[]): void => {
    assert.ok(!above.includes(path), [...above.slice(above.indexOf(path)), path].join(" imports "));
    if (done.has(path) || !sources.has(path)) return;
    filesImportedBy(path).forEach((imported) => visit(imported, [...above, path]));
    done.add(path);
  };
  for (const path of sources.keys()) visit(path, []);
});

Deno.test("below the runtime only the client and the hash are imported as values, and no transport", () => {
  const faults = findings((path, source) => {
    if (!isBelowRuntime(path)) return [];
    const packages = importsOf(source).filter(({ specifier, typeOnly }) => !typeOnly && !specifier.startsWith("."));
    const known = (name: string) => CORE_PACKAGES.test(name) || (name === ZSTD && path.startsWith("src/arrow/ipc/"));
    const strange = packages.filter(({ specifier }) => !known(specifier));
    const dials = codeOf(source).match(/\b(?:wsconnect|setTransportFactory)\b/g) ?? [];
    return [...strange.map(({ specifier }) => `imports ${specifier}`), ...dials];
  });
  assert.deepEqual(faults, []);
});

Deno.test("below the runtime no file names Deno, Bun, process or node:", () => {
  const names = /(?<![\w$]|(?<!globalThis)\.)(?:Deno|Bun|process|Buffer|require|navigator)\b(?!["?]?:)/g;
  const faults = findings((path, source) =>
    isBelowRuntime(path)
      ? [
        ...codeOf(source).match(names) ?? [],
        ...importsOf(source).filter(({ specifier }) => /^(?:node|bun|deno):/.test(specifier)).map((one) =>
          one.specifier
        ),
      ]
      : []
  );
  assert.deepEqual(faults, []);
});

Deno.test("the web entry point loads no node: module and no TCP transport", () => {
  const { files, packages } = graphOf("src/runtime/web.ts");
  assert.ok(files.has("src/publish/publisher.ts") && packages.has("@nats-io/nats-core"));
  assert.deepEqual([...packages].filter((name) => !CORE_PACKAGES.test(name)), []);
});

Deno.test("the Arrow entry point loads no package but the ZSTD decoder", () => {
  const { files, packages } = graphOf("src/arrow/mod.ts");
  assert.ok(files.has("src/arrow/ipc/read_arrow.ts"));
  assert.deepEqual([...packages], [ZSTD]);
});

Deno.test("the pure entry points load no package", () => {
  for (const entry of ["src/subject/mod.ts", "src/json/mod.ts", "src/errors/mod.ts"]) {
    const { files, packages } = graphOf(entry);
    assert.ok(files.has(entry), entry);
    assert.deepEqual([...packages], [], entry);
  }
});

Deno.test("no file compares a publish mode's name: the tables of the modes decide", () => {
  const faults = findings((_, source) =>
    codeOf(source).match(/\bpublishMode\s*[!=]==|switch \(.*\bpublishMode\)/g) ?? []
  );
  assert.deepEqual(faults, []);
});

Deno.test("a file has at most 300 lines", () => {
  const isLong = (path: string) => sources.get(path)!.split("\n").length - 1 > LONGEST_FILE;
  assert.deepEqual([...sources.keys()].filter(isLong), []);
});

Deno.test("importsOf() finds imports of every form, and none in comments", () => {
  const source = `
    // import { a } from "./comment.ts";
    /* import "./comment.ts"; */
    import { a, type B } from "./value.ts";
    import { type C, type D as E } from "./types.ts";
    import type { F } from "./type.ts";
    import * as g from "./all.ts";
    import h, { i } from "./default.ts";
    import "./effect.ts";
    export { j } from "./export.ts";
    export type { K } from "./export_type.ts";
    export * from "./export_all.ts";
    import {
      type L,
      m,
    } from "nats://lines.ts";
    const n = /["'/]/, o = await import("./dynamic.ts"), p = "// no comment"; import("node:fs");
  `;
  const found = importsOf(source).map(({ specifier, typeOnly }) => typeOnly ? `type ${specifier}` : specifier);
  assert.deepEqual(found, [
    "./value.ts",
    "type ./types.ts",
    "type ./type.ts",
    "./all.ts",
    "./default.ts",
    "./export.ts",
    "type ./export_type.ts",
    "./export_all.ts",
    "nats://lines.ts",
    "./effect.ts",
    "./dynamic.ts",
    "node:fs",
  ]);
});

Deno.test("codeOf() keeps the code and removes strings and comments", () => {
  const source =
    'const a = "Deno"; // Bun\nconst b = /process"/; /* node: */ const c = `Deno`; const d = `${Deno.pid}`;';
  assert.deepEqual(codeOf(source).match(/Deno|Bun|process|node:/g), ["Deno"]);
});
