import assert from "node:assert/strict";
import { openSession, type PublishError, type RowBatch } from "../../mod.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { fakeConnection, NO_RESPONDERS, refusal, streamInfo, StreamModel } from "../_support/fake/mod.ts";
import { BASE, reached } from "../faults/_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

const ref = (epoch: number, attempt = "a1") => ({ attempt, epoch });
const batch = (rows: number, first = 0, resource = "eu"): RowBatch => ({ resource, rows: idBatch(rows, { first }) });
const code = (error: unknown): string => (error as { code: string }).code;

async function open(options: Parameters<typeof fakeConnection>[0] = {}) {
  const fake = fakeConnection(options);
  return { fake, session: await openSession(() => Promise.resolve(fake.nc), { ...BASE, publishTimeout: "1m" }, "a1") };
}

Deno.test(
  "a session commits epoch after epoch, each with its own totals",
  onVirtualClock(async () => {
    const { fake, session } = await open();
    await session.beginEpoch(ref(7));
    await session.apply(batch(2, 0, "us"), ref(7));
    await session.applyAll([batch(3), batch(4)], ref(7));
    const seventh = await session.commitEpoch(ref(7));
    assert.deepEqual(seventh.map(({ resource, rows, batches }) => [resource, rows, batches]), [["eu", 7, 2], [
      "us",
      2,
      1,
    ]]);
    assert.deepEqual(await session.commitEpoch(ref(7)), seventh);
    await session.beginEpoch(ref(8));
    assert.equal(code(await failureOf(session.commitEpoch(ref(7)))), "state.epoch_mismatch");
    await session.abortEpoch(ref(8));
    assert.deepEqual(
      await session.commitEpoch(ref(7)),
      seventh,
      "the last commit is repeated, an aborted epoch later, too",
    );
    await session.beginEpoch(ref(8));
    assert.deepEqual(await session.commitEpoch(ref(8)), []);
    await session.close();
    await session.close();
    assert.deepEqual(fake.calls.filter((call) => call === "close"), ["close"]);
    assert.deepEqual(fake.subscribed, []);
  }),
);

Deno.test(
  "changing the totals that a session returned does not change the session's",
  onVirtualClock(async () => {
    const { session } = await open();
    await session.beginEpoch(ref(1));
    await session.apply(batch(2), ref(1));
    const totals = await session.commitEpoch(ref(1));
    totals.length = 0;
    assert.equal((await session.commitEpoch(ref(1))).length, 1);
    await session.close();
  }),
);

Deno.test(
  "a session rejects another attempt or epoch without being poisoned",
  onVirtualClock(async () => {
    const { session } = await open();
    const wrong = [
      () => session.beginEpoch(ref(1, "a2")),
      () => session.beginEpoch(ref(0)),
      () => session.beginEpoch(ref(1.5)),
      () => session.beginEpoch(undefined as never),
      () => session.apply(batch(1), ref(1)),
      () => session.applyAll([batch(1)], ref(1)),
      () => session.commitEpoch(ref(1)),
      () => session.abortEpoch(ref(1, "a2")),
    ];
    for (const call of wrong) assert.equal(code(await failureOf(call())), "state.epoch_mismatch", String(call));
    await session.abortEpoch(ref(99));
    await session.beginEpoch(ref(5));
    for (
      const call of [
        () => session.beginEpoch(ref(5)),
        () => session.beginEpoch(ref(6)),
        () => session.apply(batch(1), ref(4)),
        () => session.apply(batch(1), ref(5, "a2")),
        () => session.commitEpoch(ref(6)),
        () => session.abortEpoch(ref(6)),
      ]
    ) {
      assert.equal(code(await failureOf(call())), "state.epoch_mismatch", String(call));
    }
    await session.apply(batch(1), ref(5));
    await session.commitEpoch(ref(5));
    assert.equal(code(await failureOf(session.beginEpoch(ref(5)))), "state.epoch_mismatch");
    assert.equal(code(await failureOf(session.beginEpoch(ref(7)))), "state.epoch_mismatch");
    await session.beginEpoch(ref(6));
    await session.close();
  }),
);

Deno.test(
  "openSession() refuses an attempt that is not a string before it dials",
  onVirtualClock(async () => {
    for (const attempt of ["", 7, undefined]) {
      const fake = fakeConnection();
      const error = await failureOf(openSession(() => Promise.resolve(fake.nc), BASE, attempt as string));
      assert.equal(code(error), "config.type");
      assert.deepEqual(fake.calls, []);
    }
  }),
);

