import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { api, clientsOf, createStream, type NatsServer, startNatsServer, startTcpProxy } from "../_support/nats/mod.ts";
import { assertAgreement, assertFailure, assertWhole, failureOf } from "../_support/failed_publish.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import { until } from "../_support/wait.ts";
import { connect, openRun, openSession, publishAll, Publisher, type SinkConfig } from "../../src/runtime/deno.ts";
import { asAdmin, assertGone, storedRows } from "./_server.ts";

const sink = (url: string, more: Partial<SinkConfig> = {}): SinkConfig => ({
  url,
  name: "sink",
  stream: "ORDERS",
  subject: "orders.{resource}",
  ...more,
});
const eu = (rows: number, first = 0) => ({ resource: "eu", rows: idBatch(rows, { first }) });

Deno.test("publish() aborted before, during and after reports the right outcomes, on a real server", async () => {
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  proxy.delay({ up: 2, down: 2 });
  const config = sink(proxy.url, { maxInFlight: 50 });
  await using nc = await connect(config);
  const publisher = await Publisher.open(nc, config);
  const before = await failureOf(publisher.publish(eu(10), { signal: AbortSignal.abort() }));
  assertFailure(before, 10, { code: "publish.aborted", outcome: "none" });

  const abort = new AbortController();
  const during = failureOf(publisher.publish(eu(3000), { signal: abort.signal }));
  await until("some rows", () => publisher.stats().acked > 300, { every: 1 });
  abort.abort();
  const error = assertFailure(await during, 3000, { code: "publish.aborted", outcome: "uncertain" });
  await nc.flush(); // everything sent before has arrived
  assertAgreement(error, 3000, await asAdmin({ url: server.url }, (nc) => storedRows(nc)));

  const after = new AbortController();
  const again = await publisher.publish({ ...eu(3000), only: error.rowOutcomes.unsettled() }, { signal: after.signal });
  after.abort();
  assert.ok(again.duplicates! <= error.rowOutcomes.counts.unknown);
  await publisher.close();
  assertWhole(await asAdmin({ url: server.url }, (nc) => storedRows(nc)), 3000);
  const client = (await clientsOf(server)).find(({ name }) => name === "sink");
  assert.deepEqual(client?.subscriptions_list ?? [], [], "the inbox is gone, the connection stays");
  assert.ok(!nc.isClosed());
});

Deno.test("32 concurrent callers of one publisher on a real server each get their receipt, within the limits", async () => {
  await using server = await startNatsServer();
  const counts: number[] = [];
  const config = sink(server.url, { maxInFlight: 64, onProgress: ({ inFlight }) => void counts.push(inFlight) });
  const publisher = await Publisher.open(() => connect(config), config);
  const receipts = await Promise.all(Array.from({ length: 32 }, (_, call) => publisher.publish(eu(300, call * 300))));
  assert.deepEqual(
    receipts.map(({ sequences }) => sequences),
    receipts.map((_, call) => [[call * 300 + 1, call * 300 + 300]]),
  );
  assert.ok(counts.every((count) => count <= 64));
  await publisher.close();
  assertWhole(await asAdmin({ url: server.url }, (nc) => storedRows(nc)), 9600);
  await assertGone(server, "sink");
});

/** Blocks the event loop until the server has stored the rows: their acknowledgments are in the socket then. */
function waitForRows({ monitorUrl }: NatsServer, rows: number): void {
  const script = `while ((await (await fetch("${monitorUrl}/jsz")).json()).messages < ${rows});`;
  assert.equal(spawnSync(Deno.execPath(), ["eval", script], { timeout: 60_000 }).status, 0);
}

Deno.test("a blocked event loop causes no false timeout on a real server", async () => {
  await using server = await startNatsServer();
  const config = sink(server.url, { publishTimeout: "5s" });
  const publisher = await Publisher.open(() => connect(config), config);
  const publishing = publisher.publish(eu(1000));
  await until("rows on the wire", () => publisher.stats().inFlight === 1000, { every: 1 });
  const start = performance.now();
  waitForRows(server, 1000);
  while (performance.now() - start < 6000);
  assert.equal((await publishing).rows, 1000);
  await publisher.close();
});

Deno.test("a full window of rows is in flight over a link of 20 ms", async () => {
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  proxy.delay({ up: 10, down: 10 });
  const config = sink(proxy.url, { maxInFlight: 1024 });
  const publisher = await Publisher.open(() => connect(config), config);
  const publishing = publisher.publish({ resource: "eu", rows: numberBatch(10_000) });
  await until("a full window", () => publisher.stats().inFlight === 1024, { every: 1 });
  assert.equal((await publishing).rows, 10_000);
  await publisher.close();
});

