import assert from "node:assert/strict";
import { isJetrowError, type JetrowError, Publisher } from "../../mod.ts";
import { connect } from "../../src/runtime/deno.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { fakeConnection, NO_RESPONDERS } from "../_support/fake/mod.ts";
import { startNatsServer } from "../_support/nats/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";

const OPTIONS = { stream: "ORDERS", subject: "orders.{resource}" };

/** Asserts that `closed()` resolved with an error, and returns it. */
function ended(error: void | JetrowError): JetrowError {
  assert.ok(isJetrowError(error));
  return error;
}

Deno.test(
  "closed() resolves with undefined after close(), and not before",
  onVirtualClock(async () => {
    const publisher = await Publisher.open(fakeConnection().nc, OPTIONS);
    let over = false;
    const closed = publisher.closed().then((error) => (over = true, error));
    await publisher.publish({ resource: "eu", rows: numberBatch(3) });
    assert.equal(over, false);
    await publisher.close();
    assert.equal(await closed, undefined);
    assert.equal(await publisher.closed(), undefined, "repeatable");
  }),
);

Deno.test(
  "closed() resolves with the error that calls reject with",
  onVirtualClock(async () => {
    const publisher = await Publisher.open(fakeConnection({ answers: () => NO_RESPONDERS }).nc, OPTIONS);
    const failed = await publisher.publish({ resource: "eu", rows: numberBatch(3) }).catch((error) => error);
    assert.equal(await publisher.closed(), failed);
    await publisher.close();
    assert.equal(await publisher.closed(), failed, "closing later changes nothing");
  }),
);

Deno.test(
  "closed() resolves with an error when the connection is lost without a call in progress",
  onVirtualClock(async () => {
    const fake = fakeConnection();
    const publisher = await Publisher.open(fake.nc, OPTIONS);
    fake.lose(new Error("read ECONNRESET"));
    const error = ended(await publisher.closed());
    assert.deepEqual([error.name, error.code], ["PublishError", "publish.disconnected"]);
    await publisher.close();
  }),
);

Deno.test("closed() resolves after the server has gone, when the dialled connection is closed", async () => {
  const server = await startNatsServer();
  const config = { ...OPTIONS, url: server.url };
  const nc = await connect(config);
  const publisher = await Publisher.open(() => Promise.resolve(nc), config);
  await publisher.publish({ resource: "eu", rows: numberBatch(3) });
  await server[Symbol.asyncDispose]();
  assert.equal(ended(await publisher.closed()).code, "publish.disconnected");
  assert.ok(nc.isClosed());
});

Deno.test(
  "closed() resolves with an abort that ends the publisher, not with one that ends a single call",
  onVirtualClock(async () => {
    const fake = fakeConnection({ answers: () => undefined });
    const abort = new AbortController();
    const publisher = await Publisher.open(() => Promise.resolve(fake.nc), OPTIONS);
    const call = publisher.publish({ resource: "eu", rows: numberBatch(3) }, { signal: abort.signal });
    const failed = call.catch((error) => error);
    while (fake.published.length < 3) await new Promise((resolve) => setTimeout(resolve, 0));
    abort.abort(new Error("enough"));
    assert.equal(await publisher.closed(), await failed);

    const shared = fakeConnection();
    const other = await Publisher.open(shared.nc, OPTIONS);
    await assert.rejects(other.publish({ resource: "eu", rows: numberBatch(3) }, { signal: AbortSignal.abort() }), {
      code: "publish.aborted",
    });
    await other.close();
    assert.equal(await other.closed(), undefined);
  }),
);
