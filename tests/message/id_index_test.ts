import assert from "node:assert/strict";
import { IdIndex } from "../../src/message/id_index.ts";

/** Ids whose hexadecimal digits are those of a number. */
function idsOf(numbers: readonly number[]): Uint8Array {
  return new TextEncoder().encode(numbers.map((n) => n.toString(16).padStart(8, "0").padEnd(64, "0")).join(""));
}

Deno.test("IdIndex finds the earlier row of a repeated id, however often it has grown", () => {
  const numbers = Array.from({ length: 5000 }, (_, i) => (i * 2654435761) >>> 0);
  const ids = idsOf(numbers);
  const index = new IdIndex();
  numbers.forEach((_, row) => assert.equal(index.add(row, ids, row * 64, () => assert.fail("another id")), -1));
  numbers.forEach((_, row) => assert.equal(index.add(9999, ids, row * 64, (earlier) => earlier === row), row));
});

Deno.test("IdIndex takes memory for the ids that it has, at most four times their number", () => {
  const index = new IdIndex();
  const empty = index.capacity;
  assert.ok(empty <= 1024);
  const ids = idsOf(Array.from({ length: 3000 }, (_, i) => (i * 2654435761) >>> 0));
  for (let row = 0; row < 3000; row++) index.add(row, ids, row * 64, () => false);
  assert.ok(index.capacity >= 3000 && index.capacity <= 4 * 3000, `${index.capacity}`);
});
