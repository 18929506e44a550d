import assert from "node:assert/strict";
import fc from "fast-check";
import type { Call } from "../../../src/publish/call.ts";
import { type AtomicBatch, OpenBatches } from "../../../src/publish/lanes/atomic_batch.ts";
import { countingIteration } from "../../_support/iteration.ts";

const TIMEOUT = 100;

const call = (count: number): Call => ({ count }) as Call;

Deno.test("OpenBatches agrees with a plain list of batches after any operations", () => {
  const step = fc.record({ what: fc.nat(5), which: fc.nat(), rows: fc.integer({ min: 1, max: 5 }), pass: fc.nat(30) });
  fc.assert(fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
    const open = new OpenBatches();
    let list: AtomicBatch[] = [];
    let time = 0;
    for (const { what, which, rows, pass } of steps) {
      time += pass;
      const chosen = list[which % Math.max(1, list.length)];
      if (what === 0 && open.early === undefined) list.push(open.add(call(rows), rows * 10, time + TIMEOUT));
      if (chosen !== undefined) {
        if (what === 1) open.stage(chosen);
        if (what === 2 && chosen === open.early) open.commit(chosen, time + TIMEOUT);
        if (what === 3 && chosen.state === "committing") open.beginSearch(chosen);
        if (what === 4) {
          open.remove(chosen);
          list = list.filter((batch) => batch !== chosen);
          assert.ok(chosen.search.signal.aborted);
          assert.equal(open.take(chosen.commitToken), undefined);
        }
        if (what === 5) assert.equal(open.of(chosen.call), chosen);
      }
      assert.equal(open.size, list.length);
      assert.equal(open.rows, list.reduce((sum, { call }) => sum + call.count, 0));
      assert.equal(open.bytes, list.reduce((sum, { bytes }) => sum + bytes, 0));
      assert.equal(open.early, list.find(({ state }) => state === "opening" || state === "staged"));
      assert.equal(open.nextDue?.deadline ?? Infinity, Math.min(Infinity, ...list.map(({ deadline }) => deadline)));
    }
    open.clear();
    assert.deepEqual([open.size, open.rows, open.bytes, open.nextDue, open.early], [0, 0, 0, undefined, undefined]);
  }));
});

Deno.test("OpenBatches finds due batches and a call's batch without reading the others", () => {
  const open = new OpenBatches();
  const looks = { count: 0 };
  const batches = Array.from({ length: 1000 }, (_, at) => {
    const batch = open.add(call(1), 1, at + TIMEOUT);
    open.commit(batch, at + TIMEOUT);
    const { deadline, state } = batch;
    return Object.defineProperties(batch, {
      deadline: { get: () => (looks.count++, deadline), configurable: true },
      state: { get: () => (looks.count++, state), configurable: true },
    });
  });
  const steps = countingIteration(() => {
    for (const batch of batches) {
      assert.equal(open.nextDue, batch);
      assert.equal(open.early, undefined);
      open.remove(open.of(batch.call)!);
    }
  });
  assert.deepEqual([looks.count, steps], [0, 0]);
});
