import assert from "node:assert/strict";
import { jetstreamManager } from "@nats-io/jetstream";
import { Publisher } from "../../mod.ts";
import { connect } from "../../src/runtime/deno.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import { fakeConnection, streamInfo } from "../_support/fake/mod.ts";
import { startNatsServer } from "../_support/nats/mod.ts";

const nanos = (seconds: number): number => seconds * 1e9;

Deno.test("an open publisher follows changes of its stream: subjects, max_msg_size, duplicate_window", async () => {
  await using server = await startNatsServer();
  const nc = await connect({ url: server.url });
  const jsm = await jetstreamManager(nc);
  await jsm.streams.add({
    name: "ORDERS",
    subjects: ["orders.eu"],
    max_msg_size: 100,
    duplicate_window: nanos(1),
  });
  const options = { stream: "ORDERS", subject: "orders.{resource}", createStream: false };
  const publisher = await Publisher.open(nc, { ...options, retry: { budget: "10s" } });
  const small = { resource: "us", rows: numberBatch(3) };
  await assert.rejects(publisher.publish(small), { code: "route.not_captured" });
  await jsm.streams.update("ORDERS", { subjects: ["orders.eu", "orders.us"], max_msg_size: 4096 });
  assert.equal((await publisher.publish(small)).rows, 3);

  const withIds = { resource: "eu", rows: idBatch(3) };
  await assert.rejects(publisher.publish(withIds), { code: "route.short_dedupe" });
  await jsm.streams.update("ORDERS", { max_msg_size: 100, duplicate_window: nanos(60) });
  await assert.rejects(publisher.publish(withIds), { code: "encode.too_large" });
  await jsm.streams.update("ORDERS", { max_msg_size: 4096 });
  assert.equal((await publisher.publish(withIds)).rows, 3);
  await publisher.close();
  await nc.close();
});

Deno.test("an open publisher looks up a stream per resource again after it changed", async () => {
  await using server = await startNatsServer();
  const nc = await connect({ url: server.url });
  const jsm = await jetstreamManager(nc);
  await jsm.streams.add({ name: "S_eu", subjects: ["orders.eu"], max_msg_size: 100 });
  const publisher = await Publisher.open(nc, { stream: "S_{resource}", subject: "orders.{resource}" });
  const batch = { resource: "eu", rows: idBatch(3) };
  await assert.rejects(publisher.publish(batch), { code: "encode.too_large", limit: 100 });
  await jsm.streams.update("S_eu", { max_msg_size: 4096 });
  assert.equal((await publisher.publish(batch)).rows, 3);
  await publisher.close();
  await nc.close();
});

Deno.test("rows that are refused repeatedly lead to at most ten more lookups", async () => {
  const fake = fakeConnection({ requests: () => streamInfo("ORDERS", { subjects: ["orders.eu"] }) });
  const publisher = await Publisher.open(fake.nc, { stream: "ORDERS", subject: "orders.{resource}" });
  const refused = () => assert.rejects(publisher.publish({ resource: "us", rows: numberBatch(1) }));
  await Promise.all(Array.from({ length: 50 }, refused));
  assert.equal(fake.asked.length, 2, "calls at the same time share a lookup");
  for (let call = 0; call < 50; call++) await refused();
  assert.equal(fake.asked.length, 11);
  assert.ok(fake.asked.every(({ subject }) => subject.includes("STREAM.INFO")));
  await publisher.close();
});
