import assert from "node:assert/strict";
import { encodeRows, openRun, type RowBatch, type WriteReceipt } from "../../../mod.ts";
import { assertFailure, assertWhole, failureOf } from "../../_support/failed_publish.ts";
import { idBatch, numberBatch, tableOf } from "../../_support/arrow/mod.ts";
import { fakeConnection, NO_RESPONDERS, refusal, StreamModel } from "../../_support/fake/mod.ts";
import { BASE, reached } from "../../faults/_scripted.ts";
import { onVirtualClock } from "../../_support/clock.ts";

const batch = (rows: number, first = 0, resource = "eu"): RowBatch => ({ resource, rows: idBatch(rows, { first }) });

/** A source that counts how often it was read, and records whether it was closed. */
function watched(batches: readonly RowBatch[], last?: () => Promise<RowBatch>) {
  const source = {
    asked: 0,
    returned: 0,
    [Symbol.asyncIterator]: () => ({
      next: async () => {
        const value = batches[source.asked++];
        if (value !== undefined) return { done: false as const, value };
        return last === undefined
          ? { done: true as const, value: undefined }
          : { done: false as const, value: await last() };
      },
      return: () => {
        source.returned++;
        return Promise.resolve({ done: true as const, value: undefined });
      },
    }),
  };
  return source;
}

Deno.test(
  "applyAll() cuts batches into pieces, and awaits onReceipt for each piece in order",
  onVirtualClock(async () => {
    const stream = new StreamModel();
    const fake = fakeConnection({ frames: true, answers: (published) => stream.store(published) });
    const run = await openRun(fake.nc, BASE);
    const receipts: WriteReceipt[] = [];
    let telling = 0;
    const table = tableOf(idBatch(5, { first: 20 }), idBatch(4, { first: 25 }));
    const totals = await run.applyAll([batch(20), { resource: "us", rows: table }, batch(0), {
      ...batch(9, 20),
      only: [1, 3, 8],
    }], {
      batchMaxRows: 8,
      onReceipt: async (receipt) => {
        assert.equal(telling++, 0, "one at a time");
        await new Promise((resolve) => setTimeout(resolve, 0));
        telling--;
        receipts.push(receipt);
      },
    });
    assert.deepEqual(receipts.map(({ batch, offset, rows, resource }) => [batch, offset, rows, resource]), [
      [0, 0, 8, "eu"],
      [0, 8, 8, "eu"],
      [0, 16, 4, "eu"],
      [1, 0, 5, "us"],
      [1, 5, 4, "us"],
      [2, 0, 0, "eu"],
      [3, 0, 3, "eu"],
    ]);
    assert.deepEqual(totals.map(({ resource, rows, batches }) => [resource, rows, batches]), [["eu", 23, 3], [
      "us",
      9,
      1,
    ]]);
    assert.equal(receipts[1]!.crc32c, encodeRows(idBatch(8, { first: 8 })).crc32c);
    assert.deepEqual((await run.commit()).rows, 32);
  }),
);

Deno.test(
  "applyAll() reads its source only when a batch is needed",
  onVirtualClock(async () => {
    for (const frames of [true, false]) {
      const fake = fakeConnection({ frames, manual: true });
      const run = await openRun(fake.nc, { ...BASE, maxInFlight: 4, publishTimeout: "1m" });
      const source = watched(Array.from({ length: 10 }, (_, i) => batch(4, i * 4)));
      const done = run.applyAll(source);
      await reached(fake, 4);
      await idle();
      // One on the wire; if the wire copies, also one encoded behind it and one before the window.
      assert.equal(source.asked, frames ? 3 : 2);
      for (let rows = 4; rows <= 40; rows += 4) {
        await reached(fake, rows);
        fake.deliver();
      }
      assert.equal((await done)[0]!.rows, 40);
      assert.equal(source.asked, 11);
      assert.equal(source.returned, 0, "a source at its end is not told");
      await run.commit();
    }
  }),
);

