import assert from "node:assert/strict";
import { connect, openRun, type Options, publishAll, Publisher, type WriteReceipt } from "../../src/runtime/deno.ts";
import { publishErrorOf } from "../_support/failed_publish.ts";
import {
  addStream,
  infoOf,
  managerOf,
  natsServerVersion,
  olderThan,
  startNatsServer,
  storedIn,
} from "../_support/nats/mod.ts";
import { idBatch, numberBatch, sizedBatch } from "../_support/arrow/mod.ts";
import { until } from "../_support/wait.ts";
import { rowsOnce } from "./_rows_once.ts";

const server = await natsServerVersion();
const skipOld = olderThan("2.14.0", server, "fast batches");
const test = (name: string, fn: () => Promise<void>) => Deno.test({ name, ignore: skipOld, fn });

const OPTIONS: Options = { stream: "ORDERS", subject: "orders.{resource}", publishMode: "fast" };

const numbersOf = (stored: readonly { body: string }[]): number[] => stored.map(({ body }) => JSON.parse(body).n);
const upTo = (count: number): number[] => Array.from({ length: count }, (_, n) => n);

test("rows are stored in order, and the receipt says what the server reports", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, OPTIONS);
  assert.equal((await infoOf(nc, "ORDERS")).config.allow_batched, true, "created with the flag");
  const receipt = await publisher.publish({ resource: "eu", rows: idBatch(700) });
  const { rows, lastSequence } = receipt;
  assert.deepEqual({ rows, lastSequence }, { rows: 700, lastSequence: 700 });
  for (const key of ["duplicates", "firstSequence", "sequences"]) assert.ok(!(key in receipt), key);
  const replay = await publisher.publish({ resource: "eu", rows: idBatch(700) });
  assert.deepEqual([replay.rows, replay.crc32c, "lastSequence" in replay], [700, receipt.crc32c, false]);
  assert.equal((await publisher.publish({ resource: "eu", rows: idBatch(1, { first: 1000 }) })).lastSequence, 701);
  const stored = await storedIn(nc, "ORDERS");
  assert.deepEqual(numbersOf(stored), [...upTo(700), 1000]);
  assert.deepEqual(stored[0]!.headers.map(([name]) => name), [
    "Content-Type",
    "Filament-Operation",
    "Nats-Expected-Stream",
    "Nats-Msg-Id",
  ]);
});

test("every window size needs several batches, and each large piece knows its last sequence", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  for (const maxInFlight of [1, 3, 50, 1024, 5000]) {
    const before = maxInFlight === 1 ? 0 : (await infoOf(nc, "ORDERS")).state.last_seq;
    await using run = await openRun(nc, { ...OPTIONS, maxInFlight });
    const rows = maxInFlight < 10 ? 300 : 9000;
    const receipts: WriteReceipt[] = [];
    const batches = [{ resource: "eu", rows: numberBatch(rows) }];
    await run.applyAll(batches, { batchMaxRows: rows / 3, onReceipt: (receipt) => void receipts.push(receipt) });
    const total = await run.commit();
    assert.deepEqual([total.rows, "duplicates" in total], [rows, false]);
    assert.equal((await infoOf(nc, "ORDERS")).state.last_seq, before + rows);
    if (rows / 3 < maxInFlight) continue;
    assert.deepEqual(receipts.map(({ lastSequence }) => lastSequence), [1, 2, 3].map((k) => before + k * rows / 3));
  }
});

test("many small concurrent calls, of several subjects and publishers, are all stored", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using one = await Publisher.open(nc, OPTIONS);
  await using two = await Publisher.open(nc, OPTIONS);
  const calls = Array.from(
    { length: 300 },
    (_, i) => (i % 2 === 0 ? one : two).publish({ resource: `r${i % 3}`, rows: numberBatch(1 + i % 9) }),
  );
  const receipts = await Promise.all(calls);
  const rows = receipts.reduce((sum, receipt) => sum + receipt.rows, 0);
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, rows);
});

test("each stream gets its own batches", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const options: Options = { ...OPTIONS, stream: "S_{resource}", subject: "{resource}.rows" };
  await using publisher = await Publisher.open(nc, options);
  const calls = Array.from(
    { length: 40 },
    (_, i) => publisher.publish({ resource: "abc"[i % 3]!, rows: numberBatch(5, i * 5) }),
  );
  await Promise.all(calls);
  for (const [i, resource] of [..."abc"].entries()) {
    const stored = numbersOf(await storedIn(nc, `S_${resource}`));
    assert.deepEqual(stored, upTo(200).filter((n) => Math.floor(n / 5) % 3 === i));
  }
});

