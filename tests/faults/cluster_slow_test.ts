import assert from "node:assert/strict";
import { connect, publishAll, Publisher, type SinkConfig, type WriteReceipt } from "../../src/runtime/deno.ts";
import { api, type NatsCluster, type NatsServer, startNatsCluster } from "../_support/nats/mod.ts";
import { assertWhole } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { until } from "../_support/wait.ts";
import { asAdmin, playOnServer, type ServerScene, storedRows } from "./_server.ts";

const ORDERS = { name: "ORDERS", subjects: ["orders.>"], num_replicas: 3, duplicate_window: 600e9 };
const SINK = { stream: "ORDERS", subject: "orders.{resource}", maxInFlight: 256, publishTimeout: 5000 } as const;

/** A connection to a running node. */
const anyNode = (cluster: NatsCluster) => () => ({ url: cluster.nodes.find((node) => node.running())!.url });

/** Waits until all nodes run and agree on a leader, and deletes all streams. */
async function reset(cluster: NatsCluster): Promise<void> {
  for (const node of cluster.nodes) if (!node.running()) await node.restart({ wait: "listening" });
  await cluster.ready();
  // A cluster that has just elected a leader may leave a request unanswered.
  await until("no stream", () =>
    asAdmin(anyNode(cluster)(), async (nc) => {
      const request = api(nc, "STREAM.DELETE.ORDERS");
      return await request.then(() => true, (error: Error) => error.message.includes("10059"));
    }));
}

async function follower(cluster: NatsCluster): Promise<NatsServer> {
  return (await cluster.followersOf("ORDERS"))[0]!;
}

async function create(cluster: NatsCluster): Promise<void> {
  await until("a stream", () => asAdmin(anyNode(cluster)(), (nc) => api(nc, "STREAM.CREATE.ORDERS", ORDERS)));
}

async function assertStored(cluster: NatsCluster, rows: number): Promise<void> {
  await cluster.leaderOf("ORDERS");
  const stored = await until("the rows", () => asAdmin(anyNode(cluster)(), (nc) => storedRows(nc)));
  assertWhole(stored, rows);
}

Deno.test("publishing to three nodes", async (t) => {
  await using cluster = await startNatsCluster();
  const stepDown = () =>
    until("a step-down", () => asAdmin(anyNode(cluster)(), (nc) => api(nc, "STREAM.LEADER.STEPDOWN.ORDERS")));
  const leaderless = { code: ["publish.no_responders", "publish.timeout", "publish.rejected"] } as const;

  const plays = {
    "without retry fails when the leader is killed": {
      act: async () => await (await cluster.leaderOf("ORDERS")).kill(),
      repair: async () => void await cluster.leaderOf("ORDERS"),
    },
    "without retry fails when the leader steps down": {
      act: async ({ publisher }: ServerScene) => {
        // A single step-down may cause no failure; one of the next will.
        while (publisher.stats().failures === 0) {
          const before = publisher.stats().acked;
          await stepDown();
          await cluster.leaderOf("ORDERS");
          await until("a failure, or more rows", () => {
            const { failures, acked } = publisher.stats();
            return failures > 0 || acked > before + 500 ? true : undefined;
          }, { every: 2 });
        }
      },
      repair: async () => void await cluster.leaderOf("ORDERS"),
    },
  };
  for (const [what, play] of Object.entries(plays)) {
    await t.step(what, async () => {
      await reset(cluster);
      await create(cluster);
      await playOnServer({
        server: await follower(cluster),
        admin: anyNode(cluster),
        exists: true,
        rows: 20_000,
        options: { publishTimeout: 5000, maxInFlight: 100 },
        ...play,
        expected: leaderless,
      });
    });
  }

  await t.step("with retry stores 50,000 rows once through a killed leader and a step-down", async () => {
    await reset(cluster);
    await create(cluster);
    const node = await follower(cluster);
    const config: SinkConfig = { ...SINK, url: node.url, retry: { budget: "3m" } };
    const publisher = await Publisher.open(() => connect(config), config);
    const publishing = publisher.publish({ resource: "eu", rows: idBatch(50_000) });
    const acked = (rows: number) => until(`${rows} rows`, () => publisher.stats().acked > rows, { every: 2 });
    await acked(5_000);
    await (await cluster.leaderOf("ORDERS")).kill();
    await acked(20_000);
    await stepDown();
    const receipt = await publishing;
    assert.equal(receipt.rows, 50_000);
    await publisher.close();
    await assertStored(cluster, 50_000);
  });

  await t.step("by publishAll() stores every row once while one node after another restarts", async () => {
    await reset(cluster);
    await create(cluster);
    const config: SinkConfig = { ...SINK, url: cluster.urls };
    const receipts: WriteReceipt[] = [];
    let done = 0;
    const source = async function* () {
      for (let first = 0; first < 28_000; first += 500) {
        yield { resource: "eu", rows: idBatch(500, { first }) };
        // Some rows before, between and after the restarts, whatever the machine's speed.
        await until("the restart", () => first < (done + 1) * 7_000, { every: 5 });
      }
    };
    const restarts = (async () => {
      for (const node of cluster.nodes) {
        await until("some receipts", () => receipts.length > done * 14 + 5, { every: 5 });
        await node.stop();
        await node.restart({ wait: "ready" });
        await cluster.ready();
        done++;
      }
    })();
    const total = await publishAll(() => connect(config), config, source(), {
      budget: "3m",
      onReceipt: (receipt) => void receipts.push(receipt),
    });
    await restarts;
    assert.equal(total.rows, 28_000);
    assert.deepEqual(receipts.map(({ batch }) => batch), Array.from({ length: 56 }, (_, batch) => batch));
    await assertStored(cluster, 28_000);
  });

  await t.step("by publishAll() continues at the next of several urls when a node is gone for good", async () => {
    await reset(cluster);
    await create(cluster);
    const node = await follower(cluster);
    const others = cluster.nodes.filter((other) => other !== node).map(({ url }) => url);
    const config: SinkConfig = { ...SINK, url: [node.url, ...others] };
    let told = 0;
    const total = await publishAll(
      () => connect(config),
      config,
      [0, 5000, 10_000].map((first) => ({
        resource: "eu",
        rows: idBatch(5000, { first }),
      })),
      {
        budget: "3m",
        onReceipt: async () => {
          if (told++ === 0) await node.kill();
        },
      },
    );
    assert.equal(total.rows, 15_000);
    await assertStored(cluster, 15_000);
  });
});
