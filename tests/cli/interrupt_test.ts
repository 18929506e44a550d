/** SIGINT and SIGTERM: the first one waits for the rows on the wire, the second one does not. */

import assert from "node:assert/strict";
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { createConnection, createServer } from "node:net";
import { tableToIPC } from "apache-arrow";
import { startNatsServer } from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";
import { destination, Files } from "./_files.ts";
import { ended, Scene } from "./_journal.ts";
import { COMMAND, jetrow, ROOT } from "./_io.ts";

function start(args: readonly string[]): ChildProcess {
  const [program, ...rest] = [...COMMAND, ...args];
  return spawn(program!, rest, { cwd: ROOT, stdio: ["pipe", "ignore", "pipe"] });
}

const count = (text: string): number => Number(text.replaceAll(",", ""));

/** The number of rows that the command reports as acknowledged, and as unknown. */
function reported(err: string): { acked: number; unknown: number } {
  const [, acked = "0"] = /jetrow: ([\d,]+) rows? acknowledged/.exec(err) ?? [];
  const [, unknown = "0"] = /([\d,]+) of unknown fate/.exec(err) ?? [];
  return { acked: count(acked), unknown: count(unknown) };
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  for (const more of [[], ["--retry", "60s"], ["--publish-mode", "atomic"], ["--publish-mode", "fast"]]) {
    Deno.test(`the first ${signal} waits for the acks on the wire, so that no row is unknown ${more.join(" ")}`, async () => {
      await using scene = await Scene.open({ ids: false, stream: { allow_atomic: true, allow_batched: true } });
      const child = scene.start("--receipt", ["--publish-timeout", "60s", ...more]);
      const ending = ended(child);
      await until("some receipts", () => scene.kinds("receipt").length > 2, { every: 2 });
      scene.proxy.stall("down");
      await until("a piece on its way", () => scene.kinds("begin").length > scene.kinds("receipt").length);
      Deno.kill(child.pid!, signal);
      // The acks arrive only after the signal.
      const stored = await until("rows that are stored", async () => {
        const before = await scene.stored();
        return before > 0 && before;
      });
      scene.proxy.resume("down");
      const { code, err } = await ending;
      assert.equal(code, 130, err);
      assert.ok(stored > 0);
      assert.deepEqual(reported(err), { acked: await scene.stored(), unknown: 0 }, err);
      scene.proxy.delay({ down: 0 });
      const resumed = await scene.resume(more);
      assert.equal(resumed.exitCode, 0, resumed.err);
      assert.equal(await scene.stored(), scene.rows);
      // Receipts of fast batches cannot be verified.
      if (!more.includes("fast")) await scene.assertWhole();
    });
  }
}

Deno.test("a signal with every row on the wire exits with 130, and every row is acknowledged", async () => {
  await using scene = await Scene.open({ ids: false, rows: 50 });
  const child = scene.start("--receipt", ["--publish-timeout", "60s"]);
  scene.proxy.delay({ down: 300 });
  const ending = ended(child);
  await until("stored rows", async () => await scene.stored() === 50, { every: 2 });
  Deno.kill(child.pid!, "SIGINT");
  const { code, err } = await ending;
  assert.equal(code, 130, err);
  assert.deepEqual(reported(err), { acked: 50, unknown: 0 }, err);
  assert.deepEqual(scene.kinds("receipt").map(({ rows }) => rows), [50]);
});

Deno.test("the second signal ends the command at once", async () => {
  await using scene = await Scene.open({ ids: false });
  const child = scene.start("--receipt", ["--publish-timeout", "10m"]);
  const ending = ended(child);
  await until("some receipts", () => scene.kinds("receipt").length > 2, { every: 2 });
  scene.proxy.stall("down");
  await until("a piece on its way", () => scene.kinds("begin").length > scene.kinds("receipt").length);
  Deno.kill(child.pid!, "SIGTERM");
  // The first signal alone would wait for ten minutes.
  const again = setInterval(() => child.exitCode === null && Deno.kill(child.pid!, "SIGTERM"), 200);
  const { code } = await ending;
  clearInterval(again);
  assert.equal(code, 130);
});