Deno.test("bytes that arrive in slices of 7 make no difference", async () => {
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  const config = sink(proxy.url, { publishTimeout: "1m" });
  const publisher = await Publisher.open(() => connect(config), config);
  proxy.slice(7);
  assert.equal((await publisher.publish(eu(20))).rows, 20);
  await publisher.close();
  assertWhole(await asAdmin({ url: server.url }, (nc) => storedRows(nc)), 20);
});

Deno.test("disposing a run aborts it, and disposing a session ends its epoch, on a real server", async () => {
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  proxy.delay({ up: 5, down: 5 });
  const config = sink(proxy.url, { maxInFlight: 20, publishTimeout: "1m" });
  let left: Promise<unknown>;
  {
    await using run = await openRun(() => connect(config), config);
    left = failureOf(run.apply(eu(2000)));
    await until("some rows", () => run.stats().acked > 100, { every: 1 });
  }
  const error = assertFailure(await left, 2000, { code: "publish.aborted", outcome: "uncertain" });
  await assertGone(server, "sink");
  assertAgreement(error, 2000, await asAdmin({ url: server.url }, (nc) => storedRows(nc)));

  const session = await openSession(() => connect(config), config, "a");
  const ref = { attempt: "a", epoch: 1 };
  await session.beginEpoch(ref);
  await session.applyAll([{ ...eu(2000), only: error.rowOutcomes.unsettled() }], ref);
  const [total] = await session.commitEpoch(ref);
  assert.equal(total?.rows, error.rowOutcomes.unsettled().length);
  await session.close();
  await assertGone(server, "sink");
  assertWhole(await asAdmin({ url: server.url }, (nc) => storedRows(nc)), 2000);
});

Deno.test("publishAll() completes despite killed connections and a restarted server", async () => {
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  proxy.delay({ up: 1, down: 1 });
  const config = sink(proxy.url, { maxInFlight: 100 });
  let told = 0;
  const total = await publishAll(() => connect(config), config, [eu(4000), eu(4000, 4000), eu(4000, 8000)], {
    budget: "3m",
    batchMaxRows: 1000,
    onReceipt: async () => {
      told++;
      if (told === 2 || told === 5 || told === 6) proxy.cut();
      if (told === 8) {
        await server.kill();
        await server.restart();
      }
    },
  });
  assert.deepEqual([total.rows, told], [12_000, 12]);
  assertWhole(await asAdmin({ url: server.url }, (nc) => storedRows(nc)), 12_000);
  await assertGone(server, "sink");
});

Deno.test("a mirror of the stream stores the rows unchanged if they have no expected-stream header", async () => {
  await using server = await startNatsServer();
  const config = sink(server.url, { expectedStream: false });
  const publisher = await Publisher.open(() => connect(config), config);
  await asAdmin({ url: server.url }, (nc) => createStream(nc, { name: "COPY", mirror: { name: "ORDERS" } }));
  await publisher.publish(eu(100));
  await publisher.close();
  await asAdmin({ url: server.url }, async (nc) => {
    await until("the mirror", async () => {
      const info = await api(nc, "STREAM.INFO.COPY") as { state: { messages: number } };
      return info.state.messages === 100;
    });
    assertWhole(await storedRows(nc, "COPY"), 100);
  });
});

Deno.test("a publisher stays failed after its connection was lost, even if the client reconnected", async () => {
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url);
  const config = sink(proxy.url, { reconnect: true, publishTimeout: "1m", maxInFlight: 10 });
  await using nc = await connect(config);
  const publisher = await Publisher.open(nc, config);
  await publisher.publish(eu(10));
  proxy.cut();
  await until("another connection", () => proxy.accepted === 2 && proxy.open === 1);
  await nc.flush();
  const error = await failureOf(publisher.publish(eu(10, 10)));
  assertFailure(error, 10, { code: "publish.disconnected", outcome: "none" });
  assert.equal(publisher.stats().connected, false);
  await publisher.close();
  assert.ok(!nc.isClosed());
  const next = await Publisher.open(nc, config);
  assert.equal((await next.publish(eu(10, 10))).rows, 10);
  await next.close();
  assertWhole(await asAdmin({ url: server.url }, (nc) => storedRows(nc)), 20);
});

Deno.test("opening and dialling a server that never answers fail with a typed error, in time", async () => {
  await using server = await startNatsServer();
  await using nc = await connect(sink(server.url));
  await server.pause();
  try {
    const [opening, dialling] = await Promise.all([
      failureOf(Publisher.open(nc, sink(server.url))),
      failureOf(connect(sink(server.url, { connectTimeout: 300 }))),
    ]) as { name: string; code: string }[];
    assert.deepEqual([opening!.name, opening!.code], ["ConnectionError", "connection.no_answer"]);
    assert.deepEqual([dialling!.name, dialling!.code], ["ConnectionError", "connection.timeout"]);
  } finally {
    server.resume();
  }
  const publisher = await Publisher.open(nc, sink(server.url));
  assert.equal((await publisher.publish(eu(3))).rows, 3);
  await publisher.close();
});
