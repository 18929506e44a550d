import assert from "node:assert/strict";
import { Float64, Utf8 } from "apache-arrow";
import { type KV, Kvm, type KvWatchEntry, KvWatchInclude } from "@nats-io/kv";
import type { NatsConnection } from "@nats-io/nats-core";
import { connect, type Options, Publisher, rowsOf } from "../../src/runtime/deno.ts";
import {
  createStream,
  infoOf,
  managerOf,
  natsServerVersion,
  olderThan,
  startNatsServer,
  storedIn,
} from "../_support/nats/mod.ts";
import { testRecipe } from "./_page.ts";

testRecipe("A table in a KV bucket", ["KV_PRICES"], {
  "prices.arrow": {
    objects: [{ sku: "A-1", price: 9.5 }, { sku: "A-2", price: 3 }, { sku: "A-2", removed: "DEL" }],
    types: { sku: new Utf8(), price: new Float64(), removed: new Utf8() },
  },
});

const OPTIONS: Options = {
  stream: "KV_B",
  createStream: false,
  subject: "$KV.B.{row.key}",
  headers: { "KV-Operation": "{row.operation}" },
  rawBodyColumn: "value",
};

interface Change {
  readonly key: string;
  readonly value?: string;
  readonly operation?: "DEL" | "PURGE";
}

const rowsOfChanges = (changes: readonly Change[]) =>
  rowsOf(changes, { key: "utf8", value: "utf8", operation: "utf8" });

/** Runs a test with an empty bucket and a function that publishes changes to it. */
async function withBucket(
  history: number,
  test: (bucket: KV, publish: (changes: readonly Change[]) => Promise<unknown>, nc: NatsConnection) => Promise<void>,
  over: Partial<Options> = {},
): Promise<void> {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const bucket = await new Kvm(nc).create("B", { history });
  await using publisher = await Publisher.open(nc, { ...OPTIONS, ...over });
  await test(bucket, (changes) => publisher.publish({ resource: "b", rows: rowsOfChanges(changes) }), nc);
}

async function historyOf(bucket: KV): Promise<string[]> {
  const entries = await Array.fromAsync(await bucket.history());
  return entries.map(({ key, operation }) => `${key} ${operation}`);
}

Deno.test("a KV client reads, lists and watches puts and deletes as they arrive", async () => {
  await withBucket(1, async (bucket, publish) => {
    const watch = (await bucket.watch())[Symbol.asyncIterator]();
    const watched = async () => {
      const { key, operation, value, revision } = (await watch.next()).value as KvWatchEntry;
      return [key, operation, new TextDecoder().decode(value), revision];
    };
    await publish([{ key: "a", value: "1" }, { key: "b", value: "2" }]);
    assert.deepEqual([await watched(), await watched()], [["a", "PUT", "1", 1], ["b", "PUT", "2", 2]]);
    await publish([{ key: "a", operation: "DEL" }, { key: "b", value: "3" }]);
    assert.deepEqual([await watched(), await watched()], [["a", "DEL", "", 3], ["b", "PUT", "3", 4]]);
    assert.deepEqual([(await bucket.get("a"))?.operation, (await bucket.get("a"))?.length], ["DEL", 0]);
    assert.equal((await bucket.get("b"))?.string(), "3");
    assert.deepEqual(await Array.fromAsync(await bucket.keys()), ["b"]);
  });
});

Deno.test("a KV client updates a published revision, creates a deleted key, and deletes a published one", async () => {
  await withBucket(1, async (bucket, publish) => {
    await publish([{ key: "a", value: "1" }, { key: "b", value: "2" }, { key: "b", operation: "DEL" }]);
    const { revision } = (await bucket.get("a"))!;
    assert.equal(await bucket.update("a", "mine", revision), 4);
    assert.equal(await bucket.create("b", "mine"), 5);
    await bucket.delete("a");
    assert.deepEqual(await historyOf(bucket), ["b PUT", "a DEL"]);
  });
});

Deno.test("old rows that are published again put old values back, unless their ids are known", async () => {
  for (const [over, value] of [[{}, "old"], [{ eventIdColumn: ["key", "value"] }, "new"]] as const) {
    await withBucket(1, async (bucket, publish) => {
      for (const change of ["old", "new", "old"]) await publish([{ key: "a", value: change }]);
      assert.equal((await bucket.get("a"))?.string(), value);
    }, over);
  }
});

Deno.test("a PURGE reads as deleted, but keeps older revisions, and ignoreDeletes does not ignore it", async () => {
  await withBucket(3, async (bucket, publish) => {
    await publish([{ key: "a", value: "1" }, { key: "a", operation: "PURGE" }]);
    await publish([{ key: "b", value: "1" }, { key: "b", operation: "DEL" }]);
    assert.equal((await bucket.get("a"))?.operation, "PURGE");
    assert.deepEqual(await Array.fromAsync(await bucket.keys()), []);
    assert.deepEqual(await historyOf(bucket), ["a PUT", "a PURGE", "b PUT", "b DEL"]);
    const watch = await bucket.watch({ ignoreDeletes: true, include: KvWatchInclude.LastValue });
    for await (const { key, operation } of watch) {
      assert.deepEqual([key, operation], ["a", "PURGE"]);
      break;
    }
    await bucket.purge("a");
    assert.deepEqual(await historyOf(bucket), ["b PUT", "b DEL", "a PURGE"]);
  });
});

