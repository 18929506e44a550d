import assert from "node:assert/strict";
import { Publisher, type SinkConfig } from "../../mod.ts";
import { connect } from "../../src/runtime/deno.ts";
import { api, startNatsServer } from "../_support/nats/mod.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { fakeConnection, StreamModel } from "../_support/fake/mod.ts";
import { BASE } from "../faults/_scripted.ts";

const MEBIBYTE = 2 ** 20;

/** Answers of a malicious peer, of 64 MiB each. */
const BODIES: Readonly<Record<string, () => Uint8Array>> = {
  "64 MiB of zeros": () => new Uint8Array(64 * MEBIBYTE),
  "64 MiB of brackets": () => new Uint8Array(64 * MEBIBYTE).fill(0x5b),
  "64 MiB of nested objects": () => new TextEncoder().encode('{"a":'.repeat(64 * MEBIBYTE / 5)),
  "a right answer with 64 MiB of spaces after it": () =>
    new TextEncoder().encode(`{"stream":"ORDERS","seq":1}${" ".repeat(64 * MEBIBYTE)}`),
  "a right answer with a string of 64 MiB in it": () =>
    new TextEncoder().encode(`{"stream":"ORDERS","seq":1,"x":"${"x".repeat(64 * MEBIBYTE)}"}`),
};

for (const [name, body] of Object.entries(BODIES)) {
  Deno.test(`an acknowledgment that is ${name} counts as malformed, in time proportional to its bytes`, async () => {
    const stream = new StreamModel();
    const bytes = body();
    const fake = fakeConnection({
      frames: true,
      answers: (published) => published.index === 2 ? { body: bytes } : stream.store(published),
    });
    const publisher = await Publisher.open(fake.nc, BASE);
    const before = Deno.memoryUsage().heapUsed;
    const start = performance.now();
    const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(5) }));
    // Anything worse than linear time takes hours for 64 MiB.
    assert.ok(performance.now() - start < 60_000);
    assert.ok(Deno.memoryUsage().heapUsed - before < 64 * MEBIBYTE);
    const failure = assertFailure(error, 5, {
      code: "publish.bad_ack",
      row: 2,
      outcome: "uncertain",
      counts: { acked: 4, unknown: 1 },
    });
    assert.ok(failure.message.length < 1000);
    await publisher.close();
  });
}

Deno.test("an acknowledgment with a header block of 8 MiB counts as malformed", async () => {
  for (
    const headers of [
      `NATS/1.0 503\r\n${"a: b\r\n".repeat(MEBIBYTE)}\r\n`,
      `NATS/1.0 ${"9".repeat(8 * MEBIBYTE)}\r\n\r\n`,
      `NATS/1.0\r\n${"\u0000".repeat(8 * MEBIBYTE)}\r\n\r\n`,
      `HTTP/1.1 200 OK\r\n\r\n`,
    ]
  ) {
    const fake = fakeConnection({ answers: () => ({ headers }) });
    const publisher = await Publisher.open(fake.nc, BASE);
    const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(1) })) as Error;
    assert.equal(error.name, "PublishError");
    assert.ok(error.message.length < 1000);
    await publisher.close();
  }
});

Deno.test("a lookup answered by 64 MiB of brackets fails", async () => {
  const fake = fakeConnection({ requests: () => new Uint8Array(64 * MEBIBYTE).fill(0x5b) });
  const error = await failureOf(Publisher.open(fake.nc, BASE)) as Error & { code: string };
  assert.equal(error.code, "connection.no_answer");
  assert.ok(error.message.length < 1000);
  assert.deepEqual(fake.subscribed, []);
});

Deno.test("a subscriber of the rows' subject that answers with 48 MiB makes that row unknown, and crashes nothing", async () => {
  await using server = await startNatsServer({ config: "max_payload: 64MB\nmax_pending: 256MB" });
  const config: SinkConfig = { url: server.url, stream: "ORDERS", subject: "orders.{resource}", publishTimeout: "20s" };
  await using peer = await connect({ url: server.url });
  const publisher = await Publisher.open(() => connect(config), config);
  // The stream itself is silent, so that the peer's answer is the first.
  const { config: stream } = await api(peer, "STREAM.INFO.ORDERS") as { config: Record<string, unknown> };
  await api(peer, "STREAM.UPDATE.ORDERS", { ...stream, no_ack: true });
  const bytes = new Uint8Array(48 * MEBIBYTE).fill(0x5b);
  peer.subscribe("orders.>", { callback: (_, message) => void message.respond(bytes) });
  await peer.flush();
  const error = await failureOf(publisher.publish({ resource: "eu", rows: idBatch(1) }));
  assertFailure(error, 1, { code: "publish.bad_ack", row: 0, outcome: "uncertain", counts: { unknown: 1 } });
  await publisher.close();
});
