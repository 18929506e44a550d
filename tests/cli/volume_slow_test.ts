/** 2 GiB through the command, from standard input and from a file: its memory does not grow with the input. */

import { StorageType } from "@nats-io/jetstream";
import { makeVector, RecordBatchFileWriter, Table, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, statSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { connect } from "../../src/runtime/deno.ts";
import type { WriteReceipt } from "../../src/types/mod.ts";
import { managerOf, type NatsServer, startNatsServer } from "../_support/nats/mod.ts";
import { printSkip } from "../_support/skip.ts";
import { COMMAND, ROOT } from "./_io.ts";

const GIB = 2 ** 30;
const BATCHES = 128;
const ROWS = 1024;
/** 16 KiB per row, so that a batch has 16 MiB and all batches 2 GiB. */
const TEXT = 16 * 1024;
/** The memory limit: two encoded pieces, two batches, the client's buffers, and the runtime itself. */
const MOST_MEMORY = 700 * 2 ** 20;

const ignore = !existsSync("/proc/self/status");
if (ignore) printSkip("2 GiB in flat memory", "there is no /proc to read a process's memory from");

function oneBatch(): Table {
  const text = "x".repeat(TEXT);
  const strings = Array.from({ length: ROWS }, (_, i) => text.slice(i % 100));
  return new Table({ id: makeVector(Int32Array.from(strings.keys())), text: vectorFromArray(strings, new Utf8()) });
}

/** A stream in memory that keeps a thousand messages, so that the server's store does not grow. */
async function smallStream(server: NatsServer): Promise<void> {
  const nc = await connect({ url: server.url });
  const manager = await managerOf(nc);
  await manager.streams.add({ name: "BIG", subjects: ["big.>"], storage: StorageType.Memory, max_msgs: 1000 });
  await nc.close();
}

interface Measured {
  readonly bytesIn: number;
  readonly seconds: number;
  readonly peak: number;
  readonly receipts: readonly WriteReceipt[];
}

async function measure(
  server: NatsServer,
  file: string,
  feed?: (stdin: Writable) => Promise<number>,
): Promise<Measured> {
  const started = performance.now();
  const [program, ...args] = [
    ...COMMAND,
    "publish",
    file,
    "--resource",
    "x",
    "--url",
    server.url,
    "--stream",
    "BIG",
    "--subject",
    "big.{resource}",
  ];
  const child = spawn(program!, args, { cwd: ROOT, stdio: [feed ? "pipe" : "ignore", "pipe", "inherit"] });
  let peak = 0;
  const sampling = setInterval(() => peak = Math.max(peak, peakMemory(child.pid!)), 50);
  const ended = new Promise<number | null>((resolve) => child.on("close", resolve));
  const out = textOf(child.stdout!);
  const bytesIn = feed ? await feed(child.stdin!) : statSync(file).size;
  const code = await ended;
  clearInterval(sampling);
  assert.equal(code, 0);
  const receipts = (await out).trimEnd().split("\n").map((line) => JSON.parse(line) as WriteReceipt);
  return { bytesIn, seconds: (performance.now() - started) / 1000, peak, receipts };
}

async function textOf(stream: Readable): Promise<string> {
  let text = "";
  for await (const part of stream) text += part;
  return text;
}

function peakMemory(pid: number): number {
  try {
    return 1024 * Number(/VmHWM:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

function check(what: string, { bytesIn, seconds, peak, receipts }: Measured): void {
  const rows = receipts.reduce((sum, receipt) => sum + receipt.rows, 0);
  // deno-lint-ignore no-console
  console.log(
    `${what}: ${(bytesIn / GIB).toFixed(2)} GiB, ${rows} rows in ${seconds.toFixed(1)} s ` +
      `(${(bytesIn / seconds / 1e6).toFixed(0)} MB/s), peak memory ${(peak / 2 ** 20).toFixed(0)} MiB`,
  );
  assert.equal(rows, BATCHES * ROWS);
  assert.ok(bytesIn > 1.98 * GIB);
  assert.ok(peak > 0 && peak < MOST_MEMORY, `peak memory: ${peak} bytes`);
}

Deno.test({
  name: "publish passes 2 GiB of standard input in constant memory",
  ignore,
  async fn() {
    await using server = await startNatsServer();
    await smallStream(server);
    const bytes = tableToIPC(oneBatch(), "stream");
    const schema = 8 + new DataView(bytes.buffer, bytes.byteOffset).getInt32(4, true);
    const batch = bytes.subarray(schema, bytes.length - 8);
    const measured = await measure(server, "-", async (stdin) => {
      const write = (part: Uint8Array) =>
        new Promise<void>((done, fail) => stdin.write(part, (e) => e ? fail(e) : done()));
      await write(bytes.subarray(0, schema));
      for (let i = 0; i < BATCHES; i++) await write(batch);
      await write(bytes.subarray(bytes.length - 8));
      stdin.end();
      return BATCHES * batch.length;
    });
    check("standard input", measured);
  },
});

Deno.test({
  name: "publish passes a file of 2 GiB in constant memory",
  ignore,
  async fn() {
    await using server = await startNatsServer();
    await smallStream(server);
    const folder = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "jetrow-volume-"));
    try {
      const path = join(folder, "big.arrow");
      await writeFile(path);
      check("a file", await measure(server, path));
    } finally {
      rmSync(folder, { recursive: true });
    }
  },
});

async function writeFile(path: string): Promise<void> {
  const writer = new RecordBatchFileWriter();
  const file = openSync(path, "w");
  const saving = (async () => {
    for await (const part of writer) writeSync(file, part);
  })();
  const [batch] = oneBatch().batches;
  for (let i = 0; i < BATCHES; i++) {
    writer.write(batch!);
    await new Promise((turn) => setTimeout(turn, 0));
  }
  writer.finish();
  await saving;
  closeSync(file);
}