Deno.test("a KV client reads exactly the keys of allowed characters, and lists and watches any other key", async () => {
  await withBucket(1, async (bucket, publish) => {
    const ascii = Array.from({ length: 0x7f - 0x21 }, (_, i) => String.fromCharCode(0x21 + i));
    const keys = [...ascii.filter((character) => !/[.*>]/.test(character)), "\u00e9"].map((character) =>
      `k${character}`
    );
    await publish(keys.map((key) => ({ key, value: key })));
    for (const key of keys) {
      if (/^[-/=\w]+$/.test(key)) assert.equal((await bucket.get(key))?.string(), key);
      else await assert.rejects(async () => await bucket.get(key), /invalid key/, key);
    }
    assert.deepEqual(await Array.fromAsync(await bucket.keys()), keys);
    assert.deepEqual(await historyOf(bucket), keys.map((key) => `${key} PUT`));
  });
});

Deno.test("a percent-encoded key is listed, and not read", async () => {
  await withBucket(1, async (bucket, publish) => {
    await publish([{ key: "St. Gallen", value: "1" }]);
    assert.deepEqual(await Array.fromAsync(await bucket.keys()), ["St%2E%20Gallen"]);
    await assert.rejects(bucket.get("St%2E%20Gallen"), /invalid key/);
  }, { subjectEscape: "percent" });
});

Deno.test("without standard headers, puts and deletes are the messages of a KV client", async () => {
  await withBucket(5, async (bucket, publish, nc) => {
    await publish([{ key: "a", value: "1" }, { key: "a", operation: "DEL" }]);
    await bucket.put("a", "1");
    await bucket.delete("a");
    const [put, remove, clientPut, clientRemove] = (await storedIn(nc, "KV_B")).map(({ seq: _, ...message }) =>
      message
    );
    assert.deepEqual([put, remove], [clientPut, clientRemove]);
  }, { standardHeaders: false });
});

Deno.test({
  name: "a bucket that allows atomic batches takes all rows of a batch or none",
  ignore: olderThan("2.12.1", await natsServerVersion(), "atomic batches"),
  fn: async () => {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    const bucket = await new Kvm(nc).create("B", { maxValueSize: 100 });
    await (await managerOf(nc)).streams.update("KV_B", { allow_atomic: true });
    const options: Options = { ...OPTIONS, publishMode: "atomic", standardHeaders: false };
    const rows = (value: string) =>
      rowsOfChanges([{ key: "a", value: "1" }, { key: "b", operation: "DEL" }, { key: "c", value }]);
    await using failing = await Publisher.open(nc, options);
    await assert.rejects(failing.publish({ resource: "b", rows: rows("x".repeat(1000)) }));
    assert.deepEqual(await historyOf(bucket), []);
    await using publisher = await Publisher.open(nc, options);
    await publisher.publish({ resource: "b", rows: rows("3") });
    assert.deepEqual(await historyOf(bucket), ["a PUT", "b DEL", "c PUT"]);
  },
});

Deno.test("a dot in a key refuses the row, and two placeholders give a key of two tokens", async () => {
  await withBucket(1, async (_, publish) => {
    await assert.rejects(publish([{ key: "a.b", value: "1" }]), { code: "encode.subject" });
  });
  await withBucket(1, async (bucket, publish) => {
    await publish([{ key: "berlin", value: "A-1" }]);
    assert.equal((await bucket.get("berlin.A-1"))?.string(), "A-1");
  }, { subject: "$KV.B.{row.key}.{row.value}" });
});

Deno.test("a stream that jetrow creates keeps every revision, and refuses a client's purge", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await using publisher = await Publisher.open(nc, { ...OPTIONS, createStream: true });
  await publisher.publish({ resource: "b", rows: rowsOfChanges([{ key: "a", value: "1" }, { key: "a", value: "2" }]) });
  const bucket = await new Kvm(nc).open("B");
  assert.deepEqual(await historyOf(bucket), ["a PUT", "a PUT"]);
  await assert.rejects(bucket.purge("a"), /rollup not permitted/);
});

Deno.test("publishing to a bucket without createStream is refused if the bucket does not exist", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await assert.rejects(Publisher.open(nc, OPTIONS), { code: "route.missing" });
  await createStream(nc, { name: "KV_B", subjects: ["$KV.B.>"] });
  await using publisher = await Publisher.open(nc, OPTIONS);
  await publisher.publish({ resource: "b", rows: rowsOfChanges([{ key: "a" }]) });
  assert.equal((await infoOf(nc, "KV_B")).state.messages, 1);
});
