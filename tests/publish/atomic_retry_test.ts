import assert from "node:assert/strict";
import { PublisherCore } from "../../src/publish/core.ts";
import { openBatch } from "../../src/publish/prepare_batch.ts";
import { currentMoment } from "../../src/stream/resend.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch, numberBatch } from "../_support/arrow/mod.ts";
import {
  apiError,
  type FakeConnection,
  NO_RESPONDERS,
  type Published,
  refusal,
  streamInfo,
} from "../_support/fake/mod.ts";
import { atomicServer, batchRow } from "./_atomic_server.ts";
import { opener, publishFails } from "./_batches.ts";
import { onVirtualClock, withManualClock } from "../_support/clock.ts";

const open = opener("atomic");

Deno.test(
  "with retry, a batch that is not stored is resent whole, under a new batch id",
  onVirtualClock(async () => {
    let refused = 0;
    const fake = atomicServer((row) => row.commit && refused++ < 2 ? refusal(400, 10176, "incomplete") : undefined);
    await using publisher = await open(fake, { retry: { budget: 5000 } });
    const receipt = await publisher.publish({ resource: "eu", rows: numberBatch(3) });
    assert.deepEqual(receipt.sequences, [[1, 3]]);
    assert.deepEqual(fake.published.map((row) => batchRow(row).sequence), [1, 2, 3, 1, 2, 3, 1, 2, 3]);
    assert.equal(new Set(fake.published.map((row) => batchRow(row).id)).size, 3);
  }),
);

Deno.test(
  "with retry, a batch of unknown outcome is resent only if every row has an id",
  onVirtualClock(async () => {
    for (const [rows, again] of [[idBatch(3), true], [numberBatch(3), false]] as const) {
      let lost = 0;
      const fake = atomicServer((row) => row.commit && lost++ === 0 ? null : undefined);
      await using publisher = await open(fake, { retry: { budget: 5000 }, publishTimeout: 20 });
      if (again) assert.equal((await publisher.publish({ resource: "eu", rows })).rows, 3);
      else await publishFails(publisher, rows, { code: "publish.timeout", counts: { unknown: 3 } });
    }
  }),
);

Deno.test(
  "with retry, a batch is resent before the next call's batch: rows are stored in the order of calls",
  onVirtualClock(async () => {
    let refused = 0;
    const fake = atomicServer((row) => row.commit && refused++ < 2 ? NO_RESPONDERS : undefined);
    await using publisher = await open(fake, { retry: { budget: 5000 } });
    const calls = [2, 3, 4].map((rows) => publisher.publish({ resource: "eu", rows: numberBatch(rows) }));
    const receipts = await Promise.all(calls);
    assert.deepEqual(receipts.map(({ sequences }) => sequences), [[[1, 2]], [[3, 5]], [[6, 9]]]);
  }),
);

Deno.test(
  "retry ends with its budget, with the rejection of the last submission",
  onVirtualClock(async () => {
    await using publisher = await open(atomicServer((row) => row.commit ? NO_RESPONDERS : undefined), {
      retry: { budget: 100 },
    });
    await publishFails(publisher, idBatch(3), { code: "publish.no_responders", counts: { rejected: 3 } });
  }),
);

/** A server that knows all ids of the batch, and whose stream holds messages with those ids. */
function replayed(stored: (row: number) => number, fails?: number): FakeConnection {
  const ids: string[] = [];
  const type = "stream_msg_get_response";
  return atomicServer(({ commit, sequence }, published) => {
    ids[sequence - 1] = /Nats-Msg-Id: (\S+)/.exec(new TextDecoder().decode(published.headers))![1]!;
    return commit ? refusal(400, 10201, "batch contains duplicate message id") : undefined;
  }, {
    requests: ({ subject, body }) => {
      if (!subject.startsWith("$JS.API.STREAM.MSG.GET")) {
        const state = { last_seq: 2000, messages: 2000, consumer_count: 0 };
        return streamInfo("ORDERS", { allow_atomic: true }, { state });
      }
      if (fails !== undefined) return apiError(type, 500, fails, "no");
      const { seq = 1 } = JSON.parse(body) as { seq?: number };
      const at = ids.map((id, row) => ({ id, seq: stored(row) })).filter((message) => message.seq >= seq)
        .sort((a, b) => a.seq - b.seq)[0];
      if (at === undefined) return apiError(type, 404, 10037, "no message found");
      const hdrs = btoa(`NATS/1.0\r\nNats-Expected-Stream: ORDERS\r\nNats-Msg-Id: ${at.id}\r\n\r\n`);
      return { type: `io.nats.jetstream.api.v1.${type}`, message: { subject: "orders.eu", seq: at.seq, hdrs } };
    },
  });
}

