import assert from "node:assert/strict";
import { jetstream, type StreamConfig, type StreamInfo } from "@nats-io/jetstream";
import type { Msg, NatsConnection } from "@nats-io/nats-core";
import { connect, type Options, Publisher, verifyReceipt, type WriteReceipt } from "../../src/runtime/deno.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import {
  addStream,
  compareVersions,
  infoOf,
  managerOf,
  natsServerVersion,
  olderThan,
  startNatsServer,
  storedIn,
} from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";

const server = await natsServerVersion();
const OPTIONS: Options = { stream: "ORDERS", subject: "orders.{resource}" };
/** Older servers compare a copied row's header with the copying stream's name. */
const COPIED: Partial<Options> = compareVersions(server.version, "2.12.0") < 0 ? { expectedStream: false } : {};
const ROWS = 50;

/** A server with a stream; `config` adds to its name and subjects. */
async function withStream(
  config: Partial<StreamConfig>,
  work: (nc: NatsConnection, info: StreamInfo) => Promise<void>,
): Promise<void> {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await work(nc, await addStream(nc, { name: "ORDERS", subjects: ["orders.>"], ...config }));
}

async function publish(nc: NatsConnection, options: Partial<Options> = {}): Promise<WriteReceipt> {
  await using publisher = await Publisher.open(nc, { ...OPTIONS, ...options });
  return await publisher.publish({ resource: "eu", rows: idBatch(ROWS) });
}

/** Waits until another stream has the rows. */
async function arrived(nc: NatsConnection, stream: string): Promise<void> {
  await until(`the rows in ${stream}`, async () => (await infoOf(nc, stream)).state.messages >= ROWS);
}

Deno.test("a mirror has every row with its sequence and id, and is refused as a destination", async () => {
  await withStream({}, async (nc) => {
    await addStream(nc, { name: "COPY", mirror: { name: "ORDERS" } });
    const receipt = await publish(nc, COPIED);
    await arrived(nc, "COPY");
    // Conditions that were checked when a row was stored are not checked again: servers omit that header in copies.
    const stored = (await storedIn(nc, "ORDERS")).map(({ headers, ...rest }) => ({
      ...rest,
      headers: headers.filter(([name]) => name !== "Nats-Expected-Stream"),
    }));
    assert.deepEqual(await storedIn(nc, "COPY"), stored);
    assert.deepEqual(await verifyReceipt(nc, { ...receipt, stream: "COPY" }), await verifyReceipt(nc, receipt));
    await assert.rejects(publish(nc, { stream: "COPY" }), { name: "RouteError", code: "route.mirror" });
  });
});

Deno.test("a stream that sources another has every row once, under its own sequences", async () => {
  await withStream({}, async (nc) => {
    await addStream(nc, { name: "ALL", sources: [{ name: "ORDERS" }] });
    const receipt = await publish(nc, COPIED);
    assert.equal((await publish(nc, COPIED)).duplicates, ROWS);
    await arrived(nc, "ALL");
    const bodies = (stream: string) => storedIn(nc, stream).then((stored) => stored.map(({ body }) => body));
    assert.deepEqual(await bodies("ALL"), await bodies("ORDERS"));
    assert.ok((await verifyReceipt(nc, receipt)).ok);
  });
});

Deno.test("republished rows reach subscribers after they are stored, and do not change the acknowledgments", async () => {
  await withStream({ republish: { src: "orders.>", dest: "live.>" } }, async (nc) => {
    const live: Msg[] = [];
    nc.subscribe("live.>", { callback: (_, msg) => void live.push(msg) });
    const receipt = await publish(nc);
    await until("the republished rows", () => live.length >= ROWS);
    assert.deepEqual(
      live.map((msg) => Number(msg.headers?.get("Nats-Sequence"))),
      [...Array(ROWS).keys()].map((n) => n + 1),
    );
    assert.deepEqual(live.map((msg) => msg.json<{ n: number }>().n), [...Array(ROWS).keys()]);
    assert.deepEqual([receipt.duplicates, receipt.sequences], [0, [[1, ROWS]]]);
  });
});

