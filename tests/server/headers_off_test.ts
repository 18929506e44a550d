import assert from "node:assert/strict";
import { connect, type Options, Publisher, type PublishMode } from "../../src/runtime/deno.ts";
import { natsServerVersion, olderThan, startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";

const version = await natsServerVersion();
const OPTIONS: Options = { stream: "ORDERS", subject: "orders.{resource}", standardHeaders: false };
const MODES: readonly (readonly [mode: PublishMode, since: string])[] = [
  ["individual", "2.9.0"],
  ["atomic", "2.12.1"],
  ["fast", "2.14.0"],
];

for (const [publishMode, since] of MODES) {
  Deno.test({
    name: `without standard headers a message has only its body and its id (${publishMode})`,
    ignore: olderThan(since, version, `${publishMode}: rows without headers`),
    async fn() {
      await using server = await startNatsServer();
      await using nc = await connect({ url: server.url });
      await using publisher = await Publisher.open(nc, { ...OPTIONS, publishMode });
      const plain = await publisher.publish({ resource: "eu", rows: numberBatch(50) });
      const withIds = await publisher.publish({ resource: "eu", rows: idBatch(50) });
      assert.deepEqual([plain.rows, withIds.rows], [50, 50]);
      await publisher.publish({ resource: "eu", rows: idBatch(50) });
      const stored = await storedIn(nc, "ORDERS");
      assert.equal(stored.length, 100, "the replay is dropped by its ids");
      const names = (row: number) =>
        stored[row]!.headers.map(([name]) => name).filter((name) => !/^Nats-Batch/.test(name));
      assert.deepEqual([names(0), names(49), names(50), names(99)], [[], [], ["Nats-Msg-Id"], ["Nats-Msg-Id"]]);
      assert.deepEqual(
        stored.slice(0, 50).map(({ body }) => JSON.parse(body).n),
        Array.from({ length: 50 }, (_, n) => n),
      );
    },
  });
}

Deno.test("without standard headers, other headers and a time to live are sent, and null headers omitted", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, { ...OPTIONS, headers: { "X-A": "1" } });
  await publisher.publish({ resource: "eu", rows: numberBatch(2) });
  assert.deepEqual((await storedIn(nc, "ORDERS")).map(({ headers }) => headers), [[["X-A", "1"]], [["X-A", "1"]]]);
});

Deno.test("without standard headers a row can only be an insert", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, OPTIONS);
  for (const operations of ["delete", ["insert", "update"]] as const) {
    await assert.rejects(publisher.publish({ resource: "eu", rows: numberBatch(2), operations }), {
      code: "config.conflict",
      field: "operations",
    });
  }
  assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(2), operations: "insert" })).rows, 2);
});

Deno.test("a message without headers is sent without a header block over WebSocket, too", async () => {
  await using server = await startNatsServer({ websocket: true });
  await using nc = await connect({ url: server.wsUrl });
  await using publisher = await Publisher.open(nc, OPTIONS);
  await publisher.publish({ resource: "eu", rows: numberBatch(3) });
  assert.deepEqual((await storedIn(nc, "ORDERS")).map(({ headers }) => headers), [[], [], []]);
});
