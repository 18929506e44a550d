import assert from "node:assert/strict";
import { openRun, Publisher } from "../../mod.ts";
import { SpareMemory } from "../../src/json/memory/spare.ts";
import { Delivery } from "../../src/publish/call.ts";
import { ACKED, DUPLICATE, UNSENT } from "../../src/publish/outcomes.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";

function loaded(count: number, memory?: SpareMemory): Delivery {
  const delivery = new Delivery();
  const rows = { count, release: () => {}, free: () => {} };
  delivery.load(rows as never, {} as never, memory);
  return delivery;
}

Deno.test(
  "a new call has nothing of what an earlier call left in the same memory",
  onVirtualClock(() => {
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
  }),
);

Deno.test(
  "late answers for a call that has returned its memory change no other call",
  onVirtualClock(() => {
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
  }),
);

Deno.test(
  "consecutive calls and pieces reuse the same memory",
  onVirtualClock(async () => {
    const load = Delivery.prototype.load;
    const buffers = [new Set<unknown>(), new Set<unknown>(), new Set<unknown>()] as const;
    Delivery.prototype.load = function (this: Delivery, ...given: Parameters<typeof load>) {
      load.apply(this, given);
      [this.codes, given[0].offsets, given[0].bytes].forEach(({ buffer }, kind) => buffers[kind]!.add(buffer));
    };
    try {
      const { nc } = fakeConnection({ frames: true });
      const options = { stream: "ORDERS", subject: "orders.all", ownsConnection: false };
      await using publisher = await Publisher.open(nc, options);
      for (let call = 0; call < 10; call++) await publisher.publish({ resource: "r", rows: idBatch(50) });
      assert.deepEqual(buffers.map(({ size }) => size), [1, 1, 1]);
      await using run = await openRun(nc, options);
      await run.applyAll([{ resource: "r", rows: idBatch(1000) }], { batchMaxRows: 50 });
      await run.commit();
      assert.ok(buffers.every(({ size }) => size < 10), `${buffers.map(({ size }) => size)} for twenty pieces`);
    } finally {
      Delivery.prototype.load = load;
    }
  }),
);
