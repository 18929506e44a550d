import assert from "node:assert/strict";
import { headers, type NatsConnection, nuid } from "@nats-io/nats-core";
import { connect, openRun, type Options, Publisher, type WriteReceipt } from "../../src/runtime/deno.ts";
import { publishErrorOf } from "../_support/failed_publish.ts";
import { idBatch, numberBatch, sizedBatch } from "../_support/arrow/mod.ts";
import {
  addStream,
  infoOf,
  managerOf,
  natsServerVersion,
  olderThan,
  passwordUsers,
  publisherPermissions,
  startNatsServer,
  storedIn,
} from "../_support/nats/mod.ts";

const server = await natsServerVersion();
const skipOld = olderThan("2.12.1", server, "atomic batches");
const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: skipOld, fn });

const OPTIONS: Options = { stream: "ORDERS", subject: "orders.{resource}", publishMode: "atomic" };

/** Sends rows of a batch without jetrow. */
function sendRaw(nc: NatsConnection, subject: string, rows: number, commit: boolean): void {
  const id = nuid.next();
  for (let i = 1; i <= rows; i++) {
    const block = headers();
    block.set("Nats-Batch-Id", id);
    block.set("Nats-Batch-Sequence", String(i));
    if (commit && i === rows) block.set("Nats-Batch-Commit", "1");
    nc.publish(subject, `{"raw":${i}}`, { headers: block });
  }
}

test("concurrent atomic batches are each stored whole, and receipts name their rows", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, OPTIONS);
  assert.equal((await infoOf(nc, "ORDERS")).config.allow_atomic, true, "created with the flag");
  const receipts = await Promise.all(
    [3, 1, 250].map((rows, i) => publisher.publish({ resource: "eu", rows: idBatch(rows, { first: i * 1000 }) })),
  );
  assert.deepEqual(receipts.map(({ sequences }) => sequences), [[[1, 3]], [[4, 4]], [[5, 254]]]);
  const stored = await storedIn(nc, "ORDERS");
  assert.deepEqual(stored.slice(0, 5).map(({ body }) => JSON.parse(body).n), [0, 1, 2, 1000, 2000]);
  assert.deepEqual(stored[2]!.headers.map(([name]) => name), [
    "Content-Type",
    "Filament-Operation",
    "Nats-Expected-Stream",
    "Nats-Msg-Id",
    "Nats-Batch-Id",
    "Nats-Batch-Sequence",
    "Nats-Batch-Commit",
  ]);
});

test("a replayed batch is acknowledged if all its rows are in the stream, and refused if only some are", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const first = await Publisher.open(nc, OPTIONS);
  await first.publish({ resource: "us", rows: numberBatch(700) });
  const receipt = await first.publish({ resource: "eu", rows: idBatch(900) });
  await first.publish({ resource: "us", rows: numberBatch(900) });
  const again = await first.publish({ resource: "eu", rows: idBatch(900) });
  assert.deepEqual(again, { ...receipt, duplicates: 900 });
  const error = await publishErrorOf(first.publish({ resource: "eu", rows: idBatch(20, { first: 890 }) }));
  assert.deepEqual([error.code, error.serverCode, error.outcome], ["publish.rejected", 10201, "partial"]);
  assert.deepEqual([error.rowOutcomes.counts.duplicate, error.rowOutcomes.counts.rejected], [10, 10]);
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 2500);
  // Its remaining rows can be published on their own.
  await using second = await Publisher.open(nc, OPTIONS);
  const rest = { resource: "eu", rows: idBatch(20, { first: 890 }), only: error.rowOutcomes.unsettled() };
  assert.equal((await second.publish(rest)).rows, 10);
});

test("rows whose ids the server knows but no message has are refused, not acknowledged", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, OPTIONS);
  await publisher.publish({ resource: "eu", rows: idBatch(5) });
  await (await managerOf(nc)).streams.purge("ORDERS");
  const error = await publishErrorOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
  assert.deepEqual([error.serverCode, error.rowOutcomes.counts.rejected], [10201, 5]);
});

test("a replay whose rows cannot be read is unknown", async () => {
  const permissions = publisherPermissions({ stream: "ORDERS", subjects: ["orders.*"], inboxPrefix: "_WORKER" });
  await using server = await startNatsServer({
    config: passwordUsers({ username: "admin", password: "all" }, { username: "worker", password: "few", permissions }),
  });
  const login = (username: string, password: string) =>
    connect({ url: server.url, authMode: "user_password", username, password });
  await using boss = await login("admin", "all");
  await addStream(boss, { name: "ORDERS", subjects: ["orders.*"], allow_atomic: true });
  await using nc = await login("worker", "few");
  await using publisher = await Publisher.open(nc, { ...OPTIONS, inboxPrefix: "_WORKER" });
  await publisher.publish({ resource: "eu", rows: idBatch(5) });
  const error = await publishErrorOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
  assert.deepEqual([error.code, error.serverCode, error.outcome], ["publish.rejected", 10201, "uncertain"]);
  assert.equal(error.rowOutcomes.counts.unknown, 5);
  assert.match(error.message, /STREAM\.MSG\.GET/);
});

