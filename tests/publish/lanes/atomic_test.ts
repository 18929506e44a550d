import assert from "node:assert/strict";
import { idBatch, numberBatch, sizedBatch } from "../../_support/arrow/mod.ts";
import { atomicServer, batchRow } from "../_atomic_server.ts";
import { opener, turn } from "../_batches.ts";
import { onVirtualClock } from "../../_support/clock.ts";

const open = opener("atomic");

Deno.test(
  "an atomic batch waits for its first row's answer, and then only the last row requests an answer",
  onVirtualClock(async () => {
    const fake = atomicServer(undefined, { manual: true });
    await using publisher = await open(fake);
    const call = publisher.publish({ resource: "eu", rows: idBatch(4) });
    await turn();
    assert.equal(fake.published.length, 1, "the first row alone");
    assert.equal(publisher.stats().inFlight, 4, "all rows are outstanding");
    fake.deliver();
    await turn();
    fake.deliver();
    const receipt = await call;
    const rows = fake.published.map(batchRow);
    assert.deepEqual(rows.map(({ sequence }) => sequence), [1, 2, 3, 4]);
    assert.deepEqual(rows.map(({ commit }) => commit), [false, false, false, true]);
    assert.equal(new Set(rows.map(({ id }) => id)).size, 1);
    assert.deepEqual(fake.published.map(({ reply }) => reply !== ""), [true, false, false, true]);
    const { sequences, firstSequence, lastSequence, duplicates } = receipt;
    assert.deepEqual({ sequences, firstSequence, lastSequence, duplicates }, {
      sequences: [[1, 4]],
      firstSequence: 1,
      lastSequence: 4,
      duplicates: 0,
    });
    const block = new TextDecoder().decode(fake.published[3]!.headers);
    assert.match(
      block,
      /^NATS\/1\.0\r\nContent-Type: .*\r\nFilament-Operation: .*\r\nNats-Expected-Stream: ORDERS\r\nNats-Msg-Id: [0-9a-f]{64}\r\nNats-Batch-Id: \S{22}\r\nNats-Batch-Sequence: 4\r\nNats-Batch-Commit: 1\r\n\r\n$/,
    );
    assert.equal(publisher.stats().inFlight, 0);
  }),
);

Deno.test(
  "a batch of one row is one message; a batch without rows is none",
  onVirtualClock(async () => {
    const fake = atomicServer();
    await using publisher = await open(fake);
    assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(0) })).rows, 0);
    assert.equal(fake.published.length, 0);
    assert.deepEqual((await publisher.publish({ resource: "eu", rows: numberBatch(1) })).sequences, [[1, 1]]);
    assert.deepEqual(fake.published.map((row) => ({ ...batchRow(row), id: "" })), [{
      id: "",
      sequence: 1,
      commit: true,
    }]);
  }),
);

Deno.test(
  "both wires send the same messages",
  onVirtualClock(async () => {
    const [publishes, frames] = await Promise.all([false, true].map(async (frames) => {
      const fake = atomicServer(undefined, { frames });
      await using publisher = await open(fake);
      await publisher.publish({ resource: "eu", rows: idBatch(3) });
      return fake.published.map(({ subject, headers, data, reply }) => [
        subject,
        new TextDecoder().decode(headers).replace(/(Batch-Id: )\S+/, "$1"),
        new TextDecoder().decode(data),
        reply === "",
      ]);
    }));
    assert.deepEqual(publishes, frames);
  }),
);

Deno.test(
  "a call that cannot be one batch is refused before anything is sent, and leaves the publisher unchanged",
  onVirtualClock(async () => {
    const fake = atomicServer();
    const overhead =
      "NATS/1.0\r\nContent-Type: application/json\r\nFilament-Operation: insert\r\nNats-Expected-Stream: ORDERS\r\n"
        .length +
      "Nats-Batch-Id: 0123456789012345678901\r\nNats-Batch-Sequence: 1\r\n".length + 2;
    const commit = "Nats-Batch-Commit: 1\r\n".length;
    await using publisher = await open(fake, { maxInFlight: 2000 });
    await assert.rejects(publisher.publish({ resource: "eu", rows: numberBatch(1001) }), {
      name: "EncodeError",
      code: "encode.too_large",
      size: 1001,
      limit: 1000,
    });
    await using narrow = await open(fake, { maxInFlight: 10 });
    await assert.rejects(narrow.publish({ resource: "eu", rows: numberBatch(11) }), {
      code: "encode.too_large",
      limit: 10,
    });
    const together = 3 * (overhead + 100 + "orders.eu".length) + commit;
    await using tight = await open(fake, { maxInFlightBytes: together });
    await using tighter = await open(fake, { maxInFlightBytes: together - 1 });
    await assert.rejects(tighter.publish({ resource: "eu", rows: sizedBatch(3, 100) }), {
      code: "encode.too_large",
      size: together,
      limit: together - 1,
    });
    assert.equal(fake.published.length, 0);
    assert.equal((await tight.publish({ resource: "eu", rows: sizedBatch(3, 100) })).rows, 3);
    assert.equal((await publisher.publish({ resource: "eu", rows: numberBatch(1000) })).rows, 1000);
    assert.equal((await narrow.publish({ resource: "eu", rows: numberBatch(10) })).rows, 10);
  }),
);