/** Bytes of the beginning of a stream that never ends. */
async function* endless(bytes: Uint8Array, waiting: () => void): AsyncGenerator<Uint8Array> {
  yield bytes;
  waiting();
  await new Promise(() => {});
}

Deno.test("every command that waits for standard input ends on a signal", async (t) => {
  using files = new Files(10);
  await using server = await startNatsServer();
  const stream = tableToIPC(files.table, "stream").slice(0, -8);
  const where = destination(server);
  const commands: readonly (readonly [args: readonly string[], bytes: Uint8Array])[] = [
    [["verify", "-", "--url", server.url], new TextEncoder().encode("\n")],
    [["publish", "-", "--resource", "eu", ...where, "--dry-run"], stream],
    [["publish", "-", "--resource", "eu", ...where], new Uint8Array(0)],
    [["publish", "-", "--resource", "eu", ...where], stream],
  ];
  for (const [args, bytes] of commands) {
    await t.step(args.slice(0, 2).join(" "), async () => {
      const interrupt = new AbortController();
      const stdin = endless(bytes, () => interrupt.abort(new DOMException("interrupted", "AbortError")));
      const { exitCode, err } = await jetrow(args, { stdin, signal: interrupt.signal });
      assert.equal(exitCode, 130, err);
      assert.match(err, /^jetrow: interrupted\n/m);
    });
  }
});

Deno.test("every command that waits for a named pipe ends on a signal", async (t) => {
  using files = new Files(10);
  await using server = await startNatsServer();
  const fifo = files.path("fifo.arrows");
  assert.equal(spawnSync("mkfifo", [fifo]).status, 0);
  const where = destination(server);
  const commands = [["verify", fifo, "--url", server.url], ["publish", fifo, ...where], [
    "publish",
    fifo,
    ...where,
    "--dry-run",
  ]];
  for (const args of commands) {
    await t.step(`${args[0]} ${args.includes("--dry-run") ? "--dry-run" : ""}`, async () => {
      const child = start(args);
      const ending = ended(child);
      // The pipe can be opened for writing only while the command has it open.
      const writer = await until("a reader", () => openSync(fifo, constants.O_WRONLY | constants.O_NONBLOCK));
      writeSync(writer, new Uint8Array([0xff]));
      Deno.kill(child.pid!, "SIGINT");
      const { code, err } = await ending;
      closeSync(writer);
      assert.equal(code, 130, err);
    });
  }
});

Deno.test("a signal during a dial ends the command, and a connection that opens afterwards is closed", async (t) => {
  using files = new Files(10);
  for (const command of [["check"], ["publish", files.path("orders.arrow")], ["verify", "-"]]) {
    await t.step(command[0]!, async () => {
      await using nats = await startNatsServer();
      const { port } = new URL(nats.url);
      const interrupt = new AbortController();
      let closed = 0;
      const held: (() => void)[] = [];
      // The server's greeting is held back until the command has ended.
      const gate = createServer((client) => {
        const upstream = createConnection(Number(port), "127.0.0.1");
        upstream.on("error", () => {});
        held.push(() => upstream.pipe(client));
        client.pipe(upstream);
        client.on("close", () => closed++).on("error", () => {});
        interrupt.abort(new DOMException("interrupted", "AbortError"));
      });
      await new Promise<void>((resolve) => gate.listen(0, "127.0.0.1", resolve));
      const url = `nats://127.0.0.1:${(gate.address() as { port: number }).port}`;
      const where = command[0] === "verify" ? [] : ["--stream", "S", "--subject", "s"];
      const { exitCode, err } = await jetrow([...command, "--url", url, ...where], { signal: interrupt.signal });
      assert.equal(exitCode, 130, err);
      for (const release of held) release();
      await until("a closed connection", () => closed === 1);
      await new Promise((resolve) => gate.close(resolve));
    });
  }
});
