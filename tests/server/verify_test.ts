import assert from "node:assert/strict";
import { connect, Publisher } from "../../src/runtime/deno.ts";
import { verifyReceipt } from "../../src/stream/verify/verify.ts";
import {
  api,
  compareVersions,
  createStream,
  passwordUsers,
  publishAcked,
  startNatsServer,
} from "../_support/nats/mod.ts";
import { batchOf, intColumn, textColumn } from "../_support/arrow/mod.ts";
import { fill, receiptOf } from "./_receipts.ts";

/** The three ways to read: by direct gets, through a consumer, from the leader alone. */
const WAYS = [
  { way: "direct gets", config: { allow_direct: true } },
  { way: "a consumer", config: {} },
  { way: "the leader", config: { retention: "workqueue" } },
] as const;

for (const { way, config } of WAYS) {
  Deno.test(`verifyReceipt() by ${way} is right with other rows in between, deleted rows and changed content`, async () => {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    await createStream(nc, { name: "MIXED", subjects: ["mixed.>"], ...config });
    const bodies = Array.from({ length: 500 }, (_, i) => JSON.stringify({ i, text: "é".repeat(i % 7) }));
    const sequences: number[] = [];
    for (const [i, body] of bodies.entries()) {
      if (i % 3 === 0) await publishAcked(nc, "mixed.other", Array(1 + i % 40).fill("not ours"));
      sequences.push(...await publishAcked(nc, "mixed.ours", [body]));
    }
    const receipt = receiptOf("MIXED", bodies, sequences);
    const { bytes, crc32c } = receipt;
    assert.deepEqual(await verifyReceipt(nc, receipt), { ok: true, rows: 500, bytes, crc32c, missing: 0 });

    // One byte differs: the stored row is not the one of the receipt.
    const changed = receiptOf("MIXED", bodies.with(250, bodies[250]!.replace("2", "3")), sequences);
    const other = await verifyReceipt(nc, changed);
    assert.deepEqual([other.ok, other.rows, other.missing, other.bytes], [false, 500, 0, bytes]);

    for (const row of [0, 100, 101, 499]) await api(nc, "STREAM.MSG.DELETE.MIXED", { seq: sequences[row] });
    const { ok, rows, missing } = await verifyReceipt(nc, receipt);
    assert.deepEqual([ok, rows, missing], [false, 496, 4]);

    await api(nc, "STREAM.PURGE.MIXED");
    assert.deepEqual(await verifyReceipt(nc, receipt), { ok: false, rows: 0, bytes: 0, crc32c: 0, missing: 500 });
    assert.deepEqual((await api(nc, "CONSUMER.NAMES.MIXED")).consumers, [], "no consumer is left behind");
  });

  Deno.test(`verifyReceipt() by ${way} compares rows in the receipt's order, wherever they are stored`, async () => {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    await createStream(nc, { name: "ANY", subjects: ["any"], ...config });
    const stored = Array.from({ length: 400 }, (_, i) => JSON.stringify({ row: i }));
    const at = await publishAcked(nc, "any", stored);
    const orders: Record<string, number[]> = {
      backwards: stored.map((_, i) => 399 - i),
      shuffled: stored.map((_, i) => (i * 173) % 400),
      "with rows twice": stored.map((_, i) => i - i % 2),
      "odd ones first": stored.map((_, i) => i < 200 ? 2 * i + 1 : 2 * (i - 200)),
      "far apart": [0, 399, 1, 398],
    };
    for (const [name, order] of Object.entries(orders)) {
      const receipt = receiptOf("ANY", order.map((i) => stored[i]!), order.map((i) => at[i]!));
      const { ok, missing } = await verifyReceipt(nc, receipt);
      assert.deepEqual([ok, missing], [true, 0], name);
    }
  });
}

