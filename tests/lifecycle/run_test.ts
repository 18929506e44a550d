import assert from "node:assert/strict";
import { openRun, type PublishError, type StateError } from "../../mod.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { fakeConnection, refusal, streamInfo, StreamModel } from "../_support/fake/mod.ts";
import { BASE, reached } from "../faults/_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

const batch = (rows: number, first = 0, resource = "eu") => ({ resource, rows: idBatch(rows, { first }) });
const code = (error: unknown): string => (error as StateError).code;

Deno.test(
  "commit() returns the totals by resource, sorted, on every call, and later applies are refused",
  onVirtualClock(async () => {
    const fake = fakeConnection({
      answers: ({ index }) => ({ body: { stream: "ORDERS", seq: index + 1, duplicate: index < 2 } }),
    });
    const run = await openRun(() => Promise.resolve(fake.nc), BASE);
    const us = await run.apply(batch(3, 0, "us"));
    await run.apply(batch(2, 3));
    await run.apply(batch(4, 5));
    const receipt = await run.commit();
    assert.deepEqual(receipt.resources.map(({ resource, rows, batches }) => [resource, rows, batches]), [
      ["eu", 6, 2],
      ["us", 3, 1],
    ]);
    assert.deepEqual([receipt.rows, receipt.duplicates], [9, 2]);
    assert.equal(receipt.resources[1]!.bytes, us.bytes);
    assert.deepEqual(await run.commit(), receipt);
    assert.equal(code(await failureOf(run.apply(batch(1)))), "state.committed");
    assert.equal(code(await failureOf(run.applyAll([batch(1)]))), "state.committed");
    await run.abort();
    assert.deepEqual(await run.commit(), receipt, "a committed run is left as it is");
    await run[Symbol.asyncDispose]();
    assert.deepEqual(fake.calls.filter((call) => call === "close"), ["close"]);
    assert.deepEqual(fake.subscribed, []);
  }),
);

Deno.test(
  "commit() of a run without batches returns empty totals",
  onVirtualClock(async () => {
    const run = await openRun(fakeConnection().nc, BASE);
    assert.deepEqual(await run.commit(), { resources: [], rows: 0, bytes: 0, duplicates: 0 });
  }),
);

Deno.test(
  "commit() waits for the calls in progress, and refuses new ones meanwhile",
  onVirtualClock(async () => {
    const fake = fakeConnection({ manual: true });
    const run = await openRun(fake.nc, BASE);
    const call = run.apply(batch(3));
    const commit = run.commit();
    assert.equal(code(await failureOf(run.apply(batch(1)))), "state.committed");
    await reached(fake, 3);
    fake.deliver();
    assert.equal((await call).rows, 3);
    assert.equal((await commit).rows, 3);
  }),
);

Deno.test(
  "abort() ends the calls in progress and the waiting calls at once",
  onVirtualClock(async () => {
    for (const owned of [true, false]) {
      const fake = fakeConnection({ manual: true });
      const run = await openRun(owned ? () => Promise.resolve(fake.nc) : fake.nc, {
        ...BASE,
        maxInFlight: 3,
        publishTimeout: "1m",
      });
      const first = failureOf(run.apply(batch(3)));
      const second = failureOf(run.apply(batch(3, 3)));
      let returned = false;
      const third = failureOf(run.applyAll(endless(() => returned = true)));
      await reached(fake, 3);
      await run.abort();
      assertFailure(await first, 3, { code: "publish.aborted", outcome: "uncertain", counts: { unknown: 3 } });
      assertFailure(await second, 3, { code: "publish.aborted", outcome: "none", counts: { unsent: 3 } });
      assertFailure(await third, 0, { code: "publish.aborted", outcome: "none" });
      assert.ok(returned);
      assert.equal(((await first) as PublishError).cause instanceof DOMException, true);
      assert.equal(code(await failureOf(run.apply(batch(1)))), "state.aborted");
      assert.equal(code(await failureOf(run.commit())), "state.aborted");
      await run.abort();
      assert.deepEqual(fake.calls.filter((call) => call === "close").length, owned ? 1 : 0);
      assert.deepEqual(fake.subscribed, []);
    }

    /** A source that never yields a batch. */
    function endless(onReturn: () => void) {
      return {
        [Symbol.asyncIterator]: () => ({
          next: () => new Promise<never>(() => {}),
          return: () => Promise.resolve({ done: true as const, value: onReturn() as undefined }),
        }),
      };
    }
  }),
);

Deno.test(
  "abort() ends a commit that waits for calls, with their error",
  onVirtualClock(async () => {
    const fake = fakeConnection({ manual: true });
    const run = await openRun(() => Promise.resolve(fake.nc), { ...BASE, publishTimeout: "1m" });
    const call = failureOf(run.apply(batch(3)));
    await reached(fake, 3);
    const commit = failureOf(run.commit());
    await run.abort();
    assert.equal(code(await commit), "publish.aborted");
    assert.equal(await commit, await call);
  }),
);

Deno.test(
  "a failed apply() ends the run: later calls throw the same error",
  onVirtualClock(async () => {
    const fake = fakeConnection({ answers: ({ index }) => index === 1 ? refusal(400, 10054, "no") : undefined });
    const run = await openRun(() => Promise.resolve(fake.nc), BASE);
    const error = await failureOf(run.apply(batch(3)));
    assertFailure(error, 3, { code: "publish.rejected", row: 1 });
    assert.equal(await failureOf(run.apply(batch(1))), error);
    assert.equal(await failureOf(run.applyAll([batch(1)])), error);
    assert.equal(await failureOf(run.commit()), error);
    assert.equal(await failureOf(run.commit()), error);
    assert.equal(await failureOf(run.apply(batch(1))), error);
    await run.abort();
    await run[Symbol.asyncDispose]();
  }),
);

