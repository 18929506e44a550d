import assert from "node:assert/strict";
import fc from "fast-check";
import { putFloat64 } from "../../../src/json/write/float64.ts";
import { putFloat16, putFloat32 } from "../../../src/json/write/float32.ts";
import { DOUBLE, type FloatFormat, floatText, HALF, SINGLE } from "../../../src/json/write/float_exact.ts";
import { written } from "../../_support/scratch_output.ts";

/** A double as ECMAScript writes it, and NaN and infinities as the table of types says. */
function doubleText(x: number): string {
  if (Object.is(x, -0)) return "-0";
  return Number.isFinite(x) ? String(x) : `"${x}"`;
}

function assertDouble(x: number): void {
  assert.equal(written((p) => putFloat64(p, x)), doubleText(x));
}

const bits = new DataView(new ArrayBuffer(8));

function doubleOf(pattern: bigint): number {
  bits.setBigUint64(0, pattern);
  return bits.getFloat64(0);
}

/** The JSON of a single, by exact arithmetic. */
function singleText(x: number): string {
  if (!Number.isFinite(x)) return `"${x}"`;
  bits.setFloat32(0, x);
  const pattern = bits.getUint32(0);
  const sign = pattern >>> 31 === 1 ? "-" : "";
  const magnitude = pattern & 0x7fffffff;
  return sign + (magnitude === 0 ? "0" : floatText(BigInt(magnitude & 0x7fffff), magnitude >> 23, SINGLE));
}

function singleOf(pattern: number): number {
  bits.setUint32(0, pattern);
  return bits.getFloat32(0);
}

Deno.test("putFloat64() writes doubles of any bit pattern as String() does", () => {
  fc.assert(fc.property(fc.bigInt({ min: 0n, max: (1n << 64n) - 1n }), (pattern) => assertDouble(doubleOf(pattern))), {
    numRuns: 20_000,
  });
});

Deno.test("putFloat64() writes doubles in the range of its fast paths as String() does", () => {
  const exponent = fc.integer({ min: 1000, max: 1085 });
  const fraction = fc.bigInt({ min: 0n, max: (1n << 52n) - 1n });
  fc.assert(
    fc.property(exponent, fraction, (e, f) => {
      const x = doubleOf((BigInt(e) << 52n) | f);
      assertDouble(x);
      assertDouble(-x);
    }),
    { numRuns: 20_000 },
  );
});

Deno.test("putFloat64() writes decimals of few digits, and their neighbours, as String() does", () => {
  const near = fc.integer({ min: -2, max: 2 });
  const digits = fc.bigInt({ min: 1n, max: 10n ** 17n });
  fc.assert(
    fc.property(digits, fc.integer({ min: -25, max: 6 }), fc.nat(17), near, (n, exponent, drop, steps) => {
      const x = Number(`${n / 10n ** BigInt(drop)}e${exponent}`);
      if (x === 0) return;
      bits.setFloat64(0, x);
      assertDouble(doubleOf(bits.getBigUint64(0) + BigInt(steps)));
    }),
    { numRuns: 20_000 },
  );
});

Deno.test("putFloat64() writes whole numbers, halves, powers, NaN and infinities", () => {
  for (let n = -1074; n < 1024; n++) for (const m of [1, 3, 5, -7]) assertDouble(m * 2 ** n);
  for (let n = -323; n < 309; n++) for (const m of [1, 9.999999999999999]) assertDouble(Number(`${m}e${n}`));
  for (
    const x of [0, -0, NaN, Infinity, -Infinity, 5e-324, 2 ** 31, -(2 ** 31), 2 ** 53, 1e21, 123456789012345680000]
  ) {
    assertDouble(x);
  }
  for (let cents = -1000; cents < 1000; cents++) assertDouble(cents / 100);
});

