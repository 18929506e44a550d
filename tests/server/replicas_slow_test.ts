import assert from "node:assert/strict";
import { connect, type Options, Publisher, verifyReceipt, type WriteReceipt } from "../../src/runtime/deno.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import {
  addStream,
  api,
  infoOf,
  natsServerVersion,
  olderThan,
  startNatsCluster,
  storedIn,
} from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";
import { rowsOnce } from "./_rows_once.ts";

const server = await natsServerVersion();
const ORDERS: Options = { stream: "ORDERS", subject: "orders.{resource}" };

Deno.test({
  name: "atomic batches are whole, and each row is stored once, when the leader of three replicas is killed",
  ignore: olderThan("2.12.1", server, "atomic batches"),
  async fn() {
    await using cluster = await startNatsCluster({ nodes: 3 });
    const urls = [...cluster.urls];
    await using nc = await connect({ url: urls, reconnect: true });
    await addStream(nc, {
      name: "ORDERS",
      subjects: ["orders.>"],
      num_replicas: 3,
      duplicate_window: 600e9,
      allow_atomic: true,
    });
    const leader = await cluster.leaderOf("ORDERS");
    const others = urls.filter((url) => url !== leader.url);
    await using other = await connect({ url: others });
    const rows = 40;
    const batches = 60;
    await using publisher = await Publisher.open(other, {
      ...ORDERS,
      publishMode: "atomic",
      retry: { budget: "3m" },
    });
    const receipts: WriteReceipt[] = [];
    for (let i = 0; i < batches; i++) {
      const publishing = publisher.publish({ resource: "eu", rows: idBatch(rows, { first: i * rows }) });
      if (i === 20) await leader.kill();
      receipts.push(await publishing);
    }
    await cluster.ready();
    const stored = await storedIn(other, "ORDERS");
    assert.deepEqual(stored.map(({ body }) => JSON.parse(body).n), Array.from({ length: batches * rows }, (_, i) => i));
    assert.deepEqual(receipts.map(({ sequences }) => sequences!.length), Array(batches).fill(1));
  },
});

Deno.test({
  name: "fast batches store each row once when the leader of three replicas is killed, and when it steps down",
  ignore: olderThan("2.14.0", server, "fast batches"),
  async fn() {
    await using cluster = await startNatsCluster({ nodes: 3 });
    const urls = [...cluster.urls];
    await using nc = await connect({ url: urls, reconnect: true });
    await addStream(nc, {
      name: "ORDERS",
      subjects: ["orders.>"],
      num_replicas: 3,
      duplicate_window: 600e9,
      allow_batched: true,
    });
    const leader = await cluster.leaderOf("ORDERS");
    await using other = await connect({ url: urls.filter((url) => url !== leader.url) });
    await using publisher = await Publisher.open(other, { ...ORDERS, publishMode: "fast", retry: { budget: "3m" } });
    const rows = 30_000;
    const publishing = publisher.publish({ resource: "eu", rows: idBatch(rows) });
    await until("some rows", () => publisher.stats().acked > 5000, { every: 1 });
    await leader.kill();
    await until("more rows", () => publisher.stats().acked > 15_000, { every: 1 });
    // A cluster that has just lost a node may leave a request unanswered.
    await until("a step-down", () => api(other, "STREAM.LEADER.STEPDOWN.ORDERS"));
    assert.equal((await publishing).rows, rows);
    await cluster.ready();
    assert.equal((await infoOf(other, "ORDERS")).state.messages, rows);
    assert.equal(await rowsOnce(other, rows), rows);
  },
});

Deno.test("three replicas have every acknowledged row, in order, each once", async () => {
  await using cluster = await startNatsCluster({ nodes: 3 });
  await using nc = await connect({ url: [...cluster.urls], reconnect: true });
  await addStream(nc, { name: "ORDERS", subjects: ["orders.>"], num_replicas: 3 });
  await using publisher = await Publisher.open(nc, ORDERS);
  const batch = { resource: "eu", rows: idBatch(50) };
  const receipt = await publisher.publish(batch);
  const again = await publisher.publish(batch);
  assert.deepEqual([receipt.sequences, again.duplicates, again.sequences], [[[1, 50]], 50, [[1, 50]]]);
  const leader = await cluster.leaderOf("ORDERS");
  await leader.kill();
  await cluster.leaderOf("ORDERS");
  await cluster.ready(); // the killed node may also have led the cluster
  await using other = await connect({ url: cluster.nodes.filter((node) => node.running()).map(({ url }) => url) });
  assert.ok((await verifyReceipt(other, receipt)).ok, "acknowledged by a majority");
});