Deno.test(
  "commitEpoch() waits for the calls in progress, and refuses new ones",
  onVirtualClock(async () => {
    const { fake, session } = await open({ manual: true });
    await session.beginEpoch(ref(1));
    const call = session.apply(batch(3), ref(1));
    const commits = [session.commitEpoch(ref(1)), session.commitEpoch(ref(1))];
    assert.equal(code(await failureOf(session.apply(batch(1), ref(1)))), "state.epoch_mismatch");
    assert.equal(code(await failureOf(session.beginEpoch(ref(2)))), "state.epoch_mismatch");
    await reached(fake, 3);
    fake.deliver();
    assert.equal((await call).rows, 3);
    for (const commit of commits) assert.equal((await commit)[0]!.rows, 3);
    await session.beginEpoch(ref(2));
    await session.close();
  }),
);

Deno.test(
  "abortEpoch() ends the calls in progress and a commit that waits for them; the session stays usable",
  onVirtualClock(async () => {
    const stream = new StreamModel();
    const { fake, session } = await open({ manual: true, answers: (published) => stream.store(published) });
    await session.beginEpoch(ref(1));
    await settled(fake, 2, session.apply(batch(2), ref(1)));
    await session.commitEpoch(ref(1));
    await session.beginEpoch(ref(2));
    const call = failureOf(session.apply(batch(3, 2), ref(2)));
    const all = failureOf(session.applyAll(never(), ref(2)));
    await reached(fake, 5);
    const commit = failureOf(session.commitEpoch(ref(2)));
    await session.abortEpoch(ref(2));
    assertFailure(await call, 3, { code: "publish.aborted", outcome: "uncertain", counts: { unknown: 3 } });
    assertFailure(await all, 0, { code: "publish.aborted", outcome: "none" });
    assert.equal(code(await commit), "state.aborted");
    await session.beginEpoch(ref(2));
    await settled(fake, 8, session.apply(batch(3, 2), ref(2)));
    assert.deepEqual((await session.commitEpoch(ref(2))).map(({ rows, duplicates }) => [rows, duplicates]), [[3, 3]]);
    assert.equal(stream.rows.length, 5);
    // Whether the aborted rows are stored is unknown.
    const error = await failureOf(session.close()) as PublishError;
    assertFailure(error, 3, { code: "publish.aborted", outcome: "uncertain" });
    assert.match(error.message, /destination quiescence is unproven/);
    assert.equal(await failureOf(session.close()), error);
    assert.ok(fake.calls.includes("close"));
  }),
);

Deno.test(
  "abortEpoch() during a wait for a leader lets the next epoch begin",
  onVirtualClock(async () => {
    const stream = new StreamModel();
    const fake = fakeConnection({
      answers: (published) => published.index < 3 ? NO_RESPONDERS : stream.store(published),
    });
    const session = await openSession(fake.nc, { ...BASE, retry: { budget: "10s" } }, "a1");
    await session.beginEpoch(ref(1));
    const call = failureOf(session.apply(batch(3), ref(1)));
    await reached(fake, 3);
    await session.abortEpoch(ref(1));
    assertFailure(await call, 3, { code: "publish.aborted", outcome: "partial", counts: { rejected: 3 } });
    await session.beginEpoch(ref(1));
    assert.equal((await session.apply(batch(3), ref(1))).rows, 3);
    await session.commitEpoch(ref(1));
    await session.close();
  }),
);

Deno.test(
  "abortEpoch() does not wait for the deadlines of a publisher that has failed",
  onVirtualClock(async () => {
    const { fake, session } = await open({
      answers: ({ index }) => index === 0 ? refusal(400, 10054, "no") : undefined,
    });
    await session.beginEpoch(ref(1));
    const call = failureOf(session.apply(batch(3), ref(1)));
    await reached(fake, 3);
    const start = performance.now();
    await session.abortEpoch(ref(1));
    assert.ok(performance.now() - start < 10_000);
    const error = assertFailure(await call, 3, { code: "publish.rejected", outcome: "uncertain" });
    assert.equal(await failureOf(session.beginEpoch(ref(1))), error, "it failed by itself: the session is poisoned");
    assert.equal(code(await failureOf(session.close())), "publish.rejected");
  }),
);