Deno.test(
  "any failed call fails the run, also one with invalid data, a refused route or its own abort",
  onVirtualClock(async () => {
    const cases = [
      { batch: { ...batch(2), operations: ["insert"] as const }, code: "encode.operations" },
      { batch: { resource: "a b", rows: idBatch(1) }, code: "route.subject" },
      { batch: { ...batch(1), only: [3] }, code: "config.range" },
      { batch: batch(1), code: "publish.aborted", signal: AbortSignal.abort() },
    ];
    for (const { code: expected, signal, ...rest } of cases) {
      const fake = fakeConnection();
      const run = await openRun(() => Promise.resolve(fake.nc), BASE);
      const error = await failureOf(run.apply(rest.batch, signal === undefined ? {} : { signal }));
      assert.equal(code(error), expected);
      assert.equal(await failureOf(run.apply(batch(1))), error);
      assert.equal(await failureOf(run.commit()), error);
      assert.equal(fake.published.length, 0);
      assert.deepEqual(fake.subscribed, []);
      assert.ok(fake.calls.includes("close"));
    }
  }),
);

Deno.test(
  "a failed applyAll() fails the run, whatever its source threw",
  onVirtualClock(async () => {
    const run = await openRun(fakeConnection().nc, BASE);
    const gone = new Error("the file is gone");
    const source = function* () {
      yield batch(2);
      throw gone;
    };
    assert.equal(await failureOf(run.applyAll(source())), gone);
    assert.equal(await failureOf(run.apply(batch(1))), gone);
    assert.equal(await failureOf(run.commit()), gone);
  }),
);

Deno.test(
  "leaving the await using block aborts a run without a commit, and waits for a commit in progress",
  onVirtualClock(async () => {
    const left = fakeConnection({ manual: true });
    let pending: Promise<unknown>;
    {
      await using run = await openRun(() => Promise.resolve(left.nc), { ...BASE, publishTimeout: "1m" });
      pending = failureOf(run.apply(batch(2)));
      await reached(left, 2);
    }
    assert.equal(code(await pending), "publish.aborted");
    assert.ok(left.calls.includes("close"));

    const stream = new StreamModel();
    const fake = fakeConnection({ answers: (published) => stream.store(published) });
    const load = async () => {
      await using run = await openRun(() => Promise.resolve(fake.nc), BASE);
      void run.apply(batch(5));
      return run.commit();
    };
    assert.equal((await load()).rows, 5);
  }),
);

Deno.test(
  "leaving the await using block after a failure throws that failure",
  onVirtualClock(async () => {
    const fake = fakeConnection({ answers: () => ({ body: "+ACK" }) });
    const load = async () => {
      await using run = await openRun(() => Promise.resolve(fake.nc), BASE);
      await run.apply(batch(1));
    };
    const error = await failureOf(load());
    assertFailure(error, 1, { code: "publish.bad_ack" });
  }),
);

Deno.test(
  "a failed openRun() closes a connection that it dialled or owns, and no other",
  onVirtualClock(async () => {
    for (const owned of [true, false]) {
      const fake = fakeConnection({ requests: () => streamInfo("ORDERS", { sealed: true }) });
      const error = await failureOf(openRun(owned ? () => Promise.resolve(fake.nc) : fake.nc, BASE));
      assert.equal(code(error), "route.sealed");
      assert.deepEqual(fake.subscribed, []);
      assert.equal(fake.calls.includes("close"), owned);
    }
    const handed = fakeConnection({ requests: () => streamInfo("ORDERS", { no_ack: true }) });
    await failureOf(openRun(handed.nc, { ...BASE, ownsConnection: true }));
    assert.ok(handed.calls.includes("close"));
    const dialled = fakeConnection();
    await failureOf(openRun(() => Promise.resolve(dialled.nc), { ...BASE, maxInFlight: 0 }));
    assert.deepEqual(dialled.calls, [], "options are checked before anything is dialled");
  }),
);

Deno.test(
  "a run with ownsConnection closes the connection at its end",
  onVirtualClock(async () => {
    const fake = fakeConnection();
    const run = await openRun(fake.nc, { ...BASE, ownsConnection: true });
    await run.apply(batch(1));
    await run.commit();
    assert.ok(fake.calls.includes("close"));
  }),
);

Deno.test(
  "apply() of a batch without rows returns an empty receipt and sends nothing",
  onVirtualClock(async () => {
    const fake = fakeConnection();
    const run = await openRun(fake.nc, BASE);
    const receipt = await run.apply(batch(0));
    assert.deepEqual(receipt, {
      uri: "nats://ORDERS/eu",
      resource: "eu",
      stream: "ORDERS",
      subject: "orders.eu",
      rows: 0,
      bytes: 0,
      crc32c: 0,
      duplicates: 0,
      batch: 0,
      offset: 0,
    });
    const none = await run.apply({ ...batch(4), only: [] });
    assert.equal(none.rows, 0);
    assert.equal(fake.published.length, 0);
    assert.equal((await run.commit()).resources[0]!.batches, 2);
  }),
);
