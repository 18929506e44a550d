import assert from "node:assert/strict";
import { openRun, openSession, publishAll, type RowBatch } from "../../mod.ts";
import { failureOf } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { BASE, reached } from "../faults/_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

const ref = (epoch: number, attempt = "a1") => ({ attempt, epoch });
const batch = (rows: number, first = 0): RowBatch => ({ resource: "eu", rows: idBatch(rows, { first }) });
const code = (error: unknown): string => (error as { code: string }).code;

Deno.test(
  "a call that fails before anything is sent ends the run, and the last call in progress closes the dialled connection",
  onVirtualClock(async () => {
    const fake = fakeConnection({ manual: true });
    const run = await openRun(() => Promise.resolve(fake.nc), BASE);
    const good = run.apply(batch(3));
    const error = await failureOf(run.apply({ resource: "a b", rows: idBatch(1) }));
    assert.equal(code(error), "route.subject");
    assert.ok(!fake.nc.isClosed(), "a call is in progress");
    await reached(fake, 3);
    fake.deliver();
    assert.equal((await good).rows, 3);
    assert.ok(fake.nc.isClosed());
    assert.equal(await failureOf(run.apply(batch(1))), error);
    assert.equal(await failureOf(run.commit()), error);
    await run.abort();
  }),
);

Deno.test(
  "a failed run on the caller's connection leaves it open and unsubscribes its inbox",
  onVirtualClock(async () => {
    const fake = fakeConnection();
    const run = await openRun(fake.nc, BASE);
    assert.equal(code(await failureOf(run.apply({ resource: "eu", rows: idBatch(2), only: [2] }))), "config.range");
    assert.deepEqual(fake.subscribed, []);
    assert.ok(!fake.nc.isClosed());
  }),
);

Deno.test(
  "a call that fails before anything is sent closes the connection that the session dialled",
  onVirtualClock(async () => {
    const fake = fakeConnection();
    const session = await openSession(() => Promise.resolve(fake.nc), BASE, "attempt-1");
    const first = ref(7, "attempt-1");
    await session.beginEpoch(first);
    const error = await failureOf(session.apply({ resource: "a b", rows: idBatch(1) }, first));
    assert.ok(fake.nc.isClosed());
    await session.abortEpoch(first);
    assert.equal(await failureOf(session.beginEpoch(first)), error);
    assert.equal(await failureOf(session.close()), error);
  }),
);

Deno.test(
  "openSession() with ownsConnection closes the connection when the options or the attempt are invalid",
  onVirtualClock(async () => {
    for (const [options, attempt] of [[{ ...BASE, stream: "a b" }, "attempt-1"], [BASE, ""]] as const) {
      const kept = fakeConnection();
      await failureOf(openSession(kept.nc, options, attempt));
      assert.ok(!kept.nc.isClosed());
      const owned = fakeConnection();
      await failureOf(openSession(owned.nc, { ...options, ownsConnection: true }, attempt));
      assert.ok(owned.nc.isClosed());
    }
  }),
);

Deno.test(
  "publishAll() names the budget when it is invalid, and does not dial",
  onVirtualClock(async () => {
    const dial = () => Promise.reject(new Error("dialled"));
    for (const limits of [{ budget: "5" }, { budget: 0 }, {}, undefined]) {
      const error = await failureOf(publishAll(dial, BASE, [], limits as { budget: string }));
      assert.equal((error as { field?: string }).field, "budget");
    }
  }),
);