Deno.test(
  "applyAll() closes its source on every failure",
  onVirtualClock(async () => {
    const abort = new AbortController();
    const many = Array.from({ length: 9 }, (_, i) => batch(3, 3 * i));
    const cases: readonly {
      readonly name: string;
      readonly answers?: Parameters<typeof fakeConnection>[0];
      readonly batches: readonly RowBatch[];
      readonly options?: Parameters<Awaited<ReturnType<typeof openRun>>["applyAll"]>[1];
      readonly last?: () => Promise<RowBatch>;
      readonly code: string;
    }[] = [
      { name: "refused", answers: { answers: () => NO_RESPONDERS }, batches: many, code: "publish.no_responders" },
      { name: "bad data", batches: [batch(3), { ...batch(2), operations: ["insert"] }], code: "encode.operations" },
      { name: "no batch", batches: [null as unknown as RowBatch], code: "config.type" },
      { name: "bad resource", batches: [{ ...batch(1), resource: "a b" }], code: "route.subject" },
      {
        name: "bad listener",
        batches: many,
        options: { onReceipt: () => Promise.reject({ code: "mine" }) },
        code: "mine",
      },
      {
        name: "aborted at work",
        batches: [batch(1)],
        options: { signal: abort.signal },
        last: () => {
          queueMicrotask(() => abort.abort());
          return new Promise(() => {});
        },
        code: "publish.aborted",
      },
      {
        name: "aborted before",
        batches: [batch(1)],
        options: { signal: AbortSignal.abort() },
        code: "publish.aborted",
      },
    ];
    for (const { name, answers = {}, batches, options = {}, last, code } of cases) {
      const run = await openRun(fakeConnection(answers).nc, BASE);
      const source = watched(batches, last);
      const error = await failureOf(run.applyAll(source, options)) as { code: string };
      assert.equal(error.code, code, name);
      assert.equal(source.returned, 1, name);
      assert.equal(await failureOf(run.apply(batch(1))), error, name);
    }
  }),
);

Deno.test(
  "applyAll() aborted while it waits for its source reports the outcomes of the rows on the wire",
  onVirtualClock(async () => {
    for (const owned of [true, false]) {
      const fake = fakeConnection({
        frames: true,
        answers: ({ index }) => index < 5 ? { body: { stream: "ORDERS", seq: index + 1 } } : undefined,
      });
      const run = await openRun(owned ? () => Promise.resolve(fake.nc) : fake.nc, { ...BASE, publishTimeout: "1m" });
      const abort = new AbortController();
      const source = watched([batch(3), batch(4, 3)], () => {
        void reached(fake, 7).then(() => abort.abort(new Error("enough")));
        return new Promise(() => {});
      });
      const receipts: WriteReceipt[] = [];
      const error = await failureOf(
        run.applyAll(source, { signal: abort.signal, onReceipt: (r) => void receipts.push(r) }),
      );
      const failure = assertFailure(error, 4, {
        code: "publish.aborted",
        outcome: "uncertain",
        counts: { acked: 2, unknown: 2 },
      });
      assert.equal(failure.batch, 1);
      assert.equal((failure.cause as Error).message, "enough");
      assert.deepEqual(receipts.map(({ batch, rows }) => [batch, rows]), [[0, 3]]);
      assert.equal(source.returned, 1);
    }
  }),
);

Deno.test(
  "an error of applyAll() refers to the whole batch, as the caller passed it",
  onVirtualClock(async () => {
    for (const frames of [true, false]) {
      for (const maxInFlight of [5, 100]) {
        const stream = new StreamModel();
        const fake = fakeConnection({
          frames,
          answers: (published) => published.index === 21 ? refusal(400, 10077, "full") : stream.store(published),
        });
        const run = await openRun(fake.nc, { ...BASE, maxInFlight });
        const source = watched([batch(10), batch(30, 10), batch(10, 40)]);
        const receipts: WriteReceipt[] = [];
        const error = await failureOf(
          run.applyAll(source, { batchMaxRows: 4, onReceipt: (r) => void receipts.push(r) }),
        );
        const failure = assertFailure(error, 30, { code: "publish.rejected", serverCode: 10077, row: 11 });
        assert.equal(failure.batch, 1);
        assert.deepEqual([failure.rowOutcomes.at(10), failure.rowOutcomes.at(11), failure.rowOutcomes.at(29)], [
          "acked",
          "rejected",
          "unsent",
        ]);
        const settled = 30 - failure.rowOutcomes.unsettled().length;
        assert.equal(settled + 10, stream.rows.length, "what is acked is stored, and nothing else");
        assert.deepEqual(receipts.slice(0, 5).map(({ batch, offset }) => [batch, offset]), [[0, 0], [0, 4], [0, 8], [
          1,
          0,
        ], [1, 4]]);
        const again = await openRun(fakeConnection({ answers: (published) => stream.store(published) }).nc, BASE);
        await again.apply({ ...batch(30, 10), only: failure.rowOutcomes.unsettled() });
        await again.apply(batch(10, 40));
        assertWhole(stream.rows, 50);
      }
    }
  }),
);

