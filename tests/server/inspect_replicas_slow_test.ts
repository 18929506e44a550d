import assert from "node:assert/strict";
import { connect } from "../../src/runtime/deno.ts";
import { inspect } from "../../src/stream/checks/inspect.ts";
import {
  createConsumer,
  createStream,
  type NatsCluster,
  type NatsServer,
  natsServerVersion,
  olderThan,
  startNatsCluster,
} from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";
import { theOne } from "./_findings.ts";

const skipOld = olderThan("2.15.0", await natsServerVersion(), "inspect() on streams of several replicas");

/** A stream of two replicas: it has no majority when one is lost, while the cluster still has one. */
const TWO = { stream: "TWO", subject: "two.{resource}" };

async function leaderOfTwo(cluster: NatsCluster): Promise<NatsServer> {
  await using nc = await connect({ url: [...cluster.urls] });
  await createStream(nc, { name: "TWO", subjects: ["two.>"], num_replicas: 2 });
  return await cluster.leaderOf("TWO");
}

/** A clustered stream without any warnings. */
const SOUND = {
  name: "SOUND",
  subjects: ["sound.>"],
  num_replicas: 3,
  max_bytes: 100_000_000,
  discard: "new",
  allow_direct: true,
  deny_purge: true,
};

Deno.test({
  name: "inspect() finds faults of replicas: an even number, a lost node, a stream whose nodes are all lost",
  ignore: skipOld,
  async fn() {
    await using cluster = await startNatsCluster({ nodes: 3 });
    await using nc = await connect({ url: [...cluster.urls] });
    await leaderOfTwo(cluster);
    assert.equal(theOne(await inspect(nc, TWO), "stream.even_replicas").severity, "warning");

    // Only informational findings are expected here.
    await createStream(nc, SOUND);
    await createConsumer(nc, "SOUND", { name: "reader", durable_name: "reader", backoff: [1e9, 2e9] });
    const sound = { stream: "SOUND", subject: "sound.{resource}" };
    await cluster.followersOf("SOUND");
    assert.deepEqual((await inspect(nc, sound)).map(({ code }) => code), ["server.sync", "connection.payload"]);

    await createStream(nc, { name: "ALONE", subjects: ["alone"] });
    const other = await cluster.leaderOf("ALONE");
    await using elsewhere = await connect({ url: cluster.nodes.find((node) => node !== other)!.url });
    // Stopped in order: the other nodes notice a killed node much later.
    await other.stop();
    const lag = await until("the lost node to show", async () => {
      return (await inspect(elsewhere, sound)).find(({ code }) => code === "stream.replica_lag");
    });
    assert.equal(lag.severity, "warning");
    assert.ok(lag.message.includes(other.name));
    const offline = await until("the stream to be offline", async () => {
      return (await inspect(elsewhere, { stream: "ALONE", subject: "alone" })).find(({ code }) =>
        code === "stream.offline"
      );
    });
    assert.equal(offline.severity, "error");
  },
});

Deno.test({
  name: "inspect() finds a stream that has lost its leader and cannot elect another",
  ignore: skipOld,
  async fn() {
    await using cluster = await startNatsCluster({ nodes: 3 });
    const leader = await leaderOfTwo(cluster);
    await using nc = await connect({ url: cluster.nodes.find((node) => node !== leader)!.url });
    await leader.kill();
    // At first no server answers for the stream: the remaining node still tries to elect a leader.
    const found = await until("the loss of the leader to show", async () => {
      return (await inspect(nc, TWO, { timeout: 1000 })).find(({ code }) => code === "stream.no_leader");
    });
    assert.deepEqual([found.severity, found.field], ["error", "cluster.leader"]);
  },
});

Deno.test("inspect() finds a consumer with fewer replicas than its stream", async () => {
  await using cluster = await startNatsCluster({ nodes: 3 });
  await using nc = await connect({ url: [...cluster.urls] });
  await createStream(nc, { name: "THREE", subjects: ["three"], num_replicas: 3 });
  await createConsumer(nc, "THREE", { name: "one", durable_name: "one", num_replicas: 1 });
  await createConsumer(nc, "THREE", { name: "all", durable_name: "all" });
  const found = await inspect(nc, { stream: "THREE", subject: "three" });
  const { consumer, field } = theOne(found, "consumer.single_copy");
  assert.deepEqual([consumer, field], ["one", "num_replicas"]);
});
