import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { tokenAuth } from "../_support/credentials.ts";
import { startNatsServer } from "../_support/nats_server.ts";
import { printSkip } from "../_support/skip.ts";
import { deadPort } from "./_dialling.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(command: readonly string[]): Promise<Ended> {
  const [program, ...args] = command;
  const child = spawn(program!, args, { cwd: ROOT, stdio: ["ignore", "pipe", "pipe"] });
  let [out, err] = ["", ""];
  child.stdout.on("data", (text) => out += text);
  child.stderr.on("data", (text) => err += text);
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

/** Writes a program that uses a runtime's entry, and runs it there. */
async function checkRefusals(
  runtime: string,
  toCommand: (program: string) => Promise<readonly string[]>,
): Promise<void> {
  await using server = await startNatsServer({ jetstream: false, config: tokenAuth("right-6d0m4q") });
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache/refusals-"));
  try {
    const program = join(folder, "program.ts");
    const lines = [
      `import { connect } from "${ROOT}/src/runtime/${runtime}.ts";`,
      `import { countRefusals } from "${ROOT}/tests/runtime/_refusals.ts";`,
      `await countRefusals(connect, "${server.url}", "${await deadPort()}");`,
    ];
    writeFileSync(program, lines.join("\n"));
    const { code, out, err } = await run(await toCommand(program));
    assert.equal(code, 0, err);
    assert.deepEqual(JSON.parse(out), { "connection.auth": 60, "connection.refused": 60 });
    assert.doesNotMatch(err + out, /uncaught|unhandled|7s1cr3t/i);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function has(program: string, what: string): boolean {
  const missing = spawnSync(program, ["--version"]).error !== undefined;
  if (missing) printSkip(what, `there is no ${program}`);
  return !missing;
}

Deno.test("connect() that is refused again and again never crashes a Deno process", async () => {
  await checkRefusals("deno", (program) => Promise.resolve([Deno.execPath(), "run", "-A", "--no-lock", program]));
});

Deno.test({
  name: "connect() that is refused again and again never crashes a Bun process",
  ignore: !has("bun", "dialling on Bun"),
  fn: () => checkRefusals("bun", (program) => Promise.resolve(["bun", program])),
});

Deno.test({
  name: "connect() that is refused again and again never crashes a Node process",
  ignore: !has("bun", "dialling on Node") || !has("node", "dialling on Node"),
  fn: () =>
    checkRefusals("node", async (program) => {
      // Node 20 takes no TypeScript: bun makes JavaScript of it.
      const bundle = program.replace(".ts", ".mjs");
      const how = ["--target", "node", "--packages", "external", "--outfile", bundle];
      const built = await run(["bun", "build", program, ...how]);
      assert.equal(built.code, 0, built.err);
      return ["node", bundle];
    }),
});
