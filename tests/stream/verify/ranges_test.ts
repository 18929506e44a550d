import assert from "node:assert/strict";
import fc from "fast-check";
import { windows } from "../../../src/stream/verify/ranges.ts";

const pair = fc.tuple(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 0, max: 40 }))
  .map(([first, more]): [number, number] => [first, first + more]);

Deno.test("windows() return every sequence once, in the receipt's order", () => {
  fc.assert(fc.property(fc.array(pair, { maxLength: 20 }), fc.integer({ min: 1, max: 50 }), (pairs, rows) => {
    const all = pairs.flatMap(([first, last]) => Array.from({ length: last - first + 1 }, (_, i) => first + i));
    assert.deepEqual([...windows(pairs, rows)].flatMap(({ wanted }) => wanted), all);
  }));
});

Deno.test("windows() are ascending, hold at most `rows` sequences, and span few other messages", () => {
  fc.assert(fc.property(fc.array(pair, { maxLength: 20 }), fc.integer({ min: 1, max: 50 }), (pairs, rows) => {
    for (const { wanted, among, first, last } of windows(pairs, rows)) {
      assert.ok(wanted.length > 0 && wanted.length <= rows);
      assert.ok(wanted.every((sequence, i) => i === 0 || sequence >= wanted[i - 1]!));
      assert.deepEqual([wanted[0], wanted.at(-1), among], [first, last, new Set(wanted)]);
      assert.ok(last - first < 4 * wanted.length + 4);
    }
  }));
});

Deno.test("windows() of a long range are full", () => {
  const lengths = [...windows([[1, 10_000]], 2048)].map(({ wanted }) => wanted.length);
  assert.deepEqual(lengths, [2048, 2048, 2048, 2048, 1808]);
});

Deno.test("windows() of every second message hold all of them in one window", () => {
  const every = Array.from({ length: 100 }, (_, i): [number, number] => [2 * i + 1, 2 * i + 1]);
  assert.equal([...windows(every, 1000)].length, 1);
});
