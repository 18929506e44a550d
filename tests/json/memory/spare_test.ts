import assert from "node:assert/strict";
import fc from "fast-check";
import { viewRows } from "../../../src/arrow/view.ts";
import { encodeView } from "../../../src/json/encode.ts";
import { PieceMemory, SpareMemory, zeros } from "../../../src/json/memory/spare.ts";
import { batchOf, intColumn, textColumn } from "../../_support/arrow/mod.ts";

function viewOf(strings: readonly string[]) {
  return viewRows(batchOf([intColumn("i", strings.map((_, i) => i)), textColumn("t", strings)], strings.length));
}

Deno.test("encodeView() into spare memory of any size and content writes the same as into new memory", () => {
  const text = fc.tuple(fc.nat(4000), fc.constantFrom("a", "é", '"', "東")).map(([times, one]) => one.repeat(times));
  fc.assert(fc.property(
    fc.array(fc.array(text, { maxLength: 40 }), { minLength: 1, maxLength: 6 }),
    fc.option(fc.nat(300_000)),
    fc.option(fc.integer({ min: 1, max: 60_000 }), { nil: undefined }),
    (batches, first, maxBytes = Infinity) => {
      const memory = new PieceMemory();
      if (first !== null) {
        memory.bodies!.give(new Uint8Array(first).fill(0x22));
        memory.offsets.give(new Uint8Array(first & ~3).fill(0x22));
      }
      for (const strings of batches) {
        const view = viewOf(strings);
        const plain = encodeView(view, { maxBytes });
        const { bytes, offsets, rows, crc32c } = encodeView(view, { maxBytes, memory });
        assert.deepEqual([bytes, offsets, rows, crc32c], [plain.bytes, plain.offsets, plain.rows, plain.crc32c]);
        bytes.fill(0xff);
        offsets.fill(0xff);
        memory.bodies!.give(bytes);
        memory.offsets.give(offsets);
      }
    },
  ));
});

Deno.test("SpareMemory returns each memory once, and keeps at most two of up to 16 MiB", () => {
  const spare = new SpareMemory();
  const sizes = [0, (1 << 24) + 1, 1 << 24, 10, 20];
  for (const size of sizes) spare.give(new Uint8Array(size));
  assert.deepEqual([spare.take(), spare.take(), spare.take()].map((memory) => memory?.length), [
    10,
    1 << 24,
    undefined,
  ]);
});

Deno.test("encodeView() does not keep memory that was sized by an unusually large first row", () => {
  const large = viewOf(["x".repeat(300_000), ...Array<string>(999).fill("y")]);
  const part = encodeView(large, { memory: new PieceMemory() });
  assert.ok(part.bytes.buffer.byteLength < 2 * part.bytes.length, "memory sized by the first row is not kept");
});

Deno.test("SpareMemory returns no memory that is too small, and drops all if none is large enough", () => {
  const spare = new SpareMemory();
  spare.give(new Uint8Array(20));
  spare.give(new Uint8Array(10));
  assert.equal(spare.take(11)?.length, 20);
  assert.equal(spare.take(11), undefined);
  assert.equal(spare.take(), undefined);
});

Deno.test("zeros() returns zeros, whatever the memory held", () => {
  const spare = new SpareMemory();
  const given = new Uint8Array(8).fill(7);
  spare.give(given);
  const taken = zeros(5, spare);
  assert.deepEqual([taken, taken.buffer === given.buffer], [new Uint8Array(5), true]);
  assert.deepEqual([zeros(5, spare), zeros(3, undefined)], [new Uint8Array(5), new Uint8Array(3)]);
});

Deno.test("SpareMemory keeps nothing once it is closed", () => {
  const spare = new SpareMemory();
  spare.give(new Uint8Array(5));
  spare.close();
  spare.give(new Uint8Array(5));
  assert.equal(spare.take(), undefined);
});

Deno.test("PieceMemory has no memory for bodies if bodies is false, and keeps nothing once it is closed", () => {
  const memory = new PieceMemory({ bodies: false });
  assert.equal(memory.bodies, undefined);
  memory.close();
  for (const spare of [memory.offsets, memory.ids, memory.outcomes]) {
    spare.give(new Uint8Array(5));
    assert.equal(spare.take(), undefined);
  }
});
