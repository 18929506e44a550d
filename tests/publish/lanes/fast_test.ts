import assert from "node:assert/strict";
import { idBatch, numberBatch, sizedBatch } from "../../_support/arrow/mod.ts";
import type { FakeConnection } from "../../_support/fake/mod.ts";
import { until } from "../../_support/wait.ts";
import { opener, publishFails, turn } from "../_batches.ts";
import { endAck, fastMessage, fastServer, flowAck, operationsOf } from "../_fast_server.ts";
import { onVirtualClock } from "../../_support/clock.ts";

const open = opener("fast");

Deno.test(
  "a fast batch waits for its first row's answer, and its last row ends it",
  onVirtualClock(async () => {
    const fake = fastServer(undefined, { manual: true });
    await using publisher = await open(fake);
    const call = publisher.publish({ resource: "eu", rows: idBatch(4) });
    await turn();
    assert.equal(operationsOf(fake), "start 1");
    fake.deliver();
    await turn();
    assert.equal(operationsOf(fake), "start 1, append 2, append 3, commit 4");
    fake.deliver();
    const receipt = await call;
    assert.deepEqual([receipt.rows, receipt.lastSequence], [4, 4]);
    for (const key of ["duplicates", "firstSequence", "sequences"]) assert.ok(!(key in receipt), key);
    const messages = fake.published.map(fastMessage);
    assert.deepEqual(new Set(messages.map(({ id, flow, gap }) => `${id} ${flow} ${gap}`)).size, 1);
    assert.deepEqual([messages[0]!.flow, messages[0]!.gap], [341, "fail"]);
    assert.deepEqual(fake.subscribed, [`${messages[0]!.inbox}.>`]);
    assert.equal(publisher.stats().inFlight, 0);
  }),
);

Deno.test(
  "a batch of one row is one message; a batch without rows is none",
  onVirtualClock(async () => {
    const fake = fastServer();
    await using publisher = await open(fake);
    assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(0) })).rows, 0);
    assert.equal(fake.published.length, 0);
    assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(1) })).lastSequence, 1);
    assert.equal(operationsOf(fake), "commit 1");
  }),
);

Deno.test(
  "both wires send the same messages",
  onVirtualClock(async () => {
    const [publishes, frames] = await Promise.all([false, true].map(async (frames) => {
      const fake = fastServer(undefined, { frames });
      await using publisher = await open(fake);
      await publisher.publish({ resource: "eu", rows: idBatch(30) });
      return fake.published.map((published) => [
        published.subject,
        new TextDecoder().decode(published.headers),
        new TextDecoder().decode(published.data),
        { ...fastMessage(published), inbox: "", id: "" },
      ]);
    }));
    assert.deepEqual(publishes, frames);
  }),
);

Deno.test(
  "lastSequence is absent when nothing new was stored",
  onVirtualClock(async () => {
    const fake = fastServer((message) =>
      message.operation === "commit" ? endAck(message.id, message.sequence, 0) : undefined
    );
    await using publisher = await open(fake);
    const receipt = await publisher.publish({ resource: "eu", rows: idBatch(3) });
    assert.ok(!("lastSequence" in receipt));
    const one = fastServer(({ id }) => endAck(id, 1, 7, { duplicate: true }));
    await using other = await open(one);
    assert.ok(!("lastSequence" in await other.publish({ resource: "eu", rows: idBatch(1) })));
  }),
);

Deno.test(
  "rows after the last answer stay within maxInFlight, in one batch",
  onVirtualClock(async () => {
    for (const maxInFlight of [1, 2, 3, 7, 40, 100]) {
      let most = 0;
      let acked = 0;
      const fake = fastServer(({ sequence }, _, good) => {
        most = Math.max(most, sequence - acked);
        const answers = good();
        for (const { body } of answers) {
          acked = (body as { type?: string; seq: number }).type === "ack" ? (body as { seq: number }).seq : acked;
        }
        return answers;
      });
      await using publisher = await open(fake, { maxInFlight });
      assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(333) })).rows, 333);
      assert.ok(most <= maxInFlight, `${most} rows behind, maxInFlight ${maxInFlight}`);
      assert.equal(new Set(fake.published.map((row) => fastMessage(row).id)).size, 1);
    }
  }),
);

Deno.test(
  "outstanding rows never exceed the limits by count or bytes",
  onVirtualClock(async () => {
    const size = 300;
    const fake: FakeConnection = fastServer(undefined, { manual: true });
    await using publisher = await open(fake, { maxInFlightBytes: 20_000, maxInFlight: 30 });
    const call = publisher.publish({ resource: "eu", rows: sizedBatch(200, size) });
    let most = 0;
    await until("the batch", async () => {
      const { inFlight, inFlightBytes } = publisher.stats();
      most = Math.max(most, inFlight);
      assert.ok(inFlight <= 30 && inFlightBytes <= 20_000, `${inFlight} rows, ${inFlightBytes} bytes`);
      fake.deliver();
      await turn();
      return publisher.stats().acked === 200;
    });
    assert.equal((await call).rows, 200);
    assert.ok(most > 20, `${most} rows at a time`);
  }),
);

