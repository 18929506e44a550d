import assert from "node:assert/strict";
import { connect } from "@nats-io/transport-node";
import { addStream, startNatsCluster } from "../_support/nats/mod.ts";

Deno.test("startNatsCluster() carries a stream of three replicas through the loss of its leader", async () => {
  await using cluster = await startNatsCluster({ nodes: 3 });
  {
    await using nc = await connect({ servers: cluster.urls as string[] });
    await addStream(nc, { name: "R3", subjects: ["r3"], num_replicas: 3 });
  }
  const leader = await cluster.leaderOf("R3");
  const followers = await cluster.followersOf("R3");
  assert.deepEqual(
    [leader, ...followers].map((node) => node.name).sort(),
    cluster.nodes.map((node) => node.name).sort(),
  );

  await leader.kill();
  const next = await cluster.leaderOf("R3");
  assert.notEqual(next, leader);
  assert((await cluster.metaLeader()).running());

  await leader.restart();
  assert.equal((await cluster.followersOf("R3")).length, 2);
});
