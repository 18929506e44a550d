/** Totals are returned only while the streams are still those that acknowledged the rows. */

import assert from "node:assert/strict";
import { isJetrowError, openRun, openSession, publishAll, type PublishError, type RowBatch } from "../../mod.ts";
import { connect } from "../../src/runtime/deno.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { failureOf } from "../_support/failed_publish.ts";
import { api, createStream, infoOf, startNatsServer, startTcpProxy } from "../_support/nats/mod.ts";

const batch = (first: number): RowBatch => ({ resource: "eu", rows: idBatch(10, { first }) });

type Config = Parameters<typeof createStream>[1];

const stream = (name: string): Config => ({
  name,
  subjects: [`${name}.>`],
  allow_atomic: true,
  allow_batched: true,
} as Config);

function assertChanged(error: unknown): void {
  assert.ok(isJetrowError(error), String(error));
  assert.deepEqual([error.code, (error as PublishError).outcome], ["publish.stream_changed", "uncertain"]);
  assert.match(
    error.message,
    /^Cannot confirm the rows of stream ".*": the stream was deleted while rows were published/,
  );
}

for (const publishMode of ["individual", "atomic", "fast"] as const) {
  Deno.test(`totals are refused after the stream was deleted or recreated: ${publishMode}`, async (t) => {
    await using server = await startNatsServer();
    const nc = await connect({ url: server.url });
    const options = (name: string) => ({ stream: name, subject: `${name}.{resource}`, publishMode });
    const recreate = async (name: string, last: number) => {
      await api(nc, `STREAM.DELETE.${name}`);
      await createStream(nc, stream(name));
      // Later rows have higher sequences than the deleted rows.
      for (let i = 0; i < last; i++) await nc.request(`${name}.other`, "{}");
    };
    const remove = async (name: string) => void await api(nc, `STREAM.DELETE.${name}`);

    await t.step("commit() of a run whose stream was recreated between two batches", async () => {
      const run = await openRun(nc, options("RUN"));
      if (publishMode !== "individual") await api(nc, "STREAM.UPDATE.RUN", stream("RUN"));
      await run.apply(batch(0));
      await recreate("RUN", 20);
      await run.apply(batch(10));
      const error = await failureOf(run.commit());
      assertChanged(error);
      assert.equal(await failureOf(run.commit()), error);
    });
    await t.step("commit() of a run whose stream was deleted after the last batch", async () => {
      const run = await openRun(nc, options("GONE"));
      await run.apply(batch(0));
      await remove("GONE");
      assertChanged(await failureOf(run.commit()));
    });
    await t.step("commitEpoch() poisons the session", async () => {
      const session = await openSession(nc, options("EPOCH"), "a");
      const ref = (epoch: number) => ({ attempt: "a", epoch });
      await session.beginEpoch(ref(1));
      await session.apply(batch(0), ref(1));
      assert.equal((await session.commitEpoch(ref(1)))[0]!.rows, 10);
      await session.beginEpoch(ref(2));
      await session.apply(batch(10), ref(2));
      await recreate("EPOCH", 0);
      assertChanged(await failureOf(session.commitEpoch(ref(2))));
      assertChanged(await failureOf(session.beginEpoch(ref(3))));
      assert.match(String(await failureOf(session.close())), /publish.stream_changed|quiescence/);
    });
    await t.step("publishAll() that dials again after the stream was recreated", async () => {
      await using proxy = await startTcpProxy(server.url);
      await createStream(nc, stream("ALL"));
      let told = (_: unknown): void => {};
      const first = new Promise((resolve) => told = resolve);
      async function* batches() {
        yield batch(0);
        await first;
        proxy.cut();
        await recreate("ALL", 0);
        yield batch(10);
      }
      const limits = { budget: "60s", onReceipt: () => told(undefined) };
      assertChanged(await failureOf(publishAll(() => connect({ url: proxy.url }), options("ALL"), batches(), limits)));
      assert.equal((await infoOf(nc, "ALL")).state.messages, 10);
    });
    await nc.close();
  });
}
