import assert from "node:assert/strict";
import fc from "fast-check";
import { LinkedSet } from "../../src/util/linked_set.ts";
import { countingIteration } from "../_support/iteration.ts";

Deno.test("LinkedSet agrees with a Set after any sequence of operations", () => {
  const step = fc.record({ what: fc.nat(9), value: fc.nat(6) });
  fc.assert(fc.property(fc.array(step, { maxLength: 100 }), (steps) => {
    const linked = new LinkedSet<number>();
    const plain = new Set<number>();
    for (const { what, value } of steps) {
      if (what === 0) {
        linked.clear();
        plain.clear();
      } else if (what < 6) {
        linked.add(value);
        plain.add(value);
      } else {
        assert.equal(linked.delete(value), plain.delete(value));
      }
      assert.deepEqual([linked.size, linked.first, ...linked], [plain.size, [...plain][0], ...plain]);
    }
  }));
});

Deno.test("LinkedSet as a queue iterates over no Set or Map, which would step over deleted entries", () => {
  const steps = countingIteration(() => {
    const queue = new LinkedSet<number>();
    for (let i = 0; i < 1000; i++) queue.add(i);
    for (let i = 0; i < 1000; i++) {
      assert.equal(queue.first, i);
      queue.delete(i);
      queue.add(1000 + i);
    }
  });
  assert.equal(steps, 0);
});
