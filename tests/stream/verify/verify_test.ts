import assert from "node:assert/strict";
import { crc32c } from "../../../src/hash/crc32c.ts";
import { verifyReceipt } from "../../../src/stream/verify/verify.ts";
import { type Answer, apiError, type Asked, fakeConnection, streamInfo } from "../../_support/fake/mod.ts";

const BODIES = ["{}", "[]", "1", "2"];
const all = new TextEncoder().encode(BODIES.join(""));
const RECEIPT = {
  uri: "nats://ORDERS/a",
  resource: "a",
  stream: "ORDERS",
  subject: "orders.a",
  rows: 4,
  bytes: all.length,
  crc32c: crc32c(all),
  sequences: [[1, 4]],
  batch: 0,
  offset: 0,
} as const;

const row = (seq: number): Answer => ({
  headers: `NATS/1.0\r\nNats-Sequence: ${seq}\r\nNats-Num-Pending: 9\r\n\r\n`,
  body: BODIES[seq - 1],
});
const END: Answer = { headers: "NATS/1.0 204 EOB\r\n\r\n" };

/** A leader that holds these rows, and a stream that allows direct gets. */
function leaderWith(...has: number[]) {
  return ({ subject, body }: Asked) => {
    if (subject.includes("STREAM.INFO")) return streamInfo("ORDERS", { allow_direct: true });
    const { seq } = JSON.parse(body);
    if (!has.includes(seq)) return apiError("stream_msg_get_response", 404, 10037, "no message found");
    const message = { seq, data: btoa(BODIES[seq - 1]!) };
    return { type: "io.nats.jetstream.api.v1.stream_msg_get_response", message };
  };
}

Deno.test("verifyReceipt() asks the leader for messages that a lagging replica does not return", async () => {
  const fake = fakeConnection({ answers: () => [row(1), row(2), END], requests: leaderWith(3, 4) });
  assert.equal((await verifyReceipt(fake.nc, RECEIPT)).ok, true);
  assert.deepEqual(fake.asked.slice(1).map(({ body }) => body), ['{"seq":3}', '{"seq":4}']);
  assert.deepEqual(fake.subscribed, [], "no inbox is left");
});

Deno.test("verifyReceipt() counts messages that the leader does not have as missing", async () => {
  const fake = fakeConnection({ answers: () => [row(1), row(4), END], requests: leaderWith(3) });
  const { ok, rows, missing } = await verifyReceipt(fake.nc, RECEIPT);
  assert.deepEqual([ok, rows, missing], [false, 3, 1]);
});

Deno.test("verifyReceipt() continues after the server ends a batch early", async () => {
  const fake = fakeConnection({
    answers: ({ data }) => [row(JSON.parse(new TextDecoder().decode(data)).seq), END],
    requests: leaderWith(),
  });
  assert.equal((await verifyReceipt(fake.nc, RECEIPT)).ok, true);
  assert.equal(fake.published.length, 4);
});

Deno.test("verifyReceipt() does not mistake a row's own header for the message's sequence", async () => {
  const spoofed: Answer = {
    headers: "NATS/1.0\r\nNats-Sequence: 4\r\nNats-Sequence: 1\r\nNats-Num-Pending: 3\r\n\r\n",
    body: BODIES[0],
  };
  const fake = fakeConnection({ answers: () => [spoofed, row(2), row(3), row(4), END], requests: leaderWith() });
  assert.equal((await verifyReceipt(fake.nc, RECEIPT)).ok, true);
});

Deno.test("verifyReceipt() asks the leader when no server answers direct gets", async () => {
  const interest = ({ subject, body }: Asked) =>
    subject.includes("STREAM.INFO")
      ? streamInfo("ORDERS", { allow_direct: true, retention: "interest" })
      : leaderWith(1, 2, 3, 4)({ subject, body });
  for (const answer of [{ status: 503 }, { headers: "NATS/1.0 408 Bad Request\r\n\r\n" }, { body: "bogus" }]) {
    const fake = fakeConnection({ answers: () => answer, requests: interest });
    assert.equal((await verifyReceipt(fake.nc, RECEIPT)).ok, true, JSON.stringify(answer));
    assert.equal(fake.published.length, 1, "a way that does not work is not tried again");
  }
});

Deno.test("verifyReceipt() refuses an answer of the leader that is another message", async () => {
  const message = { seq: 2, data: btoa("{}") };
  const fake = fakeConnection({
    answers: () => [END],
    requests: ({ subject }) =>
      subject.includes("STREAM.INFO")
        ? streamInfo("ORDERS", { allow_direct: true })
        : { type: "io.nats.jetstream.api.v1.stream_msg_get_response", message },
  });
  await assert.rejects(verifyReceipt(fake.nc, RECEIPT), { code: "connection.no_answer" });
});

Deno.test("verifyReceipt() accepts a whole configuration and refuses an unknown key", async () => {
  const fake = fakeConnection({ answers: () => [1, 2, 3, 4].map(row).concat(END), requests: leaderWith() });
  const options = { url: "nats://x", password: "secret", stream: "S", subject: "s", inboxPrefix: "_MINE" };
  assert.equal((await verifyReceipt(fake.nc, RECEIPT, options)).ok, true);
  assert.ok(fake.published[0]!.reply.startsWith("_MINE."));
  await assert.rejects(verifyReceipt(fake.nc, RECEIPT, { inbox_prefix: "_MINE" } as never), { code: "config.unknown" });
});