Deno.test(
  "a failed apply() poisons the session: abortEpoch() and close() still work",
  onVirtualClock(async () => {
    const { fake, session } = await open({ answers: () => refusal(400, 10077, "full") });
    await session.beginEpoch(ref(1));
    const error = await failureOf(session.apply(batch(1), ref(1)));
    for (
      const call of [
        () => session.apply(batch(1), ref(1)),
        () => session.applyAll([batch(1)], ref(1)),
        () => session.commitEpoch(ref(1)),
        () => session.beginEpoch(ref(2)),
      ]
    ) assert.equal(await failureOf(call()), error, String(call));
    await session.abortEpoch(ref(1));
    assert.equal(await failureOf(session.beginEpoch(ref(1))), error);
    assert.equal(await failureOf(session.close()), error, "rethrown as it is: every row's fate is known");
    assert.equal(await failureOf(session.close()), error);
    for (
      const call of [
        () => session.beginEpoch(ref(1)),
        () => session.apply(batch(1), ref(1)),
        () => session.commitEpoch(ref(1)),
        () => session.abortEpoch(ref(1)),
      ]
    ) assert.equal(code(await failureOf(call())), "state.closed", String(call));
    assert.deepEqual(fake.subscribed, []);
  }),
);

Deno.test(
  "a failure during commitEpoch() fails the commit, and abortEpoch() clears it",
  onVirtualClock(async () => {
    const { fake, session } = await open({ manual: true, answers: () => refusal(400, 10077, "full") });
    await session.beginEpoch(ref(3));
    const call = failureOf(session.apply(batch(1), ref(3)));
    const commit = failureOf(session.commitEpoch(ref(3)));
    await reached(fake, 1);
    fake.deliver();
    assert.equal(await commit, await call);
    await session.abortEpoch(ref(3));
    await failureOf(session.close());
  }),
);

Deno.test(
  "bad data poisons a session, and close() rethrows the error",
  onVirtualClock(async () => {
    const { session } = await open();
    await session.beginEpoch(ref(1));
    const error = await failureOf(session.apply({ ...batch(2), operations: ["insert"] }, ref(1)));
    assert.equal(code(error), "encode.operations");
    assert.equal(await failureOf(session.commitEpoch(ref(1))), error);
    assert.equal(await failureOf(session.close()), error);
  }),
);

Deno.test(
  "close() drops an active epoch and ends its calls; disposal throws no error that a call has thrown",
  onVirtualClock(async () => {
    const { fake, session } = await open({ manual: true });
    await session.beginEpoch(ref(1));
    const call = failureOf(session.apply(batch(2), ref(1)));
    await reached(fake, 2);
    const closed = failureOf(session.close());
    assertFailure(await call, 2, { code: "publish.aborted", outcome: "uncertain" });
    assertFailure(await closed, 2, { code: "publish.aborted", outcome: "uncertain" });
    await session[Symbol.asyncDispose]();

    const { fake: other, session: left } = await open();
    {
      await using session = left;
      await session.beginEpoch(ref(1));
      await session.apply(batch(2), ref(1));
    }
    assert.ok(other.calls.includes("close"));
    assert.equal(code(await failureOf(left.beginEpoch(ref(1)))), "state.closed");
  }),
);

Deno.test(
  "a session leaves the caller's connection open, and a failed openSession() closes the connection it dialled",
  onVirtualClock(async () => {
    const fake = fakeConnection();
    const session = await openSession(fake.nc, BASE, "a1");
    await session.close();
    assert.ok(!fake.calls.includes("close"));
    const dialled = fakeConnection({ requests: () => streamInfo("ORDERS", { subjects: ["other"] }) });
    const error = await failureOf(openSession(() => Promise.resolve(dialled.nc), BASE, "a1"));
    assert.equal(code(error), "route.not_captured");
    assert.ok(dialled.calls.includes("close"));
  }),
);

/** A source that never yields a batch. */
function never(): AsyncIterable<RowBatch> {
  return { [Symbol.asyncIterator]: () => ({ next: () => new Promise<never>(() => {}) }) };
}

async function settled(fake: ReturnType<typeof fakeConnection>, count: number, call: Promise<unknown>): Promise<void> {
  await reached(fake, count);
  fake.deliver();
  await call;
}

Deno.test(
  "close() reports a row of unknown outcome even if a later batch's error ended the sequence",
  onVirtualClock(async () => {
    const { nc } = fakeConnection({ answers: () => [] });
    const session = await openSession(() => Promise.resolve(nc), { ...BASE, publishTimeout: 50 }, "a1");
    await session.beginEpoch(ref(1));
    const wrong = { ...batch(1), resource: "e u" };
    const failed = assertFailure(await failureOf(session.applyAll([batch(5), wrong], ref(1))), 5, {
      code: "publish.timeout",
      counts: { unknown: 5 },
    });
    assert.equal(code(failed.cause), "route.subject");
    const error = await failureOf(session.close()) as PublishError;
    assert.deepEqual([error.code, error.outcome], ["publish.timeout", "uncertain"]);
    assert.match(error.message, /quiescence is unproven: the fate of 5 rows is unknown/);
  }),
);
