import assert from "node:assert/strict";
import { headers } from "@nats-io/nats-core";
import { concat, utf8 } from "../_support/bytes.ts";
import {
  ack,
  fakeConnection,
  type FakeConnectionOptions,
  headerOf,
  NO_RESPONDERS,
  TOO_MANY_REQUESTS,
} from "../_support/fake/mod.ts";

/** A scripted connection with an inbox that records what it receives. */
function inbox(options: FakeConnectionOptions = {}) {
  const fake = fakeConnection(options);
  const got: string[] = [];
  const sub = fake.nc.subscribe("_INBOX.me.*", {
    callback: (_error, message) => {
      got.push(`${message.subject.split(".").at(-1)} ${message.headers?.code ?? ""} ${message.string()}`);
    },
  });
  const publish = (token: number, body = "{}") => fake.nc.publish("orders.a", body, { reply: `_INBOX.me.${token}` });
  return { fake, sub, got, publish };
}

Deno.test("fakeConnection() acknowledges published messages one turn later", async () => {
  const { fake, got, publish } = inbox();
  publish(7);
  publish(8);
  assert.deepEqual(got, []);
  await Promise.resolve();
  assert.deepEqual(got, ['7  {"stream":"ORDERS","seq":1}', '8  {"stream":"ORDERS","seq":2}']);
  assert.deepEqual(fake.calls, ["subscribe _INBOX.me.*", "publish orders.a", "publish orders.a"]);
});

Deno.test("fakeConnection() records headers and payload unchanged, by publish and by frames", async () => {
  const block = utf8("NATS/1.0\r\nNats-Msg-Id: x\r\n\r\n");
  const made = headers();
  made.set("Nats-Msg-Id", "x");
  const one = inbox({ frames: true });
  one.fake.nc.publish("orders.a", "body", { reply: "_INBOX.me.1", headers: made });
  const frame = concat([
    utf8(`HPUB orders.a _INBOX.me.2 ${block.length} ${block.length + 4}\r\n`),
    block,
    utf8("body\r\n"),
  ]);
  const { protocol } = one.fake.nc as unknown as { protocol: { sendCommand(bytes: Uint8Array): void } };
  protocol.sendCommand(concat([frame, frame.subarray(0, 9)]));
  protocol.sendCommand(frame.subarray(9));
  await Promise.resolve();
  assert.equal(one.fake.published.length, 3);
  for (const published of one.fake.published) {
    assert.equal(headerOf(published, "Nats-Msg-Id"), "x");
    assert.deepEqual([published.headers, published.data], [block, utf8("body")]);
  }
  assert.deepEqual(one.got.map((line) => line.slice(0, 1)), ["1", "2", "2"]);
  assert.equal((fakeConnection().nc as { protocol?: unknown }).protocol, undefined);
});

Deno.test("fakeConnection() reads a message's bytes when they are written, as the real client does", async () => {
  const { fake } = inbox();
  const body = utf8("before");
  fake.nc.publish("orders.a", body);
  body.set(utf8("after!"));
  await Promise.resolve();
  assert.deepEqual(fake.published[0]?.data, utf8("after!"));
});

Deno.test("FakeConnection.deliver() delivers answers in any order, repeated, late, foreign and malformed", async () => {
  const { fake, got, sub, publish } = inbox({
    manual: true,
    answers: ({ index }) =>
      index === 0 ? { ...ack("ORDERS", 5), times: 2 } : index === 1 ? [NO_RESPONDERS, TOO_MANY_REQUESTS] : undefined,
  });
  for (const token of [0, 1, 2]) publish(token);
  await Promise.resolve();
  assert.equal(fake.waiting, 4);
  fake.deliverIn((waiting) => waiting.slice(2, 3));
  fake.deliver(1);
  assert.deepEqual(got.splice(0), ["1 503 ", '0  {"stream":"ORDERS","seq":5}']);
  fake.deliver();
  assert.equal(got.splice(0).map((line) => line.slice(0, 5)).join(), '0  {",1 429');
  fake.answer(fake.published[2]!, { body: "+ACK" });
  fake.answer(fake.published[2]!, { ...ack("OTHER", 1), subject: "_INBOX.me.99" });
  fake.answer(fake.published[2]!, { body: new Uint8Array([0xff]), subject: "_INBOX.you.2" });
  fake.deliver();
  assert.deepEqual(got.splice(0), ["2  +ACK", '99  {"stream":"OTHER","seq":1}']);
  sub.unsubscribe();
  fake.answer(fake.published[2]!, { body: "closed" });
  fake.answer(fake.published[2]!, { body: "late", late: true });
  fake.deliver();
  assert.deepEqual(got, ["2  late"]);
  assert.deepEqual(fake.subscribed, []);
});

Deno.test("FakeConnection.lose() ends everything that waits, as a lost connection does", async () => {
  const { fake, got, sub, publish } = inbox({ manual: true, requests: () => undefined });
  const statuses = (async () => {
    const types: string[] = [];
    for await (const { type } of fake.nc.status()) types.push(type);
    return types;
  })();
  publish(1);
  const asked = assert.rejects(fake.nc.request("a"), { name: "RequestError", message: "connection closed" });
  fake.lose(new Error("cut"));
  fake.deliver();
  await asked;
  assert.deepEqual(got, []);
  assert.deepEqual(fake.published, []);
  assert.equal((await fake.nc.closed() as Error).message, "cut");
  assert.equal((await sub.closed as Error).message, "cut");
  assert.deepEqual(await statuses, ["disconnect", "close"]);
  assert.throws(() => publish(2), { name: "ClosedConnectionError" });
  await assert.rejects(fake.nc.flush(), { name: "ClosedConnectionError" });
});

Deno.test("fakeConnection() refuses messages larger than the server's max_payload", () => {
  const fake = fakeConnection({ info: { max_payload: 10 } });
  assert.throws(() => fake.nc.publish("orders.a", "x".repeat(11)), { name: "InvalidArgumentError" });
});
