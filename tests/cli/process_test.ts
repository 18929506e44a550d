/** The command as a process, with the shell's inputs, the system's limits and Deno's permissions. */

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFileSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { createStream, infoOf, startNatsServer } from "../_support/nats/mod.ts";
import { connect } from "../../src/runtime/deno.ts";
import { linesOf } from "../../src/cli/lines.ts";
import { until } from "../_support/wait.ts";
import { destination, Files } from "./_files.ts";
import { jetrow, ROOT, shell } from "./_io.ts";

/** Characters that can control a terminal: C0 except line feed, DEL, C1, and those that reverse text. */
const UNSAFE = /[^\P{Cc}\n]|[\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]/u;

const quoted = (args: readonly string[]): string => args.map((arg) => `'${arg}'`).join(" ");

Deno.test("publish opens a few inputs at a time: 400 files with a limit of 256 descriptors", async () => {
  using files = new Files(1);
  await using server = await startNatsServer();
  const names = Array.from({ length: 400 }, (_, i) => files.path(`f${i}.${i % 2 ? "arrow" : "arrows"}`));
  names.forEach((name, i) => copyFileSync(files.path(i % 2 ? "orders.arrow" : "orders.arrows"), name));
  const args = quoted(["publish", ...names, ...destination(server)]);
  const { exitCode, out, err } = await shell(`ulimit -n 256; $JETROW ${args}`);
  assert.equal(exitCode, 0, err);
  assert.equal(out.trimEnd().split("\n").length, 400);
});

Deno.test("an input that is a socket or a missing device is reported on one line", async (t) => {
  using files = new Files(1);
  await using server = await startNatsServer();
  const socket = files.path("socket.arrow");
  const listener = createServer();
  await new Promise<void>((resolve) => listener.listen(socket, resolve));
  const device = files.path("device.arrow");
  const paths = [socket];
  if (spawnSync("mknod", [device, "c", "99", "99"]).status === 0) paths.push(device);
  for (const path of paths) {
    for (const args of [["publish", path, ...destination(server)], ["verify", path, "--url", server.url]]) {
      await t.step(`${args[0]} ${path.split("/").at(-1)}`, async () => {
        const { exitCode, err } = await jetrow(args);
        assert.equal(exitCode, 1, err);
        assert.match(err, /^jetrow: .* cannot be read: it is a socket, or a device that does not exist\n$/);
      });
    }
  }
  await t.step("standard input that is a directory", async () => {
    const { exitCode, err } = await shell(`$JETROW publish - --resource eu ${quoted(destination(server))} < /tmp`);
    assert.equal(exitCode, 1, err);
    // Deno reads a directory as an empty file.
    assert.match(err, /jetrow: standard input cannot be read: it is [^\n]*\n$/);
  });
  await new Promise((resolve) => listener.close(resolve));
});

Deno.test("a missing Deno permission is reported on one line", async (t) => {
  using files = new Files(1);
  const run = `${Deno.execPath()} run --no-prompt --no-lock`;
  const publish = `${ROOT}/src/cli/main.ts publish ${
    files.path("orders.arrow")
  } --url nats://127.0.0.1:1 --stream S --subject s`;
  const cases = [
    ["--allow-env", "--allow-read --allow-net --allow-sys"],
    ["--allow-read", "--allow-env --allow-net --allow-sys"],
    ["--allow-net", "--allow-env --allow-read --allow-sys"],
  ] as const;
  for (const [missing, given] of cases) {
    await t.step(missing, async () => {
      const { exitCode, err } = await shell(`${run} ${given} ${publish}`);
      const lines = err.split("\n").filter((line) => line !== "" && !line.includes("Download"));
      assert.equal(exitCode, 1, err);
      assert.equal(lines.length, 1, err);
      assert.match(lines[0]!, new RegExp(`^jetrow: .*${missing}`));
    });
  }
});

Deno.test("the module can be imported by a process without a main script", async () => {
  const script = `process.argv[1] = "/no/such/script"; const { main } = await import("${ROOT}/src/cli/main.ts"); ` +
    `console.log(typeof main);`;
  const bun = `bun -e '${script}'`;
  const commands = spawnSync("bun", ["--version"]).error === undefined ? [bun] : [];
  commands.push(`${Deno.execPath()} eval --no-lock 'import process from "node:process"; ${script}'`);
  for (const command of commands) {
    const { exitCode, out, err } = await shell(command);
    assert.deepEqual([exitCode, out.trim()], [0, "function"], err);
  }
});

