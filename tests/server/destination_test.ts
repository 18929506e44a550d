import assert from "node:assert/strict";
import { tableFromArrays } from "apache-arrow";
import { connect, Publisher, type RouteError, type RowBatch } from "../../src/runtime/deno.ts";
import { batchOf, intColumn, sizedBatch } from "../_support/arrow/mod.ts";
import { addStream, infoOf, olderThan, startNatsServer, storedIn } from "../_support/nats/mod.ts";

const batch = (resource: string, rows = 1): RowBatch => ({
  resource,
  rows: batchOf([intColumn("n", Array.from({ length: rows }, (_, i) => i))], rows),
});

Deno.test("a missing stream is created with file storage, its one filter and server defaults", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const publisher = await Publisher.open(nc, { stream: "EVENTS", subject: "events.{resource}" });
  const byHand = await addStream(nc, { name: "BY_HAND", subjects: ["other.>"] });
  const { config } = await infoOf(nc, "EVENTS");
  assert.deepEqual(config.subjects, ["events.>"]);
  const plain = (given: typeof config) => ({ ...given, name: "", subjects: [] });
  assert.deepEqual(plain(config), plain(byHand.config));
  assert.deepEqual(publisher.stats().created, ["EVENTS"]);
  await publisher.publish(batch("orders.v2"));
  assert.deepEqual((await storedIn(nc, "EVENTS")).map(({ subject }) => subject), ["events.orders.v2"]);
  await publisher.close();
});

Deno.test("a stream per resource is created with the resource's own subject, when its first batch arrives", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const publisher = await Publisher.open(nc, { stream: "S_{resource}", subject: "{resource}.events" });
  assert.deepEqual(publisher.stats().created, []);
  await Promise.all([
    publisher.publish(batch("a", 3)),
    publisher.publish(batch("b", 2)),
    publisher.publish(batch("a")),
  ]);
  assert.deepEqual((await infoOf(nc, "S_a")).config.subjects, ["a.events"]);
  assert.equal((await infoOf(nc, "S_a")).state.messages, 4);
  assert.equal((await infoOf(nc, "S_b")).state.messages, 2);
  await assert.rejects(publisher.publish(batch("no.dots")), {
    name: "RouteError",
    code: "route.stream_name",
    resource: "no.dots",
  });
  assert.equal((await publisher.publish(batch("a"))).rows, 1, "the publisher is as it was");
  await publisher.close();
});

Deno.test("a missing stream is route.missing if createStream is false, and nothing is created", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const opening = Publisher.open(nc, { stream: "NONE", subject: "none", createStream: false });
  await assert.rejects(opening, (error: RouteError) => {
    assert.deepEqual([error.code, error.stream, error.subject], ["route.missing", "NONE", "none"]);
    return /NONE/.test(error.message) && /createStream/.test(error.message);
  });
  await assert.rejects(infoOf(nc, "NONE"));
});

Deno.test("a filter that begins with a wildcard is refused by the server, and the error names the fix", async () => {
  await using server = await startNatsServer();
  if (olderThan("2.10.0", server, "refused wildcard filters")) return;
  await using nc = await connect({ url: server.url });
  await assert.rejects(Publisher.open(nc, { stream: "EVENTS", subject: "{resource}.events" }), (error: RouteError) => {
    assert.deepEqual([error.code, error.subject, error.stream], ["route.create", "*.events", "EVENTS"]);
    return /10052/.test(error.message) && /put a prefix before the placeholder/.test(error.message);
  });
});

Deno.test("{resource}.events works on an existing stream that captures the subjects", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "EVENTS", subjects: ["a.events", "b.events"] });
  const publisher = await Publisher.open(nc, { stream: "EVENTS", subject: "{resource}.events" });
  assert.equal((await publisher.publish(batch("a"))).subject, "a.events");
  await assert.rejects(publisher.publish(batch("c")), {
    code: "route.not_captured",
    resource: "c",
    subject: "c.events",
  });
  await publisher.close();
});

Deno.test("a stream that captures only deeper subjects is refused when it is opened", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "W", subjects: ["warehouse.public.>"] });
  await assert.rejects(Publisher.open(nc, { stream: "W", subject: "warehouse.{resource}" }), {
    code: "route.not_captured",
    subject: "warehouse.*",
  });
});

Deno.test("an existing stream's configuration is never changed", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const before = await addStream(nc, { name: "KEEP", subjects: ["keep.>"], max_msgs: 5, description: "mine" });
  const publisher = await Publisher.open(nc, { stream: "KEEP", subject: "keep.{resource}" });
  await publisher.publish(batch("a", 3));
  await publisher.close();
  const after = await infoOf(nc, "KEEP");
  assert.deepEqual(after.config, before.config);
  assert.equal(after.created, before.created);
  assert.deepEqual(publisher.stats().created, []);
});