Deno.test(
  "a batch whose ids are all in the stream is acknowledged, every row as a duplicate",
  onVirtualClock(async () => {
    await using publisher = await open(replayed((row) => 1001 + row));
    const receipt = await publisher.publish({ resource: "eu", rows: idBatch(700) });
    assert.deepEqual([receipt.rows, receipt.duplicates, receipt.sequences], [700, 700, [[1001, 1700]]]);
    assert.deepEqual([publisher.stats().acked, publisher.stats().duplicates], [0, 700]);
  }),
);

Deno.test(
  "a batch of which some ids are in the stream is refused, and the error names the stored rows",
  onVirtualClock(async () => {
    await using publisher = await open(replayed((row) => row % 2 === 0 ? 1001 + row : 0));
    const error = await publishFails(publisher, idBatch(6), {
      code: "publish.rejected",
      serverCode: 10201,
      outcome: "partial",
      counts: { duplicate: 3, rejected: 3 },
    });
    assert.deepEqual(error.rowOutcomes.unsettled(), [1, 3, 5]);
  }),
);

Deno.test(
  "a batch whose rows cannot be looked up is unknown",
  onVirtualClock(async () => {
    await using publisher = await open(replayed((row) => 1001 + row, 10013));
    await publishFails(publisher, idBatch(6), {
      code: "publish.timeout",
      outcome: "uncertain",
      counts: { unknown: 6 },
    });
  }),
);

Deno.test("with retry, nothing is sent after a batch that must not be resent", async () => {
  await withManualClock(async (clock) => {
    let first: Published | undefined;
    const fake = atomicServer((row, published) => {
      if (row.commit) return null;
      if (row.sequence !== 1 || published.index === 0) return undefined;
      first = published;
      return null;
    });
    const publisher = await open(fake, { retry: { budget: 60_000 }, publishTimeout: 10_000 });
    const calls = [2, 3].map((rows) => publisher.publish({ resource: "eu", rows: idBatch(rows) }).catch((e) => e));
    // The first commit is not answered; the batch is resent, and its first row is answered after the duplicate window.
    await clock.advance(11_000);
    assert.equal(fake.published.length, 3);
    clock.suspend(300_000);
    fake.answer(first!, {});
    fake.deliver();
    await clock.settle();
    const [one, other] = await Promise.all(calls);
    assert.equal(fake.published.length, 3, "the next call's batch is not begun");
    assert.deepEqual([one.code, one.outcome, other.outcome], ["publish.timeout", "uncertain", "none"]);
  });
});

Deno.test("rows of a batch are searched from the time of its commit, even if the machine was suspended since", async () => {
  await withManualClock(async (clock) => {
    const starts: number[] = [];
    const type = "stream_msg_get_response";
    let commit: Published | undefined;
    const fake = atomicServer((row, published) => {
      if (row.commit) commit = published;
      return row.commit ? null : undefined;
    }, {
      requests: ({ subject, body }) => {
        if (!subject.includes("MSG.GET")) {
          const now = { ts: new Date(clock.wall).toISOString() };
          return streamInfo("ORDERS", { allow_atomic: true }, now);
        }
        starts.push(Date.parse((JSON.parse(body) as { start_time: string }).start_time));
        return apiError(type, 404, 10037, "no message found");
      },
    });
    const publisher = await open(fake);
    const sent = clock.wall;
    const failed = publisher.publish({ resource: "eu", rows: idBatch(2) }).catch((error) => error);
    await clock.settle();
    clock.suspend(600_000);
    fake.answer(commit!, refusal(400, 10201, "batch contains duplicate message id"));
    fake.deliver();
    await clock.settle();
    assert.equal((await failed).code, "publish.rejected");
    assert.ok(starts[0]! <= sent - 120_000, `${new Date(starts[0]!).toISOString()}`);
  });
});

Deno.test("a batch with any row that was acknowledged as new after its duplicate window is unknown", async () => {
  await withManualClock(async (clock) => {
    const fake = atomicServer(undefined, { manual: true });
    const options = { stream: "ORDERS", subject: "orders.{resource}", publishMode: "atomic" } as const;
    const core = await PublisherCore.open(fake.nc, options);
    const justNow = currentMoment();
    const source = {
      ...openBatch({ resource: "eu", rows: idBatch(3) }, core.settings),
      earlier: { duplicateWindow: 120_000, firstSent: (row: number) => row === 2 ? justNow : undefined },
    };
    const call = core.start(source, { from: 0, count: 3 }, { signal: undefined, cut: false });
    await clock.settle();
    fake.deliver();
    await clock.settle();
    assert.equal(fake.published.length, 3);
    clock.suspend(600_000);
    fake.deliver();
    assertFailure(await failureOf(call.done), 3, { code: "publish.timeout", counts: { unknown: 3 } });
    await core.close();
  });
});
