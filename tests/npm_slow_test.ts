import { tableToIPC } from "apache-arrow";
import assert from "node:assert/strict";
import { mkdir, mkdtemp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import config from "../deno.json" with { type: "json" };
import { VERSION } from "../src/cli/version.ts";
import { buildNpm } from "../tools/build_npm.ts";
import { demoTable } from "./_support/arrow/mod.ts";
import { startNatsServer } from "./_support/nats/mod.ts";
import { bunProgram, node22Program, nodeProgram, tscProgram } from "./_support/runtimes.ts";

/** Every entry point, and one export of each. */
const USE = `
  import { sliceRows } from "@jetrow/jetrow";
  import { rowsOf } from "@jetrow/jetrow/arrow";
  import { connect as bun } from "@jetrow/jetrow/bun";
  import { main } from "@jetrow/jetrow/cli";
  import { connect as deno } from "@jetrow/jetrow/deno";
  import { isJetrowError } from "@jetrow/jetrow/errors";
  import { encodeRows } from "@jetrow/jetrow/json";
  import { connect as node } from "@jetrow/jetrow/node";
  import { expandTemplate } from "@jetrow/jetrow/subject";
  import { connect as web, isJetrowError as same } from "@jetrow/jetrow/web";
  const failed = await node({ url: "nats://127.0.0.1:1" }).catch((error) => error);
  console.log(JSON.stringify([
    [sliceRows, rowsOf, encodeRows, bun, deno, web, main].every((one) => typeof one === "function"),
    isJetrowError(failed) && same === isJetrowError && failed.code,
    expandTemplate("a.{resource}", "b"),
  ]));`;

/** What a user writes: it compiles without a cast, under a project's own settings. */
const PROJECT = `
  import * as arrow from "apache-arrow";
  import { batchesOf, type Finding, inspect, isJetrowError, type RunReceipt, type SinkConfig } from "@jetrow/jetrow";
  import { connect, openRun, openSession, publishAll } from "@jetrow/jetrow/node";
  import { connect as web } from "@jetrow/jetrow/web";
  import { encodeRows } from "@jetrow/jetrow/json";
  import { captureFilter } from "@jetrow/jetrow/subject";
  import { main } from "@jetrow/jetrow/cli";

  const config = { url: "nats://localhost", stream: "S", subject: "s.{resource}" } satisfies SinkConfig;
  export async function load(reader: arrow.RecordBatchReader): Promise<RunReceipt> {
    await using run = await openRun(() => connect(config), config);
    await run.apply({ resource: "r", rows: arrow.tableFromArrays({ id: [1] }) });
    await run.applyAll(batchesOf("r", reader));
    return await run.commit();
  }
  export async function look(): Promise<Finding[]> {
    await using session = await openSession(() => web(config), config, "a");
    await session.beginEpoch({ attempt: "a", epoch: 1 });
    const nc = await connect(config);
    return await inspect(nc, config).finally(() => nc.close());
  }
  export function code(error: unknown): string | undefined {
    // @ts-expect-error: no such code
    if (isJetrowError(error) && error.code === "x") return;
    return isJetrowError(error) ? error.code : undefined;
  }
  export const others: unknown[] = [publishAll, captureFilter(config, "r"), main, encodeRows];
  // @ts-expect-error: rows must be Arrow data, not plain objects
  others.push(encodeRows([{ id: 1 }]));
`;

Deno.test("the command's version is the package's", () => assert.equal(VERSION, config.version));

Deno.test("the npm package works where npm and Bun install it", async (t) => {
  const [node, node22, bun, tsc] = [await nodeProgram(), await node22Program(), await bunProgram(), await tscProgram()];
  const folder = await mkdtemp(join(tmpdir(), "jetrow-npm-test-"));
  const at = (path: string) => join(folder, path);
  try {
    const tarball = await buildNpm(folder);
    const manifest = { name: "user", private: true, type: "module" };
    for (const project of ["npm", "bun"]) {
      await mkdir(at(project));
      await writeFile(at(`${project}/package.json`), JSON.stringify(manifest));
      await writeFile(at(`${project}/use.mjs`), USE);
    }
    const npm = (...packages: string[]) =>
      run(at("npm"), "npm", "install", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts", ...packages);
    const expected = JSON.stringify([true, "connection.refused", "a.b"]);
    await npm(tarball);

    await t.step("it depends only on packages that npm has, and on no optional peer", async () => {
      const text = await readFile(at("npm/node_modules/@jetrow/jetrow/package.json"), "utf8");
      const { dependencies, engines, peerDependencies, peerDependenciesMeta } = JSON.parse(text);
      assert.deepEqual(Object.keys(dependencies), [
        "@nats-io/nats-core",
        "@nats-io/transport-node",
        "@noble/hashes",
      ]);
      assert.match(dependencies["@nats-io/transport-node"], /^\d+\.\d+\.\d+$/, "pinned: a private module is extended");
      assert.deepEqual(engines, { node: ">=22" });
      assert.deepEqual(Object.keys(peerDependencies), ["fzstd", "parquet-wasm"]);
      assert.ok(Object.values<{ optional: boolean }>(peerDependenciesMeta).every(({ optional }) => optional));
      const tree = JSON.parse((await run(at("npm"), "npm", "ls", "--all", "--json")).out);
      assert.ok(!JSON.stringify(tree).includes("apache-arrow@") && !("apache-arrow" in tree.dependencies));
    });

    await t.step("every link in its documents leads to a file of the package", async () => {
      const installed = at("npm/node_modules/@jetrow/jetrow");
      const pages = ["README.md", "CONTRIBUTING.md", "examples/README.md"];
      for (const name of await readdir(`${installed}/docs`)) if (name.endsWith(".md")) pages.push(`docs/${name}`);
      const broken: string[] = [];
      let followed = 0;
      for (const page of pages) {
        for (
          const [, link] of (await readFile(`${installed}/${page}`, "utf8")).matchAll(/\]\((?!https?:|#)([^)#]*)/g)
        ) {
          followed++;
          const target = join(dirname(`${installed}/${page}`), link!);
          if (await stat(target).then(() => false, () => true)) broken.push(`${page}: ${link}`);
        }
      }
      assert.ok(followed > 20, `${followed} links`);
      assert.deepEqual(broken, []);
    });

    for (const program of [node22, node]) {
      if (program === undefined) continue;
      const { out } = await run(at("npm"), program, "--version");
      await t.step(`every entry point loads on Node ${out.trim()}`, async () => {
        assert.equal((await run(at("npm"), program, "use.mjs")).out.trim(), expected);
      });
    }

    await t.step("npm installs it with --engine-strict on the oldest Node that it names", async () => {
      if (node22 === undefined) return;
      await mkdir(at("strict"));
      await writeFile(at("strict/package.json"), JSON.stringify(manifest));
      const path = `${dirname(node22)}:${Deno.env.get("PATH")}`;
      const how = ["--engine-strict", "--no-audit", "--no-fund", "--prefer-offline", "--ignore-scripts"];
      await run(at("strict"), "env", `PATH=${path}`, "npm", "install", ...how, tarball);
    });

    // npm and its shims run the first `node` of the PATH.
    const jetrow = async (...args: string[]) => {
      const path = node22 === undefined ? Deno.env.get("PATH")! : `${dirname(node22)}:${Deno.env.get("PATH")}`;
      const env = { PATH: path };
      const command = new Deno.Command(at("npm/node_modules/.bin/jetrow"), { args, env, cwd: folder, stdin: "null" });
      return outputOf(await command.output());
    };
    await writeFile(at("orders.arrow"), tableToIPC(demoTable(300), "stream"));
    await using server = await startNatsServer();
    const publish = () =>
      jetrow("publish", "orders.arrow", "--url", server.url, "--stream", "ORDERS", "--subject", "orders.{resource}");

    await t.step("the command prints its version, and publishes Arrow data without another package", async () => {
      assert.deepEqual(await jetrow("--version"), { code: 0, out: `${VERSION}\n`, err: "" });
      const { code, out, err } = await publish();
      assert.equal(code, 0, err);
      assert.equal(JSON.parse(out.split("\n")[0]!).rows, 300);
    });

    await npm("apache-arrow@21");
    for (const module of ["nodenext", "bundler"]) {
      if (tsc === undefined) break;
      await t.step(`its types compile in a fresh project under ${module}`, async () => {
        await mkdir(at(`npm/${module}`));
        await writeFile(at(`npm/${module}/project.ts`), PROJECT);
        await writeFile(at(`npm/${module}/tsconfig.json`), JSON.stringify(settings(module)));
        await run(at(`npm/${module}`), tsc, "--noEmit", "-p", ".");
      });
    }

    if (bun === undefined) return;
    await t.step("Bun installs it, and every entry point loads", async () => {
      await run(at("bun"), bun, "add", "--no-progress", "--ignore-scripts", tarball);
      assert.equal((await run(at("bun"), bun, "use.mjs")).out.trim(), expected);
      const { out } = await run(at("bun"), bun, "run", "--bun", "jetrow", "--version");
      assert.equal(out, `${VERSION}\n`);
    });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
});

/** Settings of a project that has only the standard libraries, and checks declarations of packages too. */
function settings(module: string): unknown {
  const how = module === "nodenext"
    ? { module: "nodenext", moduleResolution: "nodenext" }
    : { module: "esnext", moduleResolution: "bundler" };
  const libraries = { lib: ["es2022", "dom", "esnext.disposable"], types: [] };
  return { compilerOptions: { ...how, ...libraries, target: "es2022", strict: true }, files: ["project.ts"] };
}

async function run(cwd: string, command: string, ...args: string[]): Promise<{ readonly out: string }> {
  const { code, out, err } = outputOf(await new Deno.Command(command, { args, cwd, stdin: "null" }).output());
  assert.equal(code, 0, `${command} ${args.join(" ")}: ${out}${err}`);
  return { out };
}

function outputOf({ code, stdout, stderr }: Deno.CommandOutput): { code: number; out: string; err: string } {
  const [out, err] = [stdout, stderr].map((bytes) => new TextDecoder().decode(bytes));
  return { code, out: out!, err: err! };
}
