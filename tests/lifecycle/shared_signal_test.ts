import assert from "node:assert/strict";
import { openRun, openSession, publishAll, Publisher } from "../../mod.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";

const OPTIONS = { stream: "ORDERS", subject: "orders.{resource}" };
const batch = () => ({ resource: "eu", rows: numberBatch(5) });

/** A signal that counts its listeners: the current number and the maximum. */
function countedSignal(): { signal: AbortSignal; abort: () => void; counts: { now: number; most: number } } {
  const controller = new AbortController();
  const { signal } = controller;
  const counts = { now: 0, most: 0 };
  const add = signal.addEventListener.bind(signal) as (...args: unknown[]) => void;
  const remove = signal.removeEventListener.bind(signal) as (...args: unknown[]) => void;
  signal.addEventListener = (...args: unknown[]) => {
    counts.most = Math.max(counts.most, ++counts.now);
    add(...args);
  };
  signal.removeEventListener = (...args: unknown[]) => {
    counts.now--;
    remove(...args);
  };
  return { signal, abort: () => controller.abort(new Error("enough")), counts };
}

const CALLS: readonly (readonly [name: string, call: (signal: AbortSignal) => Promise<void>])[] = [
  ["publishAll()", async (signal) => {
    const dial = () => Promise.resolve(fakeConnection().nc);
    await Promise.all(
      Array.from({ length: 20 }, () => publishAll(dial, OPTIONS, [batch(), batch()], { budget: 1000, signal })),
    );
  }],
  ["BoundedRun.applyAll()", async (signal) => {
    const run = await openRun(fakeConnection().nc, OPTIONS);
    await Promise.all(Array.from({ length: 20 }, () => run.applyAll([batch(), batch()], { signal })));
    await run.commit();
  }],
  ["EpochSession.applyAll()", async (signal) => {
    const session = await openSession(fakeConnection().nc, OPTIONS, "a");
    const ref = { attempt: "a", epoch: 1 };
    await session.beginEpoch(ref);
    await Promise.all(Array.from({ length: 20 }, () => session.applyAll([batch()], ref, { signal })));
    await session.commitEpoch(ref);
    await session.close();
  }],
  ["Publisher.publish()", async (signal) => {
    const publisher = await Publisher.open(fakeConnection().nc, OPTIONS);
    await Promise.all(Array.from({ length: 20 }, () => publisher.publish(batch(), { signal })));
    await publisher.close();
  }],
];

for (const [name, call] of CALLS) {
  Deno.test(
    `${name} adds one listener to a signal that many calls share, and removes it at the end`,
    onVirtualClock(async () => {
      const { any } = AbortSignal;
      const dependent: unknown[] = [];
      AbortSignal.any = (signals) => {
        dependent.push(signals);
        return any.call(AbortSignal, signals);
      };
      try {
        const { signal, counts } = countedSignal();
        for (let round = 0; round < 3; round++) await call(signal);
        assert.deepEqual(counts, { now: 0, most: 1 });
        assert.deepEqual(dependent, [], "a long-lived signal would keep what depends on it");
      } finally {
        AbortSignal.any = any;
      }
    }),
  );
}

Deno.test(
  "one abort ends all sequences that share the signal, with its reason",
  onVirtualClock(async () => {
    const { signal, abort } = countedSignal();
    const fake = fakeConnection({ answers: () => undefined });
    const run = await openRun(fake.nc, OPTIONS);
    const calls = [run.applyAll([batch()], { signal }), run.applyAll([batch()], { signal })];
    const ended = Promise.allSettled(calls);
    while (fake.published.length < 5) await new Promise((resolve) => setTimeout(resolve, 0));
    abort();
    for (const result of await ended) {
      assert.ok(result.status === "rejected");
      assert.equal(result.reason.code, "publish.aborted");
      assert.equal(result.reason.cause, signal.reason);
    }
    await run.abort();
  }),
);

Deno.test(
  "publishers leave no listeners on a connection that outlives them",
  onVirtualClock(async () => {
    const { nc } = fakeConnection();
    const closed = nc.closed.bind(nc);
    let reactions = 0;
    nc.closed = () => {
      reactions++;
      return closed();
    };
    for (let i = 0; i < 20; i++) {
      const publisher = await Publisher.open(nc, OPTIONS);
      await publisher.publish(batch());
      await publisher.close();
    }
    assert.equal(reactions, 1, "a pending promise keeps all its reactions");
  }),
);
