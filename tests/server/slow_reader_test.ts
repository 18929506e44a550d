import assert from "node:assert/strict";
import { connect, Publisher, type WriteReceipt } from "../../src/runtime/deno.ts";
import { verifyReceipt } from "../../src/stream/verify/verify.ts";
import { sizedBatch } from "../_support/arrow/mod.ts";
import { type NatsServer, run, startNatsServer, startTcpProxy, type TcpProxy } from "../_support/nats/mod.ts";
import { bunProgram } from "../_support/runtimes.ts";
import { until } from "../_support/wait.ts";

/** Makes a reader pause repeatedly, so that the writer's socket accepts only part of what is written. */
async function readSlowly(proxy: TcpProxy, stops: number): Promise<void> {
  for (let stop = 1; stop <= stops; stop++) {
    await until(`${stop * 4} MiB through the proxy`, () => proxy.bytes.up >= stop * 2 ** 22 ? true : undefined, {
      within: 60_000,
    });
    proxy.stall("up");
    let seen = -1;
    await until("a writer that is held up", () => {
      if (seen === proxy.bytes.up) return true;
      seen = proxy.bytes.up;
    }, { every: 50 });
    proxy.resume("up");
  }
}

/** Asserts that `rows` rows of equal size are stored as they were encoded, in row order. */
async function checkWhole(server: NatsServer, receipt: WriteReceipt, rows: number): Promise<void> {
  assert.deepEqual([receipt.rows, receipt.bytes, receipt.duplicates], [rows, 2 ** 26, 0]);
  assert.deepEqual(receipt.sequences, [[1, rows]], "row order is stream order");
  await using nc = await connect({ url: server.url });
  const { bytes, crc32c } = receipt;
  assert.deepEqual(await verifyReceipt(nc, receipt), { ok: true, rows, bytes, crc32c, missing: 0 });
}

Deno.test("64 MiB of rows from Bun to a slow reader arrive whole and in order", async () => {
  const bun = await bunProgram();
  if (bun === undefined) return;
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  const program = new URL("_slow_reader.ts", import.meta.url).pathname;
  const publishing = run([bun, program, proxy.url], { within: 120_000 });
  const [{ out }] = await Promise.all([publishing, readSlowly(proxy, 8)]);
  await checkWhole(server, JSON.parse(out), 1024);
});

Deno.test("64 MiB of rows from Deno through a smaller window arrive whole and in order", async () => {
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  const config = { url: proxy.url, stream: "SLOW", subject: "slow", maxInFlight: 4096, publishTimeout: "60s" };
  const publisher = await Publisher.open(() => connect(config), config);
  const publishing = publisher.publish({ resource: "r", rows: sizedBatch(65_536, 1024) });
  const [receipt] = await Promise.all([publishing, readSlowly(proxy, 8)]);
  await publisher.close();
  await checkWhole(server, receipt, 65_536);
});