Deno.test({
  name:
    "rows of a stream that transforms subjects are verified by their receipt, and detected as duplicates, in every mode",
  ignore: olderThan("2.14.0", server, "rows of a stream that transforms subjects, in every mode"),
  fn: async () => {
    const config = {
      subject_transform: { src: "orders.*", dest: "kept.{{wildcard(1)}}.rows" },
      allow_atomic: true,
      allow_batched: true,
    };
    for (const publishMode of ["individual", "atomic", "fast"] as const) {
      await withStream(config as Partial<StreamConfig>, async (nc) => {
        const receipt = await publish(nc, { publishMode });
        assert.equal(receipt.subject, "orders.eu");
        const again = await publish(nc, { publishMode });
        const stored = await storedIn(nc, "ORDERS");
        assert.deepEqual([stored.length, stored[0]!.subject], [ROWS, "kept.eu.rows"]);
        if (publishMode === "fast") return;
        assert.deepEqual([again.duplicates, again.sequences], [ROWS, receipt.sequences]);
        assert.ok((await verifyReceipt(nc, receipt)).ok);
      });
    }
  },
});

Deno.test("a work queue removes acknowledged rows but remembers their ids", async () => {
  await withStream({ retention: "workqueue" }, async (nc) => {
    const receipt = await publish(nc);
    assert.ok((await verifyReceipt(nc, receipt)).ok);
    const manager = await managerOf(nc);
    await manager.consumers.add("ORDERS", { durable_name: "worker", ack_policy: "explicit" });
    const worker = await jetstream(nc).consumers.get("ORDERS", "worker");
    for await (const message of await worker.fetch({ max_messages: 20, expires: 2000 })) await message.ackAck();
    const { ok, missing } = await verifyReceipt(nc, receipt);
    assert.deepEqual([ok, missing], [false, 20]);
    const again = await publish(nc);
    assert.deepEqual([again.duplicates, again.sequences], [ROWS, receipt.sequences]);
    assert.equal((await infoOf(nc, "ORDERS")).state.messages, ROWS - 20);
  });
});

Deno.test("a stream that keeps the last row per subject acknowledges all rows", async () => {
  await withStream({ max_msgs_per_subject: 1 }, async (nc) => {
    const receipt = await publish(nc);
    assert.equal(receipt.rows, ROWS);
    const { missing } = await verifyReceipt(nc, receipt);
    assert.deepEqual([missing, (await infoOf(nc, "ORDERS")).state.messages], [ROWS - 1, 1]);
  });
});

Deno.test({
  name: "rows with a time to live are removed when it has passed",
  ignore: olderThan("2.11.0", server, "rows with a time to live"),
  fn: async () => {
    await withStream({ allow_msg_ttl: true }, async (nc) => {
      const receipt = await publish(nc, { ttl: "1s" });
      assert.ok(
        (await storedIn(nc, "ORDERS")).every(({ headers }) =>
          headers.some(([name, value]) => name === "Nats-TTL" && value === "1")
        ),
      );
      await until("the rows to expire", async () => (await infoOf(nc, "ORDERS")).state.messages === 0, { every: 100 });
      assert.equal((await verifyReceipt(nc, receipt)).missing, ROWS);
    });
  },
});

Deno.test("a stream with interest retention keeps rows for its consumer", async () => {
  await withStream({ retention: "interest" }, async (nc) => {
    await assert.rejects(publish(nc), { name: "RouteError", code: "route.no_interest" });
    await (await managerOf(nc)).consumers.add("ORDERS", { durable_name: "reader", ack_policy: "explicit" });
    const receipt = await publish(nc);
    assert.ok((await verifyReceipt(nc, receipt)).ok);
  });
});
