import assert from "node:assert/strict";
import { openRun, publishAll, type PublishError, type RowBatch, type WriteReceipt } from "../../mod.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { ack, type FakeConnection, fakeConnection } from "../_support/fake/mod.ts";
import { BASE } from "../faults/_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

const batch = (rows: number, first = 0): RowBatch => ({ resource: "eu", rows: idBatch(rows, { first }) });

/** A stream that is deleted and recreated before message `at`: its sequences then begin at 1 again. */
function recreatedStream(at: number, frames: boolean): FakeConnection {
  return fakeConnection({ frames, answers: ({ index }) => ack("ORDERS", index < at ? 11 + index : index - at + 1) });
}

const PIECES = { batchMaxRows: 2 };

for (const frames of [false, true]) {
  Deno.test(
    `applyAll() throws publish.stream_changed when a stream is recreated between pieces (frames: ${frames})`,
    onVirtualClock(async () => {
      const fake = recreatedStream(6, frames);
      const run = await openRun(() => Promise.resolve(fake.nc), { ...BASE, maxInFlight: 2 });
      const receipts: WriteReceipt[] = [];
      const options = { ...PIECES, onReceipt: (receipt: WriteReceipt) => void receipts.push(receipt) };
      const error = await failureOf(run.applyAll([batch(4), batch(6, 4), batch(2, 10)], options));
      assertFailure(error, 6, { code: "publish.stream_changed", row: 2, outcome: "uncertain" });
      const { batch: index, rowOutcomes } = error as PublishError;
      assert.equal(index, 1);
      assert.deepEqual([0, 1, 2, 3].map((row) => rowOutcomes.at(row)), ["unknown", "unknown", "acked", "acked"]);
      assert.deepEqual(receipts.map(({ batch, offset }) => [batch, offset]), [[0, 0], [0, 2], [1, 0]]);
      assert.equal(await failureOf(run.commit()), error);
      assert.ok(fake.nc.isClosed());
    }),
  );

  Deno.test(
    `publishAll() does not retry after publish.stream_changed, since rows with receipts are gone (frames: ${frames})`,
    onVirtualClock(async () => {
      let dials = 0;
      const dial = () => {
        dials++;
        return Promise.resolve(recreatedStream(2, frames).nc);
      };
      const error = await failureOf(publishAll(dial, BASE, [batch(6)], { budget: "5s", ...PIECES }));
      assertFailure(error, 6, { code: "publish.stream_changed", row: 2 });
      assert.equal(dials, 1);
    }),
  );
}

Deno.test(
  "applyAll() accepts lower sequences in pieces of duplicates and between batches",
  onVirtualClock(async () => {
    const sequences = [11, 12, 3, 13, 1, 2];
    const answers = ({ index }: { index: number }) =>
      ack("ORDERS", sequences[index]!, index === 2 ? { duplicate: true } : {});
    const run = await openRun(fakeConnection({ answers }).nc, BASE);
    const [total] = await run.applyAll([batch(4), batch(2, 4)], PIECES);
    assert.deepEqual([total!.rows, total!.duplicates], [6, 1]);
  }),
);
