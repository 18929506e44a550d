import assert from "node:assert/strict";
import { tableFromArrays } from "apache-arrow";
import { connect, Publisher } from "../../src/runtime/deno.ts";
import { batchOf, intColumn } from "../_support/arrow/mod.ts";
import {
  addStream,
  infoOf,
  olderThan,
  passwordUsers,
  publisherPermissions,
  startNatsServer,
} from "../_support/nats/mod.ts";

const rows = batchOf([intColumn("n", [1, 2, 3])]);
const admin = { username: "admin", password: "all" };
const asAdmin = { authMode: "user_password", ...admin } as const;
const asWorker = { authMode: "user_password", username: "worker", password: "few" } as const;

function serverFor(permissions: { publish: readonly string[]; subscribe: readonly string[] }) {
  return startNatsServer({
    config: passwordUsers(admin, { username: "worker", password: "few", permissions }),
  });
}

Deno.test("a user that may look the stream up, create it, publish and receive answers can publish", async () => {
  await using server = await serverFor(
    publisherPermissions({ stream: "ORDERS", subjects: ["orders.*"], inboxPrefix: "_WORKER", create: true }),
  );
  const config = {
    url: server.url,
    ...asWorker,
    stream: "ORDERS",
    subject: "orders.{resource}",
    inboxPrefix: "_WORKER",
  };
  const publisher = await Publisher.open(() => connect(config), config);
  assert.equal((await publisher.publish({ resource: "eu", rows })).rows, 3);
  await publisher.close();
});

Deno.test("a user that may not create streams needs only lookup, subjects and inbox, also with its own inboxPrefix", async () => {
  await using server = await serverFor(
    publisherPermissions({ stream: "ORDERS", subjects: ["orders.*"], inboxPrefix: "_WORKER" }),
  );
  await using boss = await connect({ url: server.url, ...asAdmin });
  await addStream(boss, { name: "ORDERS", subjects: ["orders.*"] });
  await using nc = await connect({ url: server.url, ...asWorker });
  const options = { stream: "ORDERS", subject: "orders.{resource}" };
  const publisher = await Publisher.open(nc, { ...options, inboxPrefix: "_WORKER" });
  assert.equal((await publisher.publish({ resource: "eu", rows })).rows, 3);
  await publisher.close();
  await assert.rejects(Publisher.open(nc, options), (error: Error & { code?: string }) => {
    assert.deepEqual([error.name, error.code], ["ConnectionError", "connection.permission"]);
    return /_INBOX/.test(error.message);
  });
  assert.equal((await infoOf(boss, "ORDERS")).state.messages, 3, "the refused opening sent nothing");
});

Deno.test("opening fails with a permission error for a user that may not look the stream up", async () => {
  await using server = await serverFor({ publish: ["orders.*"], subscribe: ["_INBOX.>"] });
  await using nc = await connect({ url: server.url, ...asWorker });
  await assert.rejects(
    Publisher.open(nc, { stream: "ORDERS", subject: "orders.{resource}" }),
    (error: Error & { code?: string }) => {
      assert.deepEqual([error.name, error.code], ["ConnectionError", "connection.permission"]);
      return /\$JS\.API\.STREAM\.INFO\.ORDERS/.test(error.message);
    },
  );
});

Deno.test("publishing without permission for the subject fails with publish.permission, its rows unknown", async () => {
  await using server = await serverFor(publisherPermissions({ stream: "ORDERS", subjects: ["orders.eu"] }));
  await using boss = await connect({ url: server.url, ...asAdmin });
  await addStream(boss, { name: "ORDERS", subjects: ["orders.*"] });
  const config = {
    url: server.url,
    ...asWorker,
    stream: "ORDERS",
    subject: "orders.{resource}",
    publishTimeout: 5000,
  };
  const publisher = await Publisher.open(() => connect(config), config);
  assert.equal((await publisher.publish({ resource: "eu", rows })).rows, 3);
  await assert.rejects(publisher.publish({ resource: "us", rows }), (error: Error & Record<string, unknown>) => {
    assert.deepEqual([error.name, error.code, error.outcome], ["PublishError", "publish.permission", "uncertain"]);
    assert.match(error.message, /orders\.us/);
    return true;
  });
  assert.equal((await infoOf(boss, "ORDERS")).state.messages, 3);
  await publisher.close();
});

for (const [publishMode, since] of [["atomic", "2.12.1"], ["fast", "2.14.0"]] as const) {
  for (const owned of [false, true]) {
    Deno.test(`a batch that lacks a row without permission fails with publish.permission (${publishMode}, ${owned ? "own connection" : "connection of the caller"})`, async () => {
      await using server = await serverFor(publisherPermissions({ stream: "ORDERS", subjects: ["orders.eu"] }));
      if (olderThan(since, server, publishMode)) return;
      await using boss = await connect({ url: server.url, ...asAdmin });
      const flags = { allow_atomic: publishMode === "atomic", allow_batched: publishMode === "fast" };
      await addStream(boss, { name: "ORDERS", subjects: ["orders.*"], ...flags } as never);
      const dial = () => connect({ url: server.url, ...asWorker });
      const nc = owned ? undefined : await dial();
      await using _closed = { [Symbol.asyncDispose]: async () => await nc?.close() };
      const options = { stream: "ORDERS", subject: "orders.{row.region}", publishMode };
      const publisher = await Publisher.open(nc ?? dial, options);
      const rows = tableFromArrays({ region: ["eu", "us", "eu"] });
      await assert.rejects(publisher.publish({ resource: "r", rows }), {
        code: "publish.permission",
        message: /orders\.us/,
      });
      assert.equal((await infoOf(boss, "ORDERS")).state.messages, publishMode === "fast" ? 1 : 0);
    });
  }
}
