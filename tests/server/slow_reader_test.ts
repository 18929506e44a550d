import assert from "node:assert/strict";
import { connect, type WriteReceipt } from "../../src/runtime/deno.ts";
import { verifyReceipt } from "../../src/stream/verify.ts";
import { startNatsServer } from "../_support/nats_server.ts";
import { run } from "../_support/nats_workshop.ts";
import { bunProgram } from "../_support/runtimes.ts";
import { startTcpProxy } from "../_support/tcp_proxy.ts";
import { until } from "../_support/wait.ts";

Deno.test("on Bun, 64 MiB of rows to a slow reader arrive whole and in order", async () => {
  const bun = await bunProgram();
  if (bun === undefined) return;
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  const program = new URL("_slow_reader.ts", import.meta.url).pathname;
  const publishing = run([bun, program, proxy.url], { within: 120_000 });
  // The reader stops again and again: the writer's socket takes only a part of what it is given.
  const reading = (async () => {
    for (let stop = 1; stop <= 8; stop++) {
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
  })();
  const [{ out }] = await Promise.all([publishing, reading]);
  const receipt: WriteReceipt = JSON.parse(out);
  assert.deepEqual([receipt.rows, receipt.bytes, receipt.duplicates], [1024, 2 ** 26, 0]);
  assert.deepEqual(receipt.sequences, [[1, 1024]], "row order is stream order");
  await using nc = await connect({ url: server.url });
  assert.deepEqual(await verifyReceipt(nc, receipt), {
    ok: true,
    rows: 1024,
    bytes: 2 ** 26,
    crc32c: receipt.crc32c,
    missing: 0,
  });
});
