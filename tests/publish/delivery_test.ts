import assert from "node:assert/strict";
import { SpareMemory } from "../../src/json/spare_memory.ts";
import { Delivery } from "../../src/publish/delivery.ts";
import { ACKED, DUPLICATE, UNSENT } from "../../src/publish/outcomes.ts";

function loaded(count: number, memory?: SpareMemory): Delivery {
  const delivery = new Delivery();
  const rows = { count, release: () => {}, free: () => {} };
  delivery.load(rows as never, {} as never, memory);
  return delivery;
}

Deno.test("a call begins with nothing known, whatever the one before it left in its memory", () => {
  const memory = new SpareMemory();
  const first = loaded(3, memory);
  const { buffer } = first.codes;
  for (const index of [0, 1, 2]) first.submit(index);
  first.acknowledge(0, 7, false);
  first.acknowledge(1, 8, true);
  first.acknowledge(2, 9, false);
  assert.deepEqual([...first.codes, ...first.sequences, ...first.tries], [ACKED, DUPLICATE, ACKED, 7, 8, 9, 1, 1, 1]);
  first.free();
  const second = loaded(2, memory);
  assert.ok(second.codes.buffer === buffer, "the memory is used again");
  assert.deepEqual([...second.codes, ...second.sequences, ...second.tries], [UNSENT, UNSENT, 0, 0, 0, 0]);
});

Deno.test("what comes late for a call that gave its memory back changes no other call", () => {
  const memory = new SpareMemory();
  const first = loaded(2, memory);
  first.free();
  first.free();
  const second = loaded(2, memory);
  assert.ok(loaded(2, memory).codes.buffer !== second.codes.buffer, "no memory is given out twice");
  first.submit(0);
  first.acknowledge(0, 5, false);
  first.acknowledgeRange(0, 2);
  first.refuse(1, "unknown");
  first.withdraw(1);
  assert.deepEqual([...second.codes, ...second.sequences, ...second.tries], [UNSENT, UNSENT, 0, 0, 0, 0]);
  assert.equal(first.count, 2);
});
