import assert from "node:assert/strict";
import fc from "fast-check";
import {
  put17,
  put4,
  put8,
  putInt32,
  putInt64,
  putLast,
  putUint64,
  putUpTo8,
  putWhole,
} from "../../../src/json/write/digits.ts";
import { written } from "../../_support/scratch_output.ts";

/** Numbers around which the number of digits or words changes. */
const edges = [
  ...Array.from({ length: 20 }, (_, n) => 10n ** BigInt(n)),
  ...Array.from({ length: 64 }, (_, n) => 1n << BigInt(n)),
].flatMap((n) => [n - 1n, n, n + 1n]);

const anyMagnitude = fc.oneof(fc.constantFrom(...edges), fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }));

function words(n: bigint): [low: number, high: number] {
  return [Number(BigInt.asIntN(32, n)), Number(BigInt.asIntN(32, n >> 32n))];
}

Deno.test("putInt64() writes any 64-bit number as BigInt does", () => {
  fc.assert(
    fc.property(anyMagnitude, fc.boolean(), (magnitude, negative) => {
      const n = BigInt.asIntN(64, negative ? -magnitude : magnitude);
      assert.equal(written((p) => putInt64(p, ...words(n))), String(n));
    }),
    { numRuns: 5000 },
  );
});

Deno.test("putUint64() writes any unsigned 64-bit number as BigInt does", () => {
  fc.assert(
    fc.property(anyMagnitude, (magnitude) => {
      const n = BigInt.asUintN(64, magnitude);
      assert.equal(written((p) => putUint64(p, ...words(n))), String(n));
    }),
    { numRuns: 5000 },
  );
});

Deno.test("putWhole() and putInt32() write numbers as String() does", () => {
  for (const edge of edges) {
    if (edge < 1n << 53n) assert.equal(written((p) => putWhole(p, Number(edge))), String(edge));
    const small = Number(BigInt.asIntN(32, edge));
    assert.equal(written((p) => putInt32(p, small)), String(small));
  }
  fc.assert(fc.property(fc.maxSafeNat(), (n) => assert.equal(written((p) => putWhole(p, n)), String(n))));
});

Deno.test("the functions that write a fixed number of digits keep leading zeros", () => {
  fc.assert(fc.property(fc.nat(99_999_999), fc.integer({ min: 1, max: 8 }), (n, count) => {
    const last = n % 10 ** count;
    assert.equal(written((p) => putLast(p, last, count)), String(last).padStart(count, "0"));
    assert.equal(written((p) => put8(p, n)), String(n).padStart(8, "0"));
    assert.equal(written((p) => putUpTo8(p, n)), String(n));
    assert.equal(written((p) => put4(p, n % 10_000)), String(n % 10_000).padStart(4, "0"));
    assert.equal(written((p) => put17(p, 100_000_000 + n, n)), String(100_000_000 + n) + String(n).padStart(8, "0"));
  }));
});
