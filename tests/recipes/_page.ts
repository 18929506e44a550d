/** Runs the recipes of docs/recipes.md as written: their programs, the printed output, their command lines. */

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { writeFile } from "node:fs/promises";
import { text } from "node:stream/consumers";
import * as arrow from "apache-arrow";
import { connect } from "../../src/runtime/deno.ts";
import { infoOf, managerOf, type NatsServer, startNatsServer, type Stored, storedIn } from "../_support/nats/mod.ts";
import { jetrow, ROOT } from "../cli/_io.ts";

const PAGE = readFileSync(`${ROOT}/docs/recipes.md`, "utf8");
/** The address that the page's programs dial. */
const ADDRESS = "nats://localhost:4222";

/** The command's input: objects, and the types of their keys. */
interface Input {
  readonly objects: readonly Readonly<Record<string, unknown>>[];
  readonly types: Readonly<Record<string, arrow.DataType>>;
}

/**
 * Tests that a recipe's program prints what the page shows, and that its command stores what the program stored.
 *
 * @param title the section's title
 * @param streams the streams that the program writes to
 * @param inputs the command's files: the rows of the program
 * @param ignore whether the server is too old
 */
export function testRecipe(
  title: string,
  streams: readonly string[],
  inputs: Readonly<Record<string, Input>>,
  ignore = false,
): void {
  const name = `${title}: the program prints what the page shows, and the command stores the same rows`;
  Deno.test({ name, ignore }, async () => {
    const section = PAGE.split(/^## /m).find((section) => section.startsWith(`${title}\n`));
    assert.ok(section !== undefined, `docs/recipes.md has no section ${title}`);
    const [program, output, commands] = ["ts ignore", "text", "sh"].map((language) => codeBlock(section, language));
    await using server = await startNatsServer();
    const [printed, diagnostics] = await runProgram(`${codeBlock(PAGE, "ts ignore")}${program}`, server.url);
    assert.equal(printed, output, diagnostics);
    const stored = await takeStored(server, streams);
    await publishFiles(server, commands!, inputs);
    assert.deepEqual(await takeStored(server, streams), stored);
  });
}

/** Returns the first code block in a language. */
function codeBlock(text: string, language: string): string {
  const after = text.split(`\n\`\`\`${language}\n`)[1];
  assert.ok(after !== undefined, `${text.split("\n", 1)} has no block ${language}`);
  return after.split("```\n", 1)[0]!;
}

/** Type-checks and runs a program; returns both of its outputs. */
async function runProgram(program: string, url: string): Promise<[stdout: string, stderr: string]> {
  assert.ok(program.includes(ADDRESS), `the program does not dial ${ADDRESS}`);
  const args = ["run", "--check", "-A", "--no-lock", "--ext=ts", "-"];
  const child = spawn(Deno.execPath(), args, { cwd: ROOT, env: { ...Deno.env.toObject(), NO_COLOR: "1" } });
  child.stdin.end(program.replace(ADDRESS, url));
  return await Promise.all([text(child.stdout), text(child.stderr)]);
}

/** Returns what streams store, and recreates them empty. */
async function takeStored(server: NatsServer, names: readonly string[]): Promise<Stored[][]> {
  await using nc = await connect({ url: server.url });
  const { streams } = await managerOf(nc);
  const stored: Stored[][] = [];
  for (const name of names) {
    const { config } = await infoOf(nc, name);
    stored.push(await storedIn(nc, name));
    await streams.delete(name);
    await streams.add(config);
  }
  assert.ok(stored.every((messages) => messages.length > 0));
  return stored;
}

/** Runs the line `jetrow publish` of a shell's commands in this process, with these files. */
async function publishFiles(
  server: NatsServer,
  commands: string,
  inputs: Readonly<Record<string, Input>>,
): Promise<void> {
  const script = `nats() { :; }\njetrow() { printf '%s\\0' "$@"; }\n${commands}`;
  const { status, stdout, stderr } = spawnSync("/bin/sh", ["-ec", script], { encoding: "utf8" });
  assert.equal(status, 0, stderr);
  const args = stdout.split("\0").slice(0, -1);
  for (const [name, input] of Object.entries(inputs)) {
    assert.ok(args.includes(name), `the command does not publish ${name}`);
    const path = `${server.folder}/${name}`;
    await writeFile(path, arrow.tableToIPC(tableOf(input), "file"));
    args[args.indexOf(name)] = path;
  }
  const { exitCode, err } = await jetrow(args, { env: { JETROW_URL: server.url } });
  assert.equal(exitCode, 0, err);
}

function tableOf({ objects, types }: Input): arrow.Table {
  const columns = Object.entries(types).map(([name, type]) =>
    [name, arrow.vectorFromArray(objects.map((object) => object[name] ?? null), type)] as const
  );
  return new arrow.Table(Object.fromEntries(columns));
}
