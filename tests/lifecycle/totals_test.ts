import assert from "node:assert/strict";
import { openRun, publishAll } from "../../mod.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";

const OPTIONS = { stream: "ORDERS", subject: "orders.{resource}" };

Deno.test(
  "a total counts the batches that the caller passed, not the pieces that were published",
  onVirtualClock(async () => {
    const batches = [
      { resource: "eu", rows: numberBatch(10) },
      { resource: "us", rows: numberBatch(3) },
      { resource: "eu", rows: numberBatch(0) },
      { resource: "eu", rows: numberBatch(7), only: [2, 4, 6] },
    ];
    const expected = [["eu", 13, 3], ["us", 3, 1]];
    const run = await openRun(fakeConnection().nc, OPTIONS);
    let receipts = 0;
    const totals = await run.applyAll(batches, { batchMaxRows: 2, onReceipt: () => void receipts++ });
    assert.deepEqual(totals.map(({ resource, rows, batches }) => [resource, rows, batches]), expected);
    assert.equal(receipts, 5 + 2 + 1 + 2);
    await run.apply(batches[0]!);
    assert.deepEqual((await run.commit()).resources.map(({ batches }) => batches), [4, 1]);

    const { resources } = await publishAll(() => Promise.resolve(fakeConnection().nc), OPTIONS, batches, {
      budget: 1000,
      batchMaxRows: 2,
    });
    assert.deepEqual(resources.map(({ resource, rows, batches }) => [resource, rows, batches]), expected);
  }),
);
