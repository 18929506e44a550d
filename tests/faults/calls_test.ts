import assert from "node:assert/strict";
import type { NatsConnection } from "@nats-io/nats-core";
import { type CallOptions, type Options, Publisher, type PublishError, type RowBatch } from "../../mod.ts";
import { assertAgreement, assertFailure, assertOutcomes, assertWhole, failureOf } from "../_support/failed_publish.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import {
  ack,
  fakeConnection,
  NO_RESPONDERS,
  refusal,
  streamInfo,
  StreamModel,
  TOO_MANY_REQUESTS,
} from "../_support/fake/mod.ts";
import { BASE, fakeOver, reached } from "./_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

const reason = new Error("changed my mind");
const eu = (rows: number, first = 0) => ({ resource: "eu", rows: idBatch(rows, { first }) });

for (const frames of [false, true]) {
  Deno.test(
    `a failure ends every call in progress, each with its own outcomes (frames: ${frames})`,
    onVirtualClock(async () => {
      const stream = new StreamModel();
      const fake = fakeConnection({
        frames,
        answers: (published) => published.index === 9 ? refusal(400, 10077, "full") : stream.store(published),
      });
      const publisher = await Publisher.open(() => Promise.resolve(fake.nc), { ...BASE, maxInFlight: 12 });
      const calls = [0, 1, 2, 3].map((call) => failureOf(publisher.publish(eu(6, call * 6)).then((r) => ({ ...r }))));
      const [, second, third, fourth] = await Promise.all(
        calls.map((call) => call.catch(() => undefined)),
      ) as PublishError[];
      assertFailure(second, 6, { code: "publish.rejected", row: 3, serverCode: 10077, outcome: "partial" });
      assertFailure(third, 6, { code: "publish.rejected", serverCode: 10077, outcome: "none", counts: { unsent: 6 } });
      assert.equal(third!.row, undefined);
      assertOutcomes(fourth!, 6);
      assert.equal(await failureOf(publisher.publish(eu(1))), second);
      const unsettled = [second!, third!, fourth!].flatMap((error, i) =>
        error.rowOutcomes.unsettled().map((row) => (i + 1) * 6 + row)
      );
      const again = await Publisher.open(fakeOver(stream, frames).nc, BASE);
      await again.publish({ ...eu(24), only: unsettled });
      assertWhole(stream.rows, 24);
      await again.close();
    }),
  );

  Deno.test(
    `a failure does not wait for the rows of a call that is aborted meanwhile (frames: ${frames})`,
    onVirtualClock(async () => {
      const fake = fakeConnection({ frames, answers: ({ index }) => index === 0 ? NO_RESPONDERS : undefined });
      const publisher = await Publisher.open(fake.nc, { ...BASE, publishTimeout: "1m" });
      const abort = new AbortController();
      const first = failureOf(publisher.publish(eu(1)));
      const second = failureOf(publisher.publish(eu(3, 1), { signal: abort.signal }));
      await reached(fake, 4);
      abort.abort(reason);
      assertFailure(await second, 3, { code: "publish.aborted", outcome: "uncertain", counts: { unknown: 3 } });
      assertFailure(await first, 1, { code: "publish.no_responders", outcome: "partial" });
      await publisher.close();
    }),
  );

  Deno.test(
    `32 concurrent callers keep the order of calls and the limits (frames: ${frames})`,
    onVirtualClock(async () => {
      const stream = new StreamModel();
      let most = 0;
      const fake = fakeConnection({ frames, answers: (published) => stream.store(published) });
      const publisher = await Publisher.open(fake.nc, {
        ...BASE,
        maxInFlight: 7,
        onProgress: ({ inFlight }) => most = Math.max(most, inFlight),
      });
      const calls = Array.from({ length: 32 }, (_, call) => publisher.publish(eu(50, call * 50)));
      const receipts = await Promise.all(calls);
      assert.deepEqual(receipts.map(({ rows }) => rows), new Array(32).fill(50));
      assert.deepEqual(stream.rows, Array.from({ length: 1600 }, (_, n) => n));
      assert.ok(most <= 7);
      await publisher.close();
    }),
  );

  Deno.test(
    `publish() fails with publish.stream_changed when the stream was recreated (frames: ${frames})`,
    onVirtualClock(async () => {
      const fake = fakeConnection({
        frames,
        answers: ({ index }) => ack("ORDERS", index < 6 ? 100 + index : index - 5),
      });
      const publisher = await Publisher.open(fake.nc, BASE);
      const error = assertFailure(await failureOf(publisher.publish(eu(10))), 10, {
        code: "publish.stream_changed",
        row: 6,
        outcome: "uncertain",
        counts: { unknown: 6, acked: 4 },
      });
      assert.deepEqual(error.rowOutcomes.unsettled(), [0, 1, 2, 3, 4, 5]);
      await publisher.close();
    }),
  );
}