Deno.test("a stream that another client creates first is looked up and checked like any other", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const options = { stream: "RACE", subject: "race.{resource}" };
  const publishers = await Promise.all(Array.from({ length: 8 }, () => Publisher.open(nc, options)));
  const receipts = await Promise.all(publishers.map((publisher, i) => publisher.publish(batch(`r${i}`, 10))));
  assert.equal(receipts.reduce((sum, { rows }) => sum + rows, 0), 80);
  assert.equal((await infoOf(nc, "RACE")).state.messages, 80);
  await Promise.all(publishers.map((publisher) => publisher.close()));
});

Deno.test("a creation that another stream's subjects prevent is route.create with the server's reason", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "TAKEN", subjects: ["orders.>"] });
  await assert.rejects(Publisher.open(nc, { stream: "ORDERS", subject: "orders.{resource}" }), (error: RouteError) => {
    assert.deepEqual([error.code, error.stream, error.subject], ["route.create", "ORDERS", "orders.>"]);
    return /\(10065\)\. Name that stream in stream, or change subject\.$/.test(error.message);
  });
});

const REFUSED: readonly (readonly [code: string, config: Record<string, unknown>])[] = [
  ["route.no_ack", { no_ack: true }],
  ["route.no_interest", { retention: "interest" }],
];

for (const [code, config] of REFUSED) {
  Deno.test(`opening refuses a stream with ${JSON.stringify(config)} as ${code}`, async () => {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    await addStream(nc, { name: "S", subjects: ["s"], ...config });
    await assert.rejects(Publisher.open(nc, { stream: "S", subject: "s" }), (error: RouteError) => {
      assert.deepEqual([error.name, error.code, error.stream], ["RouteError", code, "S"]);
      return error.message.includes(Object.keys(config)[0]!);
    });
  });
}

Deno.test("opening refuses mirrors, sealed streams and counters", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "ORIGIN", subjects: ["origin"] });
  await addStream(nc, { name: "MIRROR", mirror: { name: "ORIGIN" } });
  await assert.rejects(Publisher.open(nc, { stream: "MIRROR", subject: "origin" }), { code: "route.mirror" });
  if (olderThan("2.12.0", server, "counter streams")) return;
  await addStream(nc, { name: "COUNTER", subjects: ["counter"], allow_msg_counter: true });
  await assert.rejects(Publisher.open(nc, { stream: "COUNTER", subject: "counter" }), { code: "route.counter" });
});

Deno.test("a batch whose largest row exceeds max_bytes of a discard-old stream is refused whole", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "TINY", subjects: ["tiny"], max_bytes: 1024 });
  const publisher = await Publisher.open(nc, { stream: "TINY", subject: "tiny" });
  await assert.rejects(publisher.publish({ resource: "r", rows: sizedBatch(2, 1200) }), {
    name: "RouteError",
    code: "route.too_small",
    stream: "TINY",
  });
  assert.equal((await infoOf(nc, "TINY")).state.last_seq, 0);
  assert.equal((await publisher.publish({ resource: "r", rows: sizedBatch(1, 100) })).rows, 1);
  await publisher.close();
});

Deno.test("the largest row counts with its own subject", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "TINY", subjects: ["tiny.*"], max_bytes: 1024 });
  const publisher = await Publisher.open(nc, {
    stream: "TINY",
    subject: "tiny.{row.key}",
    bodyColumns: { omit: ["key"] },
  });
  const rowsOf = (...lengths: number[]) => tableFromArrays({ key: lengths.map((length) => "k".repeat(length)) });
  await assert.rejects(publisher.publish({ resource: "r", rows: rowsOf(1, 900, 1) }), { code: "route.too_small" });
  assert.equal((await infoOf(nc, "TINY")).state.last_seq, 0);
  await publisher.publish({ resource: "r", rows: rowsOf(700) });
  assert.equal((await infoOf(nc, "TINY")).state.messages, 1);
  await publisher.close();
});

Deno.test("a stream in a domain is looked up there, and its acknowledgments are checked for that domain", async () => {
  await using server = await startNatsServer({ jetstream: "domain: hub" });
  await using nc = await connect({ url: server.url });
  const publisher = await Publisher.open(nc, { stream: "D", subject: "d", domain: "hub" });
  assert.equal((await publisher.publish(batch("r", 5))).rows, 5);
  await publisher.close();
  await assert.rejects(Publisher.open(nc, { stream: "D", subject: "d", domain: "elsewhere" }), {
    name: "ConnectionError",
    code: "connection.no_jetstream",
  });
});

Deno.test("a server without JetStream is connection.no_jetstream", async () => {
  await using server = await startNatsServer({ jetstream: false });
  await using nc = await connect({ url: server.url });
  await assert.rejects(Publisher.open(nc, { stream: "S", subject: "s" }), {
    name: "ConnectionError",
    code: "connection.no_jetstream",
  });
});
