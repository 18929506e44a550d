import assert from "node:assert/strict";
import { type JetrowError, openRun, Publisher } from "../../mod.ts";
import { connect } from "../../src/runtime/deno.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { makeOperator, startNatsServer } from "../_support/nats/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";
import { type FakeConnection, fakeConnection } from "../_support/fake/mod.ts";

const OPTIONS = { stream: "ORDERS", subject: "orders.{resource}" };

Deno.test("a publisher whose user expires reports that, in closed() and in the error of a call in progress", async () => {
  const operator = await makeOperator();
  await using server = await startNatsServer({ config: operator.config });
  const { jwt, nkeySeed } = await operator.user({ expiresIn: 6 });
  const config = { ...OPTIONS, url: server.url, authMode: "jwt", jwt, nkeySeed } as const;
  const nc = await connect(config);
  const publisher = await Publisher.open(nc, config);
  const run = await openRun(nc, config);
  // The call is in progress when the user expires.
  const batches = (async function* () {
    yield { resource: "eu", rows: numberBatch(3) };
    await publisher.closed();
    yield { resource: "eu", rows: numberBatch(3) };
  })();
  const failed = await run.applyAll(batches).catch((error) => error);
  for (const error of [await publisher.closed() as JetrowError, failed]) {
    assert.equal(error.code, "publish.disconnected");
    assert.match(error.message, /the connection is lost: User Authentication Expired/i);
    assert.match((error.cause as Error).message, /User Authentication Expired/i);
  }
  await publisher.close();
  await run.abort();
});

Deno.test("rows that make the server close the connection fail with the server's reason", async () => {
  await using server = await startNatsServer();
  const config = { ...OPTIONS, url: server.url };
  const publisher = await Publisher.open(() => connect(config), config);
  await publisher.publish({ resource: "eu", rows: numberBatch(3) });
  // The client uses the limit that the server announced when it connected.
  await server.reload({ config: "max_payload: 100" });
  const error = await publisher.publish({ resource: "eu", rows: numberBatch(3) }).catch((error) => error);
  assert.equal(error.code, "publish.disconnected");
  assert.match(error.message, /the connection is lost: Maximum Payload Violation/i);
  assert.match((error.cause as Error).message, /Maximum Payload Violation/i);
  assert.equal(await publisher.closed(), error);
});

for (const frames of [false, true]) {
  Deno.test(
    `a lost connection is explained by the client's most recent error, not by old ones (frames: ${frames})`,
    onVirtualClock(async () => {
      const reasonOf = async (report: (fake: FakeConnection) => Promise<void> | void): Promise<string> => {
        const fake = fakeConnection({ frames });
        const publisher = await Publisher.open(fake.nc, OPTIONS);
        await report(fake);
        fake.disconnect();
        return (await publisher.closed() as JetrowError).message;
      };
      const error = new Error("Stale Connection");
      const old = async (fake: FakeConnection) => {
        fake.emit({ type: "error", error });
        await new Promise((resolve) => setTimeout(resolve, 6000));
      };
      assert.match(await reasonOf((fake) => fake.emit({ type: "error", error })), /is lost: Stale Connection$/);
      assert.match(await reasonOf((fake) => fake.emit({ type: "staleConnection" })), /is lost: no answer to pings$/);
      assert.match(await reasonOf(() => {}), /the connection is lost$/);
      assert.match(await reasonOf(old), /the connection is lost$/);
    }),
  );
}
