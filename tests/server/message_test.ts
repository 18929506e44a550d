import assert from "node:assert/strict";
import { connect, EncodeError, messageId, Publisher, type RowBatch } from "../../src/runtime/deno.ts";
import { batchOf, intColumn, sizedBatch, textColumn } from "../_support/arrow/mod.ts";
import { addStream, infoOf, olderThan, startNatsServer, storedIn } from "../_support/nats/mod.ts";

const CRLF = 2;

Deno.test("messages have jetrow's headers in order, static headers before the id, and the row as body", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const publisher = await Publisher.open(nc, {
    stream: "ORDERS",
    subject: "orders.{resource}",
    headers: { "X-Team": "data", "x-run": "7" },
    namespace: { tenant: "acme", pipeline: "p", sinkConnection: "c" },
  });
  const rows = batchOf([textColumn("_filament_event_id", ["a", null, ""]), intColumn("n", [1, 2, 3])]);
  const receipt = await publisher.publish({ resource: "eu", rows, operations: ["insert", "update", "delete"] });
  assert.deepEqual(receipt.sequences, [[1, 3]]);
  const scope = {
    tenant: "acme",
    pipeline: "p",
    sinkConnection: "c",
    stream: "ORDERS",
    subject: "orders.eu",
    resource: "eu",
  };
  const common = (operation: string) => [
    ["Content-Type", "application/json"],
    ["Filament-Operation", operation],
    ["Nats-Expected-Stream", "ORDERS"],
    ["X-Team", "data"],
    ["x-run", "7"],
  ];
  assert.deepEqual(await storedIn(nc, "ORDERS"), [
    {
      seq: 1,
      subject: "orders.eu",
      body: '{"_filament_event_id":"a","n":1}',
      headers: [...common("insert"), ["Nats-Msg-Id", messageId(scope, "a")]],
    },
    { seq: 2, subject: "orders.eu", body: '{"_filament_event_id":null,"n":2}', headers: common("update") },
    { seq: 3, subject: "orders.eu", body: '{"_filament_event_id":"","n":3}', headers: common("delete") },
  ]);
  await publisher.close();
  assert.equal(nc.isClosed(), false, "a caller's connection stays open");
});

Deno.test("expectedStream: false omits the header, and a mirror of the stream stores the rows", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const publisher = await Publisher.open(nc, { stream: "ORDERS", subject: "orders", expectedStream: false });
  await addStream(nc, { name: "COPY", mirror: { name: "ORDERS" } });
  await publisher.publish({ resource: "eu", rows: batchOf([intColumn("n", [1, 2])]) });
  const [first] = await storedIn(nc, "ORDERS");
  assert.deepEqual(first?.headers, [["Content-Type", "application/json"], ["Filament-Operation", "insert"]]);
  while ((await infoOf(nc, "COPY")).state.messages < 2) await nc.flush();
  assert.deepEqual((await storedIn(nc, "COPY")).map(({ body }) => body), ['{"n":1}', '{"n":2}']);
  await publisher.close();
});

Deno.test("ttl is sent as whole seconds or as a duration, and requires the stream's flag", async () => {
  await using server = await startNatsServer();
  if (olderThan("2.11.0", server, "per-message time to live")) return;
  await using nc = await connect({ url: server.url });
  for (const [ttl, sent] of [["90s", "90"], ["1m30s", "90"], ["1.5s", "1.5s"], ["never", "never"]] as const) {
    const stream = `TTL_${ttl.replace(".", "_")}`;
    const publisher = await Publisher.open(nc, { stream, subject: `ttl.${stream}`, ttl });
    await publisher.publish({ resource: "r", rows: batchOf([intColumn("n", [1])]) });
    assert.equal((await storedIn(nc, stream))[0]?.headers.find(([name]) => name === "Nats-TTL")?.[1], sent);
    assert.equal((await infoOf(nc, stream)).config.allow_msg_ttl, true);
    await publisher.close();
  }
  await addStream(nc, { name: "PLAIN", subjects: ["plain"] });
  await assert.rejects(Publisher.open(nc, { stream: "PLAIN", subject: "plain", ttl: "5s" }), {
    name: "RouteError",
    code: "route.ttl_off",
    stream: "PLAIN",
  });
});

