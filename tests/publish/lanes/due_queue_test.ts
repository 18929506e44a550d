import assert from "node:assert/strict";
import fc from "fast-check";
import { DueQueue } from "../../../src/publish/lanes/due_queue.ts";

interface Item {
  due: number;
}

Deno.test("DueQueue agrees with a plain list after any operations", () => {
  const step = fc.record({ what: fc.nat(4), which: fc.nat(), due: fc.oneof(fc.nat(50), fc.constant(Infinity)) });
  fc.assert(fc.property(fc.array(step, { maxLength: 200 }), (steps) => {
    const queue = new DueQueue<Item>(({ due }) => due);
    const items = new Set<Item>();
    for (const { what, which, due } of steps) {
      const chosen = [...items][which % Math.max(1, items.size)];
      if (what === 0 || chosen === undefined) {
        const item = { due };
        items.add(item);
        queue.add(item);
      } else if (what === 1) {
        const isEarlier = due < chosen.due;
        chosen.due = due;
        if (isEarlier) queue.add(chosen);
      } else if (what === 2) {
        items.delete(chosen);
        queue.delete(chosen);
      } else if (what === 3) {
        const taken = new Set(queue.take(due));
        assert.deepEqual(taken, new Set([...items].filter((item) => item.due <= due && item.due < Infinity)));
        for (const item of taken) items.delete(item);
      } else if (which % 20 === 0) {
        items.clear();
        queue.clear();
      }
      assert.equal(queue.next, Math.min(Infinity, ...[...items].map((item) => item.due)));
    }
  }));
});

Deno.test("DueQueue reads few due times, whatever its number of items", () => {
  const count = 10_000;
  let reads = 0;
  const queue = new DueQueue<Item>(({ due }) => (reads++, due));
  const items = Array.from({ length: count }, (_, at) => ({ due: at }));
  for (const item of items) queue.add(item);
  for (const item of items) {
    assert.equal(queue.next, item.due);
    item.due += count; // later: the queue is not notified
  }
  for (const item of items) {
    assert.equal(queue.next, item.due);
    queue.delete(item);
  }
  assert.ok(reads < 12 * count, `${reads} reads`);
});
