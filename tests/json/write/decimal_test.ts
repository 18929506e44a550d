import assert from "node:assert/strict";
import fc from "fast-check";
import { putDecimal, putShort } from "../../../src/json/write/decimal.ts";
import { readVectors } from "../../_support/testdata.ts";
import { written } from "../../_support/scratch_output.ts";

/** The JSON of a decimal, from its digits as a string. */
function decimalText(unscaled: bigint, scale: number): string {
  const sign = unscaled < 0n ? "-" : "";
  const digits = String(unscaled < 0n ? -unscaled : unscaled);
  if (scale <= 0) return unscaled === 0n ? "0" : sign + digits + "0".repeat(-scale);
  const padded = digits.padStart(scale + 1, "0");
  return `${sign}${padded.slice(0, -scale)}.${padded.slice(-scale)}`;
}

function words(n: bigint, bits: number): Int32Array {
  return Int32Array.from({ length: bits / 32 }, (_, word) => Number(BigInt.asIntN(32, n >> BigInt(32 * word))));
}

function text(unscaled: bigint, bits: number, scale: number): string {
  // Surrounded by other decimals, which must not be read.
  const padded = new Int32Array(bits / 32 + 4).fill(-1);
  padded.set(words(unscaled, bits), 2);
  return written((p) => putDecimal(p, padded, 2, bits / 32, scale));
}

Deno.test("putDecimal() writes any decimal of any width and scale", () => {
  const width = fc.constantFrom(32, 64, 128, 256);
  const scale = fc.oneof(fc.integer({ min: -5, max: 90 }), fc.integer({ min: 0, max: 16 }));
  const digits = fc.bigInt({ min: 0n, max: (1n << 256n) - 1n });
  fc.assert(
    fc.property(width, scale, digits, fc.nat(256), fc.boolean(), (bits, at, magnitude, shift, negative) => {
      const kept = magnitude >> BigInt(shift);
      const unscaled = BigInt.asIntN(bits, negative ? -kept : kept);
      assert.equal(text(unscaled, bits, at), decimalText(unscaled, at));
    }),
    { numRuns: 10_000 },
  );
});

Deno.test("putDecimal() writes the extremes of each width, around 2^53, and powers of ten", () => {
  for (const bits of [32, 64, 128, 256]) {
    const top = 1n << BigInt(bits - 1);
    const edges = [0n, 1n, top - 1n, -top, 1n - top, (1n << 53n) - 1n, 1n << 53n, (1n << 53n) + 1n, -(1n << 53n)];
    const powers = Array.from({ length: 77 }, (_, n) => 10n ** BigInt(n)).flatMap((n) => [n, -n, n - 1n]);
    for (const n of [...edges, ...powers]) {
      if (n >= top || n < -top) continue;
      for (const scale of [0, 1, 8, 9, 15, 16, 38, -2]) assert.equal(text(n, bits, scale), decimalText(n, scale));
    }
  }
});

Deno.test("putShort() agrees with putDecimal() on decimals that fit 2^53", () => {
  fc.assert(
    fc.property(fc.maxSafeInteger(), fc.integer({ min: 0, max: 15 }), (n, scale) => {
      assert.equal(written((p) => putShort(p, n, scale)), decimalText(BigInt(n), scale));
    }),
    { numRuns: 5000 },
  );
});

Deno.test("putDecimal() writes the vectors' decimals", () => {
  const { decimals } = readVectors<{ decimals: { unscaled: string; scale: number; text: string }[] }>("values");
  for (const { unscaled, scale, text: expected } of decimals) {
    assert.equal(text(BigInt(unscaled), 128, scale), expected);
  }
});

Deno.test("putDecimal() writes more zeros than the scratch has room for", () => {
  assert.equal(text(-7n, 32, -300_000), `-7${"0".repeat(300_000)}`);
  assert.equal(text(7n, 32, 300_000), `0.${"7".padStart(300_000, "0")}`);
});
