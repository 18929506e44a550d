import assert from "node:assert/strict";
import type { Call } from "../../../src/publish/call.ts";
import { FastBatch } from "../../../src/publish/lanes/fast_batch.ts";
import { FastBatches } from "../../../src/publish/lanes/fast_batches.ts";
import type { Destination } from "../../../src/stream/destination.ts";
import { countingIteration } from "../../_support/iteration.ts";

const TIMEOUT = 100;

/** Open batches of one row each, submitted at times 0, 1, 2 and so on. */
function opened(
  count: number,
): { readonly open: FastBatches; readonly batches: FastBatch[]; readonly calls: Call[] } {
  const open = new FastBatches();
  const calls = Array.from({ length: count }, () => ({}) as Call);
  const batches = calls.map((call, i) => {
    const batch = new FastBatch(`b${i}`, {} as Destination, "s", [], 5, undefined);
    batch.add(call, 0, 1, i + TIMEOUT);
    open.add(batch, call);
    return batch;
  });
  return { open, batches, calls };
}

Deno.test("FastBatches calls back with due batches, oldest first, and again at their next time", () => {
  const { open, batches } = opened(3);
  const [one, two, three] = batches as [FastBatch, FastBatch, FastBatch];
  three.requestAt = 50;
  one.abandonedAt = 60;
  for (const batch of batches) open.schedule(batch);
  assert.equal(open.nextDue, 50);
  const due = (time: number, after: (batch: FastBatch) => void): string[] => {
    const ids: string[] = [];
    open.eachDue(time, (batch) => {
      ids.push(batch.id);
      after(batch);
    });
    return ids;
  };
  assert.deepEqual(due(49, () => assert.fail("nothing is due")), []);
  assert.deepEqual(due(60, (batch) => batch === three ? batch.requestAt = 55 : open.remove(batch)), ["b0", "b2"]);
  assert.equal(open.nextDue, 55);
  assert.deepEqual(due(200, (batch) => open.remove(batch)), ["b1", "b2"]);
  assert.deepEqual([open.nextDue, open.size], [Infinity, 0]);
  assert.equal(two.live, true, "what is done about a batch is the caller's");
});

Deno.test("FastBatches knows the open batches of a call, and whether a call waits for a failing one", () => {
  const { open, batches, calls } = opened(2);
  open.add(batches[1]!, calls[0]!);
  assert.deepEqual(open.with(calls[0]!), batches);
  open.remove(batches[0]!);
  assert.deepEqual(open.with(calls[0]!), [batches[1]]);
  assert.deepEqual(open.with({} as Call), []);
  assert.equal(open.anyFailing, false);
  open.noteFailing(batches[1]!);
  assert.equal(open.anyFailing, true);
  batches[1]!.drop(calls[1]!, () => {});
  assert.equal(open.anyFailing, false);
});

Deno.test("FastBatches does each step without reading the other batches", () => {
  const count = 2000;
  const { open, batches, calls } = opened(count);
  let reads = 0;
  for (const batch of batches) {
    const due = Object.getOwnPropertyDescriptor(FastBatch.prototype, "due")!;
    Object.defineProperty(batch, "due", { get: () => (reads++, due.get!.call(batch)) });
  }
  const steps = countingIteration(() => {
    for (let i = 0; i < count; i++) {
      assert.equal(open.nextDue, i + TIMEOUT);
      assert.equal(open.anyFailing, false);
      assert.deepEqual(open.with(calls[i]!), [batches[i]]);
      open.remove(batches[i]!);
    }
  });
  assert.ok(reads < 4 * count, `${reads} due times read`);
  assert.ok(steps < 3 * count, `${steps} iterations`);
});