Deno.test("text from a server, a name or a file cannot control the terminal", async (t) => {
  using files = new Files(1);
  await using server = await startNatsServer();
  const evil = "\x1b[2J\x07\x7f\x9b31m\u202e\u2066";
  const nc = await connect({ url: server.url });
  await createStream(nc, { name: "ORDERS", subjects: ["orders.>"], metadata: { note: evil } });
  await nc.close();
  copyFileSync(files.path("orders.arrow"), files.path(`a\u009b31m\u202e.arrow`));
  writeFileSync(files.path("receipts"), `{"stream":"${"\u009b"}x","rows":1,"uri":"nats://\u009b\u202e"}\n${evil}\n`);
  const commands: readonly (readonly string[])[] = [
    ["publish", files.path(`a\u009b31m\u202e.arrow`), ...destination(server)],
    ["publish", files.path(`a\u009b31m\u202e.arrow`), ...destination(server), "--dry-run"],
    ["publish", files.path("orders.arrow"), ...destination(server), "--resource", "a\u202eb\u009bc"],
    ["publish", files.path(`no${evil}`), ...destination(server), "--resource", "x"],
    ["publish", `--${evil}`],
    [evil],
    ["check", ...destination(server), "--resource", "a\u202eb"],
    ["check", ...destination(server), "--resource", "a\u202eb", "--format", "table"],
    ["verify", files.path("receipts"), "--url", server.url],
    ["verify", files.path("receipts"), "--url", server.url, "--format", "table"],
    ["check", "--config", files.path(`no${evil}`)],
  ];
  for (const args of commands) {
    await t.step(JSON.stringify(args[0]), async () => {
      const { out, err } = await jetrow(args);
      assert.notEqual(out + err, "");
      assert.doesNotMatch(out, UNSAFE);
      assert.doesNotMatch(err, UNSAFE);
    });
  }
});

Deno.test("JSON on standard output escapes unsafe characters and keeps its value", async () => {
  using files = new Files(1);
  await using server = await startNatsServer();
  const resource = "a\u202eb";
  const { exitCode, out, err } = await jetrow([
    ...["publish", files.path("orders.arrow"), ...destination(server), "--resource", resource],
  ]);
  assert.equal(exitCode, 0, err);
  assert.ok(out.includes("a\\u202eb"), out);
  assert.equal(JSON.parse(out).resource, resource);
});

Deno.test("standard output has only receipts when the server goes away", async () => {
  using files = new Files(50_000);
  await using server = await startNatsServer();
  const publish = `$JETROW publish ${files.path("orders.arrow")} --batch-rows 100 ${quoted(destination(server))}`;
  const running = shell(publish);
  const nc = await connect({ url: server.url });
  await until("rows", async () => (await infoOf(nc, "ORDERS")).state.messages > 0, { every: 2 });
  await server.kill();
  await nc.close();
  const { out } = await running;
  for (const line of out.split("\n").filter((line) => line !== "")) {
    assert.equal(typeof JSON.parse(line).rows, "number");
  }
});

Deno.test("reading a long line takes time proportional to its bytes, whatever the number of chunks", async () => {
  const chunk = new Uint8Array(64 * 1024).fill(0x61);
  let chunks = 1000;
  const stdin = (async function* () {
    while (chunks-- > 0) yield await Promise.resolve(chunk);
  })();
  // Counts the bytes and characters that are read.
  let work = 0;
  const { indexOf } = Uint8Array.prototype;
  const { split } = String.prototype;
  const { decode } = TextDecoder.prototype;
  Uint8Array.prototype.indexOf = function (value, from = 0) {
    work += this.length - from;
    return indexOf.call(this, value, from);
  };
  String.prototype.split = function (this: string, ...args: Parameters<typeof split>) {
    work += this.length;
    return split.apply(this, args);
  } as typeof split;
  TextDecoder.prototype.decode = function (...args) {
    work += args[0]?.byteLength ?? 0;
    return decode.apply(this, args);
  };
  try {
    const lines = [];
    for await (const line of linesOf("-", { stdin })) lines.push(line.text.length);
    assert.deepEqual(lines, [1000 * chunk.length]);
  } finally {
    Object.assign(Uint8Array.prototype, { indexOf });
    Object.assign(String.prototype, { split });
    Object.assign(TextDecoder.prototype, { decode });
  }
  assert.ok(work <= 3000 * chunk.length, `${work} bytes were looked at`);
});
