import assert from "node:assert/strict";
import { connect } from "../../src/runtime/deno.ts";
import { testConnection } from "../../src/stream/test_connection.ts";
import { createStream, passwordUsers, publishAcked, startNatsServer } from "../_support/nats/mod.ts";

Deno.test("testConnection() returns server, version and the account's usage", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "ORDERS", subjects: ["orders"] });
  await publishAcked(nc, "orders", ["{}"]);
  const tested = await testConnection(nc);
  assert.deepEqual([tested.server, tested.version], [server.name, server.version]);
  const { streams, consumers, storage, memory, maxStorage, domain } = tested.jetstream;
  assert.deepEqual([streams, consumers, memory, maxStorage, domain], [1, 0, 0, undefined, undefined]);
  assert.ok(storage > 0);
});

Deno.test("testConnection() returns limits and domain, and accepts a whole configuration", async () => {
  const config = `accounts { A { jetstream { max_file: 5MB, max_mem: 1MB }, users: [{ user: a, password: a }] } }`;
  await using server = await startNatsServer({ config, jetstream: "domain: hub" });
  const sink = { url: server.url, authMode: "user_password", username: "a", password: "a", domain: "hub" } as const;
  await using nc = await connect(sink);
  const { jetstream } = await testConnection(nc, sink);
  assert.deepEqual([jetstream.maxStorage, jetstream.maxMemory, jetstream.domain], [5 << 20, 1 << 20, "hub"]);
  await assert.rejects(testConnection(nc, { ...sink, domain: "elsewhere" }), { code: "connection.no_jetstream" });
  await assert.rejects(testConnection(nc, { inboxPrefix: "a.*" }), { name: "ConfigError", field: "inboxPrefix" });
  await assert.rejects(testConnection(nc, { domian: "hub" } as never), { name: "ConfigError", code: "config.unknown" });
});

Deno.test("testConnection() throws a ConnectionError for each way in which JetStream is unreachable", async () => {
  const users = passwordUsers(
    { username: "mute", password: "p", permissions: { publish: ["orders"], subscribe: ["_INBOX.>"] } },
    { username: "deaf", password: "p", permissions: { publish: [">"], subscribe: ["_MINE.>"] } },
  );
  await using server = await startNatsServer({ config: users });
  const login = (username: string) => connect({ url: server.url, authMode: "user_password", username, password: "p" });
  await using mute = await login("mute");
  await assert.rejects(testConnection(mute), { code: "connection.permission", message: /publish/ });
  await using deaf = await login("deaf");
  await assert.rejects(testConnection(deaf), { code: "connection.permission", message: /subscribe.*_INBOX/ });
  assert.equal((await testConnection(deaf, { inboxPrefix: "_MINE" })).version, server.version);

  await using plain = await startNatsServer({ jetstream: false });
  await using nc = await connect({ url: plain.url });
  await assert.rejects(testConnection(nc), { name: "ConnectionError", code: "connection.no_jetstream" });
  const reason = new Error("enough");
  await assert.rejects(testConnection(nc, { signal: AbortSignal.abort(reason) }), reason);
  await nc.close();
  await assert.rejects(testConnection(nc), { code: "connection.closed" });
});

Deno.test("testConnection() throws connection.no_jetstream for an account without it", async () => {
  const config = `accounts { A { users: [{ user: a, password: a }] }, B { jetstream: enabled } }`;
  await using server = await startNatsServer({ config });
  await using nc = await connect({ url: server.url, authMode: "user_password", username: "a", password: "a" });
  await assert.rejects(testConnection(nc), { code: "connection.no_jetstream" });
});
