import assert from "node:assert/strict";
import { IdIndex } from "../../src/message/id_index.ts";

/** Ids whose hexadecimal digits are those of a number. */
function idsOf(numbers: readonly number[]): Uint8Array {
  return new TextEncoder().encode(numbers.map((n) => n.toString(16).padStart(8, "0").padEnd(64, "0")).join(""));
}

const spread = (count: number): number[] => Array.from({ length: count }, (_, i) => (i * 2654435761) >>> 0);

Deno.test("IdIndex finds the earlier row of a repeated id, however often it has grown", () => {
  const numbers = spread(5000);
  const ids = idsOf(numbers);
  const index = new IdIndex();
  for (let row = 0; row < numbers.length; row++) {
    assert.equal(index.add(row, ids, row * 64, () => assert.fail("another id")), -1);
    // Also while it is growing.
    for (const earlier of [0, row >> 1, row]) {
      assert.equal(index.add(9999, ids, earlier * 64, (other) => other === earlier), earlier);
    }
  }
});

Deno.test("IdIndex distinguishes ids that begin with the same digits", () => {
  const ids = idsOf([7, 7, 7]);
  const index = new IdIndex();
  for (let row = 0; row < 1000; row++) assert.equal(index.add(row, ids, 0, () => false), -1);
  for (let row = 0; row < 1000; row++) assert.equal(index.add(9999, ids, 0, (other) => other === row), row);
});

Deno.test("IdIndex allocates in proportion to its ids, also while it grows", () => {
  const count = 20_000;
  const index = new IdIndex();
  assert.ok(index.bytes <= 1024, `${index.bytes} bytes without an id`);
  const ids = idsOf(spread(count));
  for (let row = 0; row < count; row++) {
    index.add(row, ids, row * 64, () => false);
    assert.ok(index.bytes <= Math.max(1024, 48 * (row + 1)), `${index.bytes} bytes for ${row + 1} ids`);
  }
});

Deno.test("IdIndex does a bounded amount of work per id, also while it grows", () => {
  const Real = globalThis.Int32Array;
  let looks = 0;
  globalThis.Int32Array = new Proxy(Real, {
    construct: (target, args) =>
      new Proxy(Reflect.construct(target, args), {
        get(array, key) {
          if (typeof key === "string" && /^\d+$/.test(key)) looks++;
          return Reflect.get(array, key, array);
        },
      }),
  });
  try {
    const ids = idsOf(spread(5000));
    const index = new IdIndex();
    let most = 0;
    for (let row = 0; row < 5000; row++) {
      looks = 0;
      index.add(row, ids, row * 64, () => false);
      most = Math.max(most, looks);
    }
    assert.ok(most < 500, `${most} looks for one id`);
  } finally {
    globalThis.Int32Array = Real;
  }
});