Deno.test(
  "batch headers count in a message's size, to the byte",
  onVirtualClock(async () => {
    const sizeOf = async (index: number): Promise<number> => {
      const fake = atomicServer();
      await using publisher = await open(fake);
      await publisher.publish({ resource: "eu", rows: sizedBatch(12, 300) });
      const { headers, data } = fake.published[index]!;
      return headers.length + data.length;
    };
    // The last row has the largest block: the commit, and two digits.
    const largest = await sizeOf(11);
    assert.equal(largest, await sizeOf(10) + "Nats-Batch-Commit: 1\r\n".length);
    const publish = async (limit: number): Promise<number> => {
      const fake = atomicServer(undefined, { info: { max_payload: limit } });
      await using publisher = await open(fake);
      return (await publisher.publish({ resource: "eu", rows: sizedBatch(12, 300) })).rows;
    };
    assert.equal(await publish(largest), 12);
    await assert.rejects(publish(largest - 1), {
      code: "encode.too_large",
      row: 11,
      size: largest,
      limit: largest - 1,
    });
  }),
);

Deno.test(
  "two rows with the same id are refused, whatever their bodies",
  onVirtualClock(async () => {
    const fake = atomicServer();
    await using publisher = await open(fake, { eventIdColumn: "text" });
    const rows = idBatch(3, { payload: 5 });
    await assert.rejects(publisher.publish({ resource: "eu", rows }), { code: "encode.duplicate_id", row: 1 });
    assert.equal(fake.published.length, 0);
  }),
);

Deno.test(
  "a call begins when the last row of the previous call is sent and the window has room for all of it",
  onVirtualClock(async () => {
    const fake = atomicServer(undefined, { manual: true });
    await using publisher = await open(fake, { maxInFlight: 10 });
    const calls = [4, 5, 3].map((rows) => publisher.publish({ resource: "eu", rows: numberBatch(rows) }));
    await turn();
    assert.equal(fake.published.length, 1, "the first row of the first call");
    fake.deliver();
    await turn();
    assert.deepEqual(fake.published.map((row) => batchRow(row).sequence), [1, 2, 3, 4, 1, 2, 3, 4, 5]);
    assert.equal(publisher.stats().inFlight, 9, "3 more would be 12");
    fake.deliver(1);
    await turn();
    assert.equal(fake.published.length, 12);
    fake.deliver();
    const receipts = await Promise.all(calls);
    assert.deepEqual(receipts.map(({ sequences }) => sequences), [[[1, 4]], [[5, 9]], [[10, 12]]]);
    assert.equal(new Set(fake.published.map((row) => batchRow(row).id)).size, 3);
  }),
);

Deno.test(
  "repeated, foreign and late answers settle nothing",
  onVirtualClock(async () => {
    const fake = atomicServer(undefined, { manual: true });
    await using publisher = await open(fake);
    const first = publisher.publish({ resource: "eu", rows: numberBatch(2) });
    await turn();
    const [staged] = fake.published;
    const inbox = staged!.reply.slice(0, staged!.reply.lastIndexOf("."));
    for (const token of ["0", "2", "999", "x", "1.2", "-1"]) {
      fake.answer(staged!, {
        body: { stream: "ORDERS", seq: 2, batch: batchRow(staged!).id, count: 2 },
        subject: `${inbox}.${token}`,
      });
    }
    assert.equal(publisher.stats().acked, 0);
    fake.deliver();
    fake.answer(staged!, { times: 3 });
    await turn();
    fake.deliver();
    await first;
    assert.equal(publisher.stats().acked, 2);
  }),
);