Deno.test(
  "errors in options, route or data leave a publisher unchanged",
  onVirtualClock(async () => {
    const fake = fakeConnection({
      requests: ({ subject }) => streamInfo(subject.split(".").at(-1)!, { subjects: ["orders.>"] }),
    });
    const publisher = await Publisher.open(fake.nc, { ...BASE, stream: "S_{resource}" });
    const names = await Promise.all([
      failureOf(publisher.publish({ resource: "", rows: idBatch(1) })),
      failureOf(publisher.publish({ resource: "a b", rows: idBatch(1) })),
      failureOf(publisher.publish({ resource: "eu", rows: idBatch(1), only: [1] })),
      failureOf(publisher.publish({ resource: "eu", rows: idBatch(2), operations: ["insert"] })),
      failureOf(publisher.publish({ resource: "eu", rows: idBatch(1, { payload: 1_100_000 }) })),
    ]);
    assert.deepEqual(names.map((error) => (error as Error).name), [
      "ConfigError",
      "RouteError",
      "ConfigError",
      "EncodeError",
      "EncodeError",
    ]);
    assert.equal(fake.published.length, 0);
    const stream = new StreamModel("S_eu");
    const good = fakeConnection({
      requests: () => streamInfo("S_eu", { subjects: ["orders.>"] }),
      answers: (published) => stream.store(published),
    });
    const other = await Publisher.open(good.nc, { ...BASE, stream: "S_{resource}" });
    assert.equal((await other.publish(eu(2))).rows, 2);
    await other.close();
    await publisher.close();
  }),
);

Deno.test(
  "close() waits for the calls in progress and refuses new ones",
  onVirtualClock(async () => {
    const fake = fakeConnection({ manual: true });
    const publisher = await Publisher.open(() => Promise.resolve(fake.nc), BASE);
    const call = publisher.publish(eu(3));
    const closed = publisher.close();
    await reached(fake, 3);
    assert.equal((await failureOf(publisher.publish(eu(1))) as { code: string }).code, "state.closed");
    fake.deliver();
    assert.equal((await call).rows, 3);
    await Promise.all([closed, publisher.close()]);
    assert.deepEqual(fake.calls.filter((each) => each === "close"), ["close"]);
  }),
);

Deno.test(
  "stats() counts every failed call, whatever its error, but not calls that are refused after the end",
  onVirtualClock(async () => {
    const fake = fakeConnection();
    const publisher = await Publisher.open(fake.nc, BASE);
    const faults: [RowBatch, CallOptions?][] = [
      [{ resource: "", rows: numberBatch(1) }],
      [{ resource: "a b", rows: numberBatch(1) }],
      [{ resource: "eu", rows: numberBatch(2), only: [2] }],
      [{ resource: "eu", rows: numberBatch(2), operations: ["insert"] }],
      [{ resource: "eu", rows: numberBatch(2) }, { signal: AbortSignal.abort() }],
    ];
    for (const [index, [batch, options]] of faults.entries()) {
      await failureOf(publisher.publish(batch, options));
      assert.equal(publisher.stats().failures, index + 1);
    }
    await publisher.close();
    await failureOf(publisher.publish({ resource: "eu", rows: numberBatch(1) }));
    assert.equal(publisher.stats().failures, faults.length);
  }),
);

Deno.test(
  "publish() uses the selection that it was given, even if the caller changes the array later",
  onVirtualClock(async () => {
    const fake = fakeConnection();
    const publisher = await Publisher.open(fake.nc, BASE);
    const only = [0, 2];
    const call = publisher.publish({ resource: "eu", rows: numberBatch(3), only });
    only.splice(0, 2, 1);
    assert.equal((await call).rows, 2);
    assert.deepEqual(fake.published.map(({ data }) => new TextDecoder().decode(data)), ['{"n":0}', '{"n":2}']);
    await publisher.close();
  }),
);

Deno.test(
  "Publisher.open() refuses what is not a connection and dials none",
  onVirtualClock(async () => {
    for (const to of [undefined, null, {}, () => Promise.resolve(undefined)]) {
      await assert.rejects(Publisher.open(to as unknown as NatsConnection, BASE), { code: "config.type", field: "to" });
    }
  }),
);

for (const retry of [true, false]) {
  Deno.test(
    `publish() to a server that answers one row of ten with 429: ${retry ? "all rows end acked" : "a typed error"}`,
    onVirtualClock(async () => {
      const stream = new StreamModel();
      const refused = new Set<number>();
      const fake = fakeConnection({
        answers: (published) => {
          const { n } = JSON.parse(new TextDecoder().decode(published.data)) as { n: number };
          if (n % 10 !== 3 || refused.has(n)) return stream.store(published);
          refused.add(n);
          return TOO_MANY_REQUESTS;
        },
      });
      const options: Options = { ...BASE, maxInFlight: 16, ...(retry ? { retry: { budget: "20s" } } : {}) };
      const publisher = await Publisher.open(fake.nc, options);
      const publishing = publisher.publish(eu(200));
      if (retry) {
        assert.equal((await publishing).rows, 200);
        assertWhole(stream.rows, 200);
      } else {
        const expected = { code: "publish.overloaded", serverCode: 10167, row: 3, outcome: "partial" } as const;
        assertAgreement(assertFailure(await failureOf(publishing), 200, expected), 200, stream.rows);
      }
      await publisher.close();
    }),
  );
}
