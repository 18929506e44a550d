import assert from "node:assert/strict";
import { connect } from "../../src/runtime/deno.ts";
import { verifyReceipt } from "../../src/stream/verify/verify.ts";
import { api, createStream, publishAcked, startNatsCluster, startNatsServer } from "../_support/nats/mod.ts";
import { fill, receiptOf } from "./_receipts.ts";

Deno.test("verifyReceipt() of 200,000 rows takes constant memory", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  for (
    const { way, config } of [{ way: "direct gets", config: { allow_direct: true } }, { way: "a consumer", config: {} }]
  ) {
    const name = way.replaceAll(" ", "_");
    await createStream(nc, { name, subjects: [name], ...config });
    const receipt = await fill(nc, name, 200_000, 2_000);
    const half = {
      ...receipt,
      rows: 100_000,
      bytes: Math.floor(receipt.bytes / 2),
      sequences: [[1, 100_000]],
    } as const;
    await heldBy(() => verifyReceipt(nc, half));
    const forHalf = await heldBy(() => verifyReceipt(nc, half));
    const forAll = await heldBy(async () => assert.equal((await verifyReceipt(nc, receipt)).ok, true));
    assert.ok(forAll - forHalf < 100, `${way}: ${forHalf} MB for 200 MB of rows, ${forAll} MB for 400 MB`);
    await api(nc, `STREAM.DELETE.${name}`);
  }
});

Deno.test("verifyReceipt() finds rows on the leader that the asked replica does not have yet", async () => {
  await using cluster = await startNatsCluster({ nodes: 3 });
  await using setup = await connect({ url: [...cluster.urls] });
  await createStream(setup, { name: "LAG", subjects: ["lag"], num_replicas: 3, allow_direct: true });
  const leader = await cluster.leaderOf("LAG");
  await using nc = await connect({ url: leader.url });
  // Read repeatedly as soon as they are acknowledged: which replica answers is random.
  for (let round = 0; round < 20; round++) {
    const bodies = Array.from({ length: 200 }, (_, i) => JSON.stringify({ round, i }));
    const receipt = receiptOf("LAG", bodies, await publishAcked(nc, "lag", bodies));
    const { ok, missing } = await verifyReceipt(nc, receipt);
    assert.deepEqual([ok, missing], [true, 0], `round ${round}`);
  }
});

/**
 * The memory held towards the end of `work`, in MB: the minimum in use during the last third of its time, since the
 * amount of garbage that is not yet collected is random.
 */
async function heldBy(work: () => Promise<unknown>): Promise<number> {
  const samples: number[] = [];
  const watch = setInterval(() => {
    const { heapUsed, external } = Deno.memoryUsage();
    samples.push((heapUsed + external) / 1e6);
  }, 10);
  await work();
  clearInterval(watch);
  return Math.round(Math.min(...samples.slice(Math.floor(samples.length * 2 / 3))));
}