Deno.test("putFloat32() writes singles of any bit pattern as exact arithmetic does", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 0xffffffff }), (pattern) => {
      const x = singleOf(pattern);
      assert.equal(written((p) => putFloat32(p, x)), singleText(x));
    }),
    { numRuns: 10_000 },
  );
});

Deno.test("putFloat32() writes dyadic fractions, decimals and powers as exact arithmetic does", () => {
  const check = (x: number): void => assert.equal(written((p) => putFloat32(p, x)), singleText(x), String(x));
  for (let n = -149; n < 128; n++) for (const m of [1, 3, 5, -7, 1001]) check(Math.fround(m * 2 ** n));
  for (let n = -45; n < 39; n++) for (const m of [1, 1.5, 9.999999]) check(Math.fround(Number(`${m}e${n}`)));
  for (const x of [0, -0, NaN, Infinity, -Infinity, 16777216, 16777215, 33554432, 0.1, 2 ** -12]) check(x);
  fc.assert(
    fc.property(fc.nat(10_000_000), fc.integer({ min: -10, max: 10 }), (n, e) => check(Math.fround(n * 10 ** e))),
    {
      numRuns: 5000,
    },
  );
});

Deno.test("putFloat32() reads back to the same float", () => {
  fc.assert(fc.property(fc.float({ noNaN: true, noDefaultInfinity: true }), (x) => {
    assert.ok(Object.is(Math.fround(Number(written((p) => putFloat32(p, x)))), x));
  }));
});

Deno.test("putFloat16() writes ties to the even digit, extremes, NaN and infinities", () => {
  const text = (pattern: number): string => written((p) => putFloat16(p, pattern));
  assert.deepEqual(
    [0, 0x8000, 0x3c00, 0xbc00, 0x7bff, 0x0001, 0x3555, 0x7c00, 0xfc00, 0x7c01, 0xfe00].map(text),
    ["0", "-0", "1", "-1", "65500", "6e-8", "0.3333", '"Infinity"', '"-Infinity"', '"NaN"', '"NaN"'],
  );
});

/** The value of a float from its fields; exact as a double for formats of up to 32 bits. */
function valueOf(fraction: number, exponent: number, { fraction: width, least }: FloatFormat): number {
  return (exponent === 0 ? fraction : fraction + 2 ** width) * 2 ** (least + Math.max(exponent, 1) - 1);
}

Deno.test("floatText() of every half is its shortest decimal that reads back to it", () => {
  for (let pattern = 1; pattern < 0x7c00; pattern++) {
    const at = (p: number): number => valueOf(p & 0x3ff, p >> 10, HALF);
    const text = floatText(BigInt(pattern & 0x3ff), pattern >> 10, HALF);
    const low = (at(pattern - 1) + at(pattern)) / 2;
    const high = (at(pattern) + at(pattern + 1)) / 2;
    const inside = (x: number): boolean => pattern % 2 === 0 ? x >= low && x <= high : x > low && x < high;
    assert.ok(inside(Number(text)), text);
    const digits = text.replace(/e.*|^0\.0*|\./g, "").replace(/0+$/, "").length;
    if (digits === 1) continue;
    const step = 10 ** (Math.floor(Math.log10(at(pattern))) - digits + 2);
    const below = Math.floor(at(pattern) / step) * step;
    // With one digit less, neither neighbour is inside, apart from the rounding of doubles.
    assert.ok(!inside(below * (1 + 1e-12)) || !inside(below * (1 - 1e-12)), text);
    assert.ok(!inside((below + step) * (1 + 1e-12)) || !inside((below + step) * (1 - 1e-12)), text);
  }
});

Deno.test("floatText() of doubles agrees with String()", () => {
  fc.assert(
    fc.property(fc.bigInt({ min: 1n, max: 0x7fefffffffffffffn }), (pattern) => {
      const text = floatText(pattern & 0xfffffffffffffn, Number(pattern >> 52n), DOUBLE);
      assert.equal(text, String(doubleOf(pattern)));
    }),
    { numRuns: 2000 },
  );
});