/** Publishes one row of a size; returns the error, if any. */
async function publishOne(publisher: Publisher, bytes: number): Promise<EncodeError | undefined> {
  try {
    await publisher.publish({ resource: "eu", rows: sizedBatch(3, bytes) });
  } catch (error) {
    assert.ok(error instanceof EncodeError);
    return error;
  }
}

Deno.test("a row of exactly max_payload is sent, one byte more is refused with row, size and limit before anything is sent", async () => {
  await using server = await startNatsServer({ config: "max_payload: 4096" });
  await using nc = await connect({ url: server.url });
  const publisher = await Publisher.open(nc, { stream: "ORDERS", subject: "orders", headers: { "X-Name": "Zoë" } });
  const headers = headerBytes("insert", "ORDERS", "X-Name: Zoë");
  const error = await publishOne(publisher, 4096 - headers + 1);
  assert.equal(error?.code, "encode.too_large");
  assert.deepEqual([error?.row, error?.size, error?.limit], [0, 4097, 4096]);
  assert.match(error!.message, /row 0.*4096 bytes.*max_payload.*4097/);
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 0);
  assert.equal(await publishOne(publisher, 4096 - headers), undefined);
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 3);
  await publisher.close();
});

Deno.test("a row of exactly the stream's max_msg_size is sent, one byte more is refused", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await addStream(nc, { name: "SMALL", subjects: ["small"], max_msg_size: 512 });
  const publisher = await Publisher.open(nc, { stream: "SMALL", subject: "small" });
  const headers = headerBytes("insert", "SMALL");
  assert.deepEqual(
    [await publishOne(publisher, 513 - headers)].map((e) => [e?.size, e?.limit, /max_msg_size/.test(e!.message)]),
    [
      [513, 512, true],
    ],
  );
  assert.equal(await publishOne(publisher, 512 - headers), undefined);
  await publisher.close();
});

Deno.test("a row counts in maxInFlightBytes as header block, payload and subject, and must fit it alone", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const headers = headerBytes("insert", "ORDERS");
  const subject = "orders.élan";
  const publisher = await Publisher.open(nc, { stream: "ORDERS", subject, maxInFlightBytes: headers + 100 + 12 });
  const error = await publishOne(publisher, 101);
  assert.deepEqual([error?.code, error?.size, error?.limit], ["encode.too_large", headers + 113, headers + 112]);
  assert.match(error!.message, /maxInFlightBytes/);
  assert.equal(await publishOne(publisher, 100), undefined);
  await publisher.close();
});

Deno.test("headers of exactly 65,535 bytes are sent, larger ones are refused", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const rest = headerBytes("insert", "ORDERS", "X-Long: ");
  for (const [length, fits] of [[65_535 - rest, true], [65_536 - rest, false]] as const) {
    const options = { stream: "ORDERS", subject: "orders", headers: { "X-Long": "x".repeat(length) } };
    const publisher = await Publisher.open(nc, options);
    const error = await publishOne(publisher, 30);
    assert.equal(error?.code, fits ? undefined : "encode.too_large");
    if (!fits) assert.deepEqual([error?.size, error?.limit], [65_536, 65_535]);
    await publisher.close();
  }
});

Deno.test("a subject that does not fit a protocol line of 4,096 bytes is refused before anything is sent", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const publisher = await Publisher.open(nc, { stream: "ORDERS", subject: "o.{resource}" });
  const batch = (length: number): RowBatch => ({ resource: "x".repeat(length), rows: batchOf([intColumn("n", [1])]) });
  await assert.rejects(publisher.publish(batch(4090)), { name: "RouteError", code: "route.subject" });
  await assert.rejects(publisher.publish(batch(4060)), { name: "RouteError", code: "route.subject" });
  assert.equal((await publisher.publish(batch(4000))).rows, 1, "the publisher is as it was, and what fits goes");
  await publisher.close();
});

/** The size of the header block with these lines. */
function headerBytes(operation: string, stream: string, ...more: string[]): number {
  const lines = [
    "NATS/1.0",
    "Content-Type: application/json",
    `Filament-Operation: ${operation}`,
    `Nats-Expected-Stream: ${stream}`,
    ...more,
  ];
  return lines.reduce((sum, line) => sum + new TextEncoder().encode(line).length + CRLF, CRLF);
}