test("a user who may not publish to the subject gets publish.permission in every mode", async () => {
  const permissions = publisherPermissions({ stream: "ORDERS", subjects: ["orders.us"], inboxPrefix: "_WORKER" });
  await using server = await startNatsServer({
    config: passwordUsers({ username: "admin", password: "all" }, { username: "worker", password: "few", permissions }),
  });
  const login = (username: string, password: string) =>
    connect({ url: server.url, authMode: "user_password", username, password });
  await using boss = await login("admin", "all");
  await addStream(boss, { name: "ORDERS", subjects: ["orders.*"], allow_atomic: true, allow_batched: true } as never);
  const modes = [["individual", 0], ["atomic", 5], ["fast", 4]] as const;
  // Concurrently: each waits for the publish timeout.
  await Promise.all(modes.map(async ([publishMode, unsent]) => {
    if (publishMode === "fast" && olderThan("2.14.0", server, "fast batches")) return;
    const options = { ...OPTIONS, publishMode, inboxPrefix: "_WORKER", publishTimeout: 5000 };
    await using nc = await login("worker", "few");
    await using publisher = await Publisher.open(nc, options);
    assert.equal((await publisher.publish({ resource: "us", rows: numberBatch(2) })).rows, 2);
    // As another publisher, for which this is the stream's first batch.
    await using fresh = await Publisher.open(nc, options);
    const error = await publishErrorOf(fresh.publish({ resource: "eu", rows: numberBatch(5) }));
    assert.deepEqual([error.code, error.rowOutcomes.counts.unsent], ["publish.permission", unsent], publishMode);
  }));
});

Deno.test("opening is refused if the stream does not allow atomic batches", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "ORDERS", subjects: ["orders.>"] });
  await assert.rejects(Publisher.open(nc, OPTIONS), { name: "RouteError", code: "route.batch_flag" });
});

test("a removed flag, a deleted stream and a refused row end a batch with nothing stored", async () => {
  const cases = [
    ["publish.rejected", 10174, async (nc: NatsConnection) => {
      await (await managerOf(nc)).streams.update("ORDERS", { allow_atomic: false });
    }],
    ["publish.no_responders", 503, async (nc: NatsConnection) => {
      await (await managerOf(nc)).streams.delete("ORDERS");
    }],
    ["publish.rejected", 10077, async (nc: NatsConnection) => {
      await (await managerOf(nc)).streams.update("ORDERS", { discard: "new" as never, max_msgs: 7 });
    }],
    ["publish.rejected", 10109, async (nc: NatsConnection) => {
      await (await managerOf(nc)).streams.update("ORDERS", { sealed: true } as never);
    }],
  ] as const;
  for (const [code, serverCode, change] of cases) {
    for (const known of [false, true]) {
      await using server = await startNatsServer();
      await using nc = await connect({ url: server.url });
      await using publisher = await Publisher.open(nc, OPTIONS);
      if (known) await publisher.publish({ resource: "eu", rows: numberBatch(4) });
      await change(nc);
      const error = await publishErrorOf(publisher.publish({ resource: "eu", rows: idBatch(10) }));
      const { unsent, rejected } = error.rowOutcomes.counts;
      assert.equal(error.code === code || error.serverCode === 10176, true, `${error.message}`);
      if (!known) assert.equal(error.serverCode, serverCode, error.message);
      assert.match(error.message, new RegExp(String(serverCode)));
      assert.equal(unsent + rejected, 10, error.message);
      if (serverCode !== 503) assert.equal((await infoOf(nc, "ORDERS")).state.messages, known ? 4 : 0);
    }
  }
});

test("a server with lower limits of its own refuses the batch, and nothing is stored", async () => {
  const limits = "limits { batch { max_msgs: 100, max_inflight_per_stream: 1 } }";
  await using server = await startNatsServer({ jetstream: limits });
  await using nc = await connect({ url: server.url });
  const large = await Publisher.open(nc, OPTIONS);
  assert.equal((await large.publish({ resource: "eu", rows: numberBatch(100) })).rows, 100);
  const error = await publishErrorOf(large.publish({ resource: "eu", rows: numberBatch(101) }));
  assert.match(error.message, /10199|10176/);
  assert.equal(error.rowOutcomes.counts.rejected, 101);
  const second = await Publisher.open(nc, OPTIONS);
  sendRaw(nc, "orders.eu", 2, false);
  const busy = await publishErrorOf(second.publish({ resource: "eu", rows: numberBatch(3) }));
  assert.deepEqual([busy.code, busy.serverCode], ["publish.overloaded", 10210]);
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 100);
});

test("applyAll() cuts batches at 1000 rows and at the window's size", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const cut = async (options: Partial<Options>, rows: number, bytes: number): Promise<readonly WriteReceipt[]> => {
    const receipts: WriteReceipt[] = [];
    await using run = await openRun(nc, { ...OPTIONS, ...options });
    const batches = [{ resource: "eu", rows: sizedBatch(rows, bytes) }];
    await run.applyAll(batches, { onReceipt: (receipt) => void receipts.push(receipt) });
    assert.equal((await run.commit()).rows, rows);
    return receipts;
  };
  assert.deepEqual((await cut({}, 2500, 50)).map(({ rows }) => rows), [1000, 1000, 500]);
  assert.deepEqual((await cut({ maxInFlight: 400 }, 1000, 50)).map(({ rows }) => rows), [400, 400, 200]);
  const byBytes = await cut({ maxInFlightBytes: 100_000 }, 100, 5000);
  assert.ok(byBytes.length > 5 && byBytes.every(({ rows }) => rows < 20), `${byBytes.length} pieces`);
  assert.equal(byBytes.reduce((sum, { rows }) => sum + rows, 0), 100);
  for (const { sequences } of byBytes) assert.equal(sequences!.length, 1);
});
