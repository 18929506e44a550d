import assert from "node:assert/strict";
import { connect } from "@nats-io/transport-node";
import { ask, clientsOf, startNatsServer } from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";

Deno.test("clientsOf() tells who is connected and subscribed to what", async () => {
  await using server = await startNatsServer();
  const nc = await connect({ servers: server.url, name: "me" });
  const sub = nc.subscribe("a.*");
  await nc.flush();
  const [client] = await clientsOf(server);
  assert.deepEqual([client?.name, client?.subscriptions_list], ["me", ["a.*"]]);
  sub.unsubscribe();
  await nc.flush();
  assert.equal((await clientsOf(server))[0]?.subscriptions_list, undefined);
  await nc.close();
  await until("the connection to be gone", async () => (await clientsOf(server)).length === 0);
});

Deno.test("ask() rejects when nobody answers", async () => {
  await assert.rejects(ask("http://127.0.0.1:1/varz"), /ECONNREFUSED|refused/);
});