Deno.test(
  "applyAll() names the batch during which it noticed the lost connection",
  onVirtualClock(async () => {
    const fake = fakeConnection();
    const run = await openRun(fake.nc, BASE);
    const source = async function* () {
      yield batch(3);
      await reached(fake, 3);
      await idle();
      fake.lose();
      await idle();
      yield { ...batch(6, 3), only: [0, 2, 5] };
    };
    const error = await failureOf(run.applyAll(source(), { batchMaxRows: 2 }));
    const { batch: index, rowOutcomes, outcome, code } = error as ReturnType<typeof assertFailure>;
    assert.deepEqual([code, outcome, index], ["publish.disconnected", "none", 1]);
    assert.deepEqual(rowOutcomes.unsettled(), [0, 2, 5]);
    assert.throws(() => rowOutcomes.at(1), RangeError);
  }),
);

Deno.test(
  "a source that fails after the rows leaves no unhandled rejection",
  onVirtualClock(async () => {
    const fake = fakeConnection({ answers: () => NO_RESPONDERS });
    const run = await openRun(fake.nc, BASE);
    let fail!: (error: Error) => void;
    const source = watched([batch(3)], () => new Promise((_, reject) => fail = reject));
    const error = await failureOf(run.applyAll(source));
    assertFailure(error, 3, { code: "publish.no_responders" });
    fail(new Error("late"));
    await idle();
  }),
);

Deno.test(
  "applyAll() reports what was acknowledged before its source failed, and throws what the source threw",
  onVirtualClock(async () => {
    const fake = fakeConnection({ manual: true });
    const run = await openRun(fake.nc, BASE);
    const gone = new Error("gone");
    const receipts: WriteReceipt[] = [];
    const source = async function* () {
      yield batch(3);
      await reached(fake, 3);
      setTimeout(() => fake.deliver(), 0);
      throw gone;
    };
    assert.equal(await failureOf(run.applyAll(source(), { onReceipt: (r) => void receipts.push(r) })), gone);
    assert.deepEqual(receipts.map(({ rows }) => rows), [3]);
  }),
);

Deno.test(
  "onReceipt is not called again after it has thrown, and its error is thrown",
  onVirtualClock(async () => {
    const run = await openRun(fakeConnection({ frames: true }).nc, BASE);
    let told = 0;
    const error = await failureOf(run.applyAll([{ resource: "eu", rows: numberBatch(40) }], {
      batchMaxRows: 4,
      onReceipt: () => {
        throw new Error(`receipt ${++told}`);
      },
    }));
    assert.equal((error as Error).message, "receipt 1");
    assert.equal(told, 1);
  }),
);

Deno.test(
  "applyAll() refuses a source that is not a sequence, and invalid limits",
  onVirtualClock(async () => {
    for (const [batches, options, field] of [[7, {}, "batches"], [[], { batchMaxRows: 0 }, "batchMaxRows"]] as const) {
      const run = await openRun(fakeConnection().nc, BASE);
      const error = await failureOf(run.applyAll(batches as unknown as RowBatch[], options)) as {
        name: string;
        field: string;
      };
      assert.deepEqual([error.name, error.field], ["ConfigError", field]);
      await run.abort();
    }
  }),
);

/** Waits until nothing is left to do. */
async function idle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setTimeout(resolve, 0));
}