Deno.test(
  "a batch is ended when its rows grow too large for another answer, and the next one begins",
  onVirtualClock(async () => {
    const fake = fastServer();
    await using publisher = await open(fake, { maxInFlightBytes: 60_000, maxInFlight: 1000 });
    const calls = [sizedBatch(50, 30), sizedBatch(20, 20_000)].map((rows) =>
      publisher.publish({ resource: "eu", rows })
    );
    const receipts = await Promise.all(calls);
    assert.deepEqual(receipts.map(({ rows }) => rows), [50, 20]);
    assert.ok(new Set(fake.published.map((row) => fastMessage(row).id)).size > 1);
  }),
);

Deno.test(
  "small calls share a batch; a large call has its own",
  onVirtualClock(async () => {
    const fake = fastServer();
    await using publisher = await open(fake, { maxInFlight: 100 });
    const calls = Array.from(
      { length: 20 },
      (_, i) => publisher.publish({ resource: `r${i % 2}`, rows: numberBatch(5, i) }),
    );
    await Promise.all(calls);
    const shared = new Set(fake.published.map((row) => fastMessage(row).id)).size;
    assert.ok(shared <= 2, `${shared} batches for 20 calls of 5 rows`);
    const [small, large] = await Promise.all([
      publisher.publish({ resource: "eu", rows: numberBatch(5) }),
      publisher.publish({ resource: "eu", rows: numberBatch(200) }),
    ]);
    assert.deepEqual([small!.rows, large!.rows], [5, 200]);
    assert.equal(large!.lastSequence, 20 * 5 + 205);
  }),
);

Deno.test(
  "a call that waits for the next call's rows does not wait long",
  onVirtualClock(async () => {
    const fake = fastServer();
    await using publisher = await open(fake);
    const first = publisher.publish({ resource: "eu", rows: numberBatch(5) });
    const second = publisher.publish({ resource: "us", rows: numberBatch(5) });
    assert.equal((await first).rows + (await second).rows, 10);
  }),
);

Deno.test(
  "a batch without answers is pinged for its progress",
  onVirtualClock(async () => {
    const fake = fastServer(({ operation }, _, good) => operation === "append" ? (good(), []) : undefined);
    await using publisher = await open(fake, { maxInFlight: 16, publishTimeout: 300 });
    assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(40) })).rows, 40);
    assert.match(operationsOf(fake), /ping/);
  }),
);

Deno.test(
  "an aborted call's rows are unknown, and the other rows of its batch are published",
  onVirtualClock(async () => {
    const fake = fastServer(undefined, { manual: true });
    await using publisher = await open(fake);
    const abort = new AbortController();
    const kept = publisher.publish({ resource: "eu", rows: numberBatch(5) });
    const expected = { code: "publish.aborted", counts: { unknown: 6 } } as const;
    const failing = publishFails(publisher, numberBatch(6), expected, abort.signal);
    await turn();
    fake.deliver();
    await turn();
    assert.equal(publisher.stats().inFlight, 11);
    abort.abort(new Error("enough"));
    await failing;
    assert.equal(publisher.stats().inFlight, 5);
    fake.deliver();
    await kept;
    const again = publisher.publish({ resource: "eu", rows: numberBatch(1) });
    await turn();
    fake.deliver();
    assert.equal((await again).rows, 1);
  }),
);

Deno.test(
  "an abort while the batch opens ends the batch",
  onVirtualClock(async () => {
    const fake = fastServer(undefined, { manual: true });
    await using publisher = await open(fake);
    const abort = new AbortController();
    const expected = { code: "publish.aborted", counts: { unknown: 1, unsent: 5 } } as const;
    const failing = publishFails(publisher, numberBatch(6), expected, abort.signal);
    await turn();
    abort.abort();
    await failing;
    const again = publisher.publish({ resource: "eu", rows: numberBatch(1) });
    await turn();
    fake.deliver();
    await turn();
    fake.deliver();
    assert.equal((await again).rows, 1);
    assert.equal(operationsOf(fake), "start 1, commit 1, end 2");
  }),
);

Deno.test(
  "answers to other batches, repeated and late ones settle nothing",
  onVirtualClock(async () => {
    const fake = fastServer(undefined, { manual: true });
    await using publisher = await open(fake);
    const call = publisher.publish({ resource: "eu", rows: numberBatch(3) });
    await turn();
    const [start] = fake.published;
    const { inbox, id } = fastMessage(start!);
    for (
      const subject of [
        `${inbox}.1`,
        `${inbox}.other.256.fail.3.2.$FI`,
        `${inbox}.${id}.256.ok.3.2.$FI`,
        `${inbox}.${id}.x`,
      ]
    ) {
      fake.answer(start!, { ...endAck(id, 1), subject });
    }
    fake.deliver();
    await turn();
    assert.equal(publisher.stats().acked, 0);
    fake.answer(start!, flowAck(0, 256));
    fake.deliver();
    await call;
    fake.answer(start!, endAck(id, 3));
    fake.deliver();
    assert.equal(publisher.stats().acked, 3);
  }),
);
