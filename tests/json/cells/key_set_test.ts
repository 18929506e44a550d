import assert from "node:assert/strict";
import fc from "fast-check";
import { keySet } from "../../../src/json/cells/key_set.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

Deno.test("keySet() finds a repeated key as a Set of the decoded keys does, map after map", () => {
  const key = fc.oneof(
    fc.uint8Array({ maxLength: 3 }),
    fc.constantFrom([0xff], [0xfe], [0xef, 0xbf, 0xbd], [], [0x61]).map((all) => Uint8Array.from(all)),
  );
  for (const keys of [keySet(), keySet(() => 7)]) {
    fc.assert(
      fc.property(fc.array(key, { maxLength: 60 }), (all) => {
        keys.clear();
        const seen = new Set<string>();
        for (const bytes of all) {
          const text = decoder.decode(bytes);
          const padded = new Uint8Array([0, ...bytes, 0]);
          assert.equal(keys.add(padded, 1, 1 + bytes.length), !seen.has(text));
          seen.add(text);
        }
      }),
      { numRuns: 1000 },
    );
  }
});

Deno.test("keySet() compares few keys, even if all have the same hash", () => {
  const count = 2000;
  const bytes = new TextEncoder().encode(Array.from({ length: count }, (_, key) => `${key}`.padStart(4, "0")).join(""));
  let comparisons = 0;
  const source = new Proxy(bytes, {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) comparisons++;
      const value = Reflect.get(target, key, target);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
  const keys = keySet(() => 7);
  for (let key = 0; key < count; key++) {
    assert.ok(keys.add(source, 4 * key, 4 * key + 4));
    assert.ok(!keys.add(source, 4 * key, 4 * key + 4));
  }
  assert.ok(comparisons < 100 * count, `${comparisons} reads for ${count} keys`);
});

Deno.test("keySet() finds a repeated key among 300,000 keys, and none after clear()", () => {
  const bytes = new Uint8Array(4 * 300_000);
  const view = new DataView(bytes.buffer);
  for (let n = 0; n < 300_000; n++) view.setUint32(4 * n, (n % 128) | (n >> 7 & 127) << 8 | (n >> 14 & 127) << 16);
  const keys = keySet();
  for (let n = 0; n < 300_000; n++) assert.ok(keys.add(bytes, 4 * n, 4 * n + 4));
  assert.ok(!keys.add(bytes, 4 * 77, 4 * 77 + 4));
  keys.clear();
  assert.ok(keys.add(bytes, 4 * 77, 4 * 77 + 4));
});