Deno.test("opening is refused if the stream does not allow fast batches", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "ORDERS", subjects: ["orders.>"] });
  await assert.rejects(Publisher.open(nc, OPTIONS), { name: "RouteError", code: "route.batch_flag" });
});

test("a row for which the stream has no room ends the batch: acked rows are stored, rejected ones are not", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const limits = { discard: "new" as never, max_msgs: 1500 };
  await addStream(nc, { name: "ORDERS", subjects: ["orders.>"], allow_batched: true, ...limits });
  await using publisher = await Publisher.open(nc, OPTIONS);
  const error = await publishErrorOf(publisher.publish({ resource: "eu", rows: numberBatch(4000) }));
  assert.deepEqual([error.code, error.serverCode, error.row, error.outcome], [
    "publish.rejected",
    10077,
    1500,
    "partial",
  ]);
  assert.equal(error.rowOutcomes.counts.acked, 1500);
  assert.deepEqual(numbersOf(await storedIn(nc, "ORDERS")), upTo(1500));
});

test("a removed flag and a deleted stream are reported with what is stored", async () => {
  for (const gone of [false, true]) {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    await using publisher = await Publisher.open(nc, OPTIONS);
    await publisher.publish({ resource: "eu", rows: numberBatch(4) });
    const { streams } = await managerOf(nc);
    if (gone) await streams.delete("ORDERS");
    else await streams.update("ORDERS", { allow_batched: false });
    const error = await publishErrorOf(publisher.publish({ resource: "eu", rows: numberBatch(10) }));
    assert.deepEqual([error.serverCode, error.outcome], [gone ? 503 : 10205, "partial"]);
    const { rejected, unsent } = error.rowOutcomes.counts;
    assert.deepEqual([rejected, unsent], [1, 9]);
  }
});

test("fast delivery is not atomic: rows that an aborted call has sent may be stored", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, OPTIONS);
  const abort = new AbortController();
  const failing = publishErrorOf(
    publisher.publish({ resource: "eu", rows: numberBatch(50_000) }, { signal: abort.signal }),
  );
  await until("some rows", () => publisher.stats().acked > 2000, { every: 1 });
  abort.abort(new Error("enough"));
  const { code, outcome, rowOutcomes: { counts } } = await failing;
  assert.deepEqual([code, outcome], ["publish.aborted", "uncertain"]);
  assert.ok(counts.acked > 2000 && counts.unknown > 0 && counts.unsent > 0, JSON.stringify(counts));
  // The publisher stays usable; no further row of the call is sent.
  assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(3) })).rows, 3);
  const stored = (await infoOf(nc, "ORDERS")).state.messages - 3;
  assert.ok(stored >= counts.acked && stored <= counts.acked + counts.unknown, `${stored} stored`);
});

test("a killed server leaves unacknowledged rows unknown, and acknowledged rows stored", async () => {
  await using server = await startNatsServer();
  const config = { url: server.url, ...OPTIONS };
  const publisher = await Publisher.open(() => connect(config), config);
  const failing = publishErrorOf(publisher.publish({ resource: "eu", rows: sizedBatch(50_000, 100) }));
  await until("some rows", () => publisher.stats().acked > 2000, { every: 1 });
  await server.kill();
  const { code, outcome, rowOutcomes: { counts } } = await failing;
  assert.deepEqual([code, outcome], ["publish.disconnected", "uncertain"]);
  await server.restart();
  await using nc = await connect({ url: server.url });
  const stored = (await infoOf(nc, "ORDERS")).state.messages;
  assert.ok(stored >= counts.acked && stored <= counts.acked + counts.unknown, `${stored}, ${JSON.stringify(counts)}`);
});

test("publishAll() continues after kills of the server, and each row is stored once", async () => {
  for (const publishMode of ["fast", "atomic"] as const) {
    await using server = await startNatsServer();
    const config = { url: server.url, ...OPTIONS, publishMode };
    const rows = 20_000;
    let told = 0;
    let kills = 0;
    let back: Promise<void> = Promise.resolve();
    const publishing = publishAll(
      async () => {
        await back;
        return await connect(config);
      },
      config,
      [{ resource: "eu", rows: idBatch(rows) }],
      {
        batchMaxRows: 500,
        budget: "2m",
        onReceipt: (receipt) => {
          told += receipt.rows;
          if (told > (kills + 1) * 6000 && kills++ < 2) back = server.kill().then(() => server.restart());
        },
      },
    );
    const total = await publishing;
    assert.deepEqual([total.rows, told, kills >= 2], [rows, rows, true]);
    await back;
    await using nc = await connect({ url: server.url });
    assert.equal((await infoOf(nc, "ORDERS")).state.messages, rows, publishMode);
    assert.equal(await rowsOnce(nc, rows), rows, publishMode);
  }
});