Deno.test("verifyReceipt() agrees with a publisher's receipts, also with duplicates and parsed from JSON", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const publisher = await Publisher.open(nc, { stream: "ORDERS", subject: "orders.{resource}" });
  const ids = Array.from({ length: 300 }, (_, i) => `event-${i}`);
  const rows = (first: number, count: number) => {
    const slice = ids.slice(first, first + count);
    return batchOf([intColumn("n", slice.map((_, i) => first + i)), textColumn("_filament_event_id", slice)], count);
  };
  const receipts = [
    await publisher.publish({ resource: "a", rows: rows(100, 100) }),
    await publisher.publish({ resource: "b", rows: rows(0, 50) }),
    // A hundred of these are stored already, between new ones.
    await publisher.publish({ resource: "a", rows: rows(0, 300) }),
  ];
  assert.equal(receipts[2]!.duplicates, 100);
  for (const receipt of receipts) {
    assert.equal((await verifyReceipt(nc, receipt)).ok, true);
    assert.equal((await verifyReceipt(nc, JSON.parse(JSON.stringify(receipt)))).ok, true);
  }
  const [, receipt] = receipts;
  const wrong = [
    { bytes: receipt!.bytes - 1 },
    { crc32c: receipt!.crc32c ^ 1 },
  ];
  const { rows: count, bytes, crc32c } = receipt!;
  for (const one of wrong) {
    assert.deepEqual(await verifyReceipt(nc, { ...receipt!, ...one }), {
      ok: false,
      rows: count,
      bytes,
      crc32c,
      missing: 0,
    });
  }
  const nothing = await publisher.publish({ resource: "a", rows: rows(0, 0) });
  assert.deepEqual(await verifyReceipt(nc, nothing), { ok: true, rows: 0, bytes: 0, crc32c: 0, missing: 0 });
  await publisher.close();
});

Deno.test("verifyReceipt() reads rows of a megabyte, and empty bodies", async () => {
  await using server = await startNatsServer({ config: "max_payload: 8MB" });
  await using nc = await connect({ url: server.url });
  for (const { way, config } of WAYS) {
    const name = way.replaceAll(" ", "_");
    await createStream(nc, { name, subjects: [name], ...config });
    const bodies = ["", "a".repeat(5_000_000), "", "b".repeat(1_000_000), "c".repeat(1_000_000), "d"];
    const receipt = receiptOf(name, bodies, await publishAcked(nc, name, bodies));
    assert.equal((await verifyReceipt(nc, receipt)).ok, true, way);
  }
});

Deno.test("verifyReceipt() avoids requests that permissions forbid, and reports when none is left", async () => {
  const reading = (...publish: string[]) => ({ publish: [...publish, "orders"], subscribe: ["_MINE.>"] });
  const config = passwordUsers(
    { username: "all", password: "p" },
    {
      username: "direct",
      password: "p",
      permissions: reading("$JS.API.DIRECT.GET.ORDERS", "$JS.API.STREAM.INFO.ORDERS"),
    },
    { username: "message", password: "p", permissions: reading("$JS.API.STREAM.MSG.GET.ORDERS") },
    { username: "nothing", password: "p", permissions: reading("$JS.API.STREAM.INFO.ORDERS") },
  );
  await using server = await startNatsServer({ config });
  const login = (username: string) =>
    connect({ url: server.url, authMode: "user_password", username, password: "p", inboxPrefix: "_MINE" });
  await using all = await login("all");
  await createStream(all, { name: "ORDERS", subjects: ["orders"], allow_direct: true });
  const bodies = ["{}", "[]", "1"];
  const receipt = receiptOf("ORDERS", bodies, await publishAcked(all, "orders", bodies));
  // Direct gets in batches require server 2.11.
  const users = compareVersions(server.version, "2.11.0") < 0 ? ["all", "message"] : ["all", "direct", "message"];
  for (const user of users) {
    await using nc = await login(user);
    assert.equal((await verifyReceipt(nc, receipt, { inboxPrefix: "_MINE" })).ok, true, user);
    assert.equal((await verifyReceipt(nc, receipt)).ok, true, `${user}: the connection's own prefix`);
  }
  await using nothing = await login("nothing");
  await assert.rejects(verifyReceipt(nothing, receipt), { name: "ConnectionError", code: "connection.permission" });
});

Deno.test("verifyReceipt() throws for a missing stream, after an abort, and on a closed connection", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const receipt = receiptOf("GONE", ["{}"], [1]);
  await assert.rejects(verifyReceipt(nc, receipt), { name: "RouteError", code: "route.missing", stream: "GONE" });
  await createStream(nc, { name: "GONE", subjects: ["gone"] });
  const large = await fill(nc, "GONE", 50_000);
  const reason = new Error("enough");
  await assert.rejects(verifyReceipt(nc, large, { signal: AbortSignal.abort(reason) }), reason);
  const stop = new AbortController();
  const reading = verifyReceipt(nc, large, { signal: stop.signal });
  stop.abort(reason);
  await assert.rejects(reading, reason);
  const closing = verifyReceipt(nc, large);
  await nc.close();
  await assert.rejects(closing, { code: "connection.closed" });
});
