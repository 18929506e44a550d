import assert from "node:assert/strict";
import { openRun, type Options, Publisher } from "../../mod.ts";
import { assertFailure, assertWhole, failureOf } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { ack, apiError, fakeConnection, NO_RESPONDERS, StreamModel } from "../_support/fake/mod.ts";
import { BASE, reached, testFault } from "./_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

const reason = new Error("changed my mind");
const eu = (rows: number, first = 0) => ({ resource: "eu", rows: idBatch(rows, { first }) });

testFault("aborted with rows on the wire leaves them unknown", () => {
  const abort = new AbortController();
  return {
    signal: abort.signal,
    options: { maxInFlight: 8, publishTimeout: "1m" },
    answers: ({ index }, store) => index < 8 ? store() : undefined,
    act: async ({ fake }) => {
      await reached(fake, 16);
      abort.abort(reason);
    },
    expected: { code: "publish.aborted", outcome: "uncertain", counts: { acked: 8, unknown: 8, unsent: 4 } },
  };
  // On the caller's connection the publisher stays usable: see below.
}, [{ frames: false, owned: true }, { frames: true, owned: true }]);

testFault("aborted after a failure does not wait for the other rows", () => {
  const abort = new AbortController();
  return {
    signal: abort.signal,
    options: { publishTimeout: "1m" },
    answers: ({ index }, store) => index === 0 ? NO_RESPONDERS : index < 10 ? store() : undefined,
    act: async ({ fake }) => {
      await reached(fake, 20);
      abort.abort(reason);
    },
    expected: { code: "publish.no_responders", outcome: "uncertain", counts: { acked: 9, rejected: 1, unknown: 10 } },
  };
}, [{ frames: false, owned: true }, { frames: true, owned: true }]);

for (const frames of [false, true]) {
  Deno.test(
    `publish() aborted on the caller's connection affects neither other calls nor the publisher (frames: ${frames})`,
    onVirtualClock(async () => {
      const stream = new StreamModel();
      const fake = fakeConnection({ frames, manual: true, answers: (published) => stream.store(published) });
      const publisher = await Publisher.open(fake.nc, { ...BASE, publishTimeout: "1m" });
      const abort = new AbortController();
      const first = failureOf(publisher.publish(eu(5), { signal: abort.signal }));
      const second = publisher.publish(eu(5, 5));
      await reached(fake, 10);
      abort.abort(reason);
      const error = assertFailure(await first, 5, {
        code: "publish.aborted",
        outcome: "uncertain",
        counts: { unknown: 5 },
      });
      assert.equal(error.cause, reason);
      fake.deliver(); // also delivers the aborted call's answers, which must be ignored
      assert.equal((await second).rows, 5);
      assert.deepEqual(publisher.stats().acked, 5);
      const third = publisher.publish({ ...eu(5), only: error.rowOutcomes.unsettled() });
      await reached(fake, 15);
      fake.deliver();
      assert.equal((await third).duplicates, 5);
      assertWhole(stream.rows, 10);
      await publisher.close();
      assert.ok(!fake.calls.includes("close"));
    }),
  );

  Deno.test(
    `publish() aborted before it starts, or while it waits, sends nothing and ends no other call (frames: ${frames})`,
    onVirtualClock(async () => {
      for (const owned of [false, true]) {
        const fake = fakeConnection({ frames, manual: true });
        const publisher = await Publisher.open(owned ? () => Promise.resolve(fake.nc) : fake.nc, {
          ...BASE,
          maxInFlight: 5,
        });
        const before = await failureOf(publisher.publish(eu(3), { signal: AbortSignal.abort(reason) }));
        const none = { code: "publish.aborted", outcome: "none", counts: { unsent: 3 } } as const;
        assert.equal(assertFailure(before, 3, none).cause, reason);
        const abort = new AbortController();
        const first = publisher.publish(eu(5));
        const waiting = failureOf(publisher.publish(eu(3, 5), { signal: abort.signal }));
        await reached(fake, 5);
        abort.abort(reason);
        assert.equal(assertFailure(await waiting, 3, none).cause, reason);
        fake.deliver();
        assert.equal((await first).rows, 5);
        await publisher.close();
      }
    }),
  );

  Deno.test(
    `publish() aborted after its last acknowledgment succeeds (frames: ${frames})`,
    onVirtualClock(async () => {
      const abort = new AbortController();
      const fake = fakeConnection({ frames, manual: true });
      const options: Options = {
        ...BASE,
        onProgress: ({ acked }) => acked === 3 && abort.abort(reason),
      };
      const publisher = await Publisher.open(() => Promise.resolve(fake.nc), options);
      const call = publisher.publish(eu(3), { signal: abort.signal });
      await reached(fake, 3);
      fake.deliver();
      abort.abort(reason); // between the answer and the promise
      assert.equal((await call).rows, 3);
      const next = publisher.publish(eu(2, 3));
      await reached(fake, 5);
      fake.deliver();
      assert.equal((await next).rows, 2);
      assert.equal(publisher.stats().failures, 0);
      await publisher.close();
    }),
  );
}

Deno.test(
  "an aborted publisher creates no stream whose lookup was in progress",
  onVirtualClock(async () => {
    let abort = (): void => {};
    const fake = fakeConnection({
      requests: ({ subject }) => {
        if (subject.endsWith("S_eu")) abort();
        return apiError("stream_info_response", 404, 10059, "stream not found");
      },
    });
    const run = await openRun(fake.nc, { ...BASE, stream: "S_{resource}" });
    abort = () => void run.abort();
    assertFailure(await failureOf(run.apply(eu(3))), 3, { code: "publish.aborted", outcome: "none" });
    await run.abort();
    assert.deepEqual(fake.asked.map(({ subject }) => subject), ["$JS.API.STREAM.INFO.S_eu"]);
  }),
);

Deno.test(
  "publish() leaves no listener on a signal that outlives it",
  onVirtualClock(async () => {
    const abort = new AbortController();
    let listeners = 0;
    const { addEventListener, removeEventListener } = abort.signal;
    abort.signal.addEventListener = (...args: unknown[]) => {
      listeners++;
      addEventListener.apply(abort.signal, args as Parameters<typeof addEventListener>);
    };
    abort.signal.removeEventListener = (...args: unknown[]) => {
      listeners--;
      removeEventListener.apply(abort.signal, args as Parameters<typeof removeEventListener>);
    };
    const fake = fakeConnection({ answers: ({ index }) => index < 50 ? ack("ORDERS", index + 1) : NO_RESPONDERS });
    const publisher = await Publisher.open(fake.nc, BASE);
    for (let call = 0; call < 50; call++) await publisher.publish(eu(1, call), { signal: abort.signal });
    await failureOf(publisher.publish(eu(1, 50), { signal: abort.signal }));
    await failureOf(publisher.publish({ resource: "a b", rows: idBatch(1) }, { signal: abort.signal }));
    assert.equal(listeners, 0);
    await publisher.close();
  }),
);
