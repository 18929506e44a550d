/**
 * Single- and half-precision floats as the shortest decimal that reads back to the same value at that width.
 *
 * Nine digits are enough for a single, so doubles hold the scaled value with room to spare; values near a tie or near
 * the interval's end are left to exact arithmetic.
 *
 * @module
 */

import { POWERS_OF_TEN, putNonFinite, putText, trimZeros } from "./ascii.ts";
import { putInt32, putLast, putUpTo8, putWhole } from "./digits.ts";
import { floatText, HALF, SINGLE } from "./float_exact.ts";
import { scratch } from "../memory/scratch.ts";

const { bytes, view } = scratch;

/** Half of the last place of a single, by its exponent field. */
const HALF_PLACE_SINGLE = Float64Array.from({ length: 255 }, (_, field) => 2 ** (field - 127 - 24));

/** One single and its bits. */
const single = new Float32Array(1);
const singleBits = new Int32Array(single.buffer);

/** Writes a single-precision float, given by its value. */
export function putFloat32(position: number, x: number): number {
  const whole = x | 0;
  // Up to 2^24 every integer is its own nearest float; some beyond have shorter decimals.
  if (whole === x && whole < 16777216 && whole > -16777216 && (whole !== 0 || 1 / x > 0)) {
    return putInt32(position, whole);
  }
  single[0] = x;
  const signed = singleBits[0]!;
  const pattern = signed & 0x7fffffff;
  if (pattern >= 0x7f800000) return putNonFinite(position, x);
  let p = position;
  if (signed < 0) bytes[p++] = 45;
  if (pattern === 0) {
    bytes[p] = 48;
    return p + 1;
  }
  const end = putSingle(p, Math.abs(x), pattern);
  return end > 0 ? end : putText(p, floatText(BigInt(pattern & 0x7fffff), pattern >> 23, SINGLE));
}

/** More than nine digits are needed: left to exact arithmetic. */
const UNSURE = 2e9;

/**
 * Returns what to add to the multiple of a unit below a value that is `rest` above it: 0 or the unit, -1 if neither is
 * within `half`.
 */
function near(rest: number, unit: number, half: number): number {
  const up = rest * 2 > unit;
  const away = up ? unit - rest : rest;
  if (Math.abs(away - half) < 1e-4) return UNSURE;
  if (away > half) return -1;
  return Math.abs(rest * 2 - unit) < 1e-4 ? UNSURE : up ? unit : 0;
}

/** Writes a positive float by nine digits; returns 0 if exact arithmetic is needed. */
function putSingle(position: number, x: number, pattern: number): number {
  const field = pattern >> 23;
  if (field === 0 || (pattern & 0x7fffff) === 0) return 0;
  let tens = Math.floor((field - 127) * 0.30102999566398114);
  if (x >= POWERS_OF_TEN[tens + 61]!) tens++;
  // Nine digits take 30 bits of a double's 53: the product's rounding is far below the tolerance.
  const product = x * POWERS_OF_TEN[68 - tens]!;
  const half = HALF_PLACE_SINGLE[field]! * POWERS_OF_TEN[68 - tens]!;
  let n = product | 0;
  const part = product - n;
  // From a thousand down: a multiple of a larger power is also one of a thousand.
  const tail3 = n % 1000;
  const tail2 = tail3 % 100;
  const tail1 = tail2 % 10;
  const near3 = near(tail3 + part, 1000, half);
  const near2 = near3 < 0 ? near(tail2 + part, 100, half) : 0;
  const near1 = near3 < 0 && near2 < 0 ? near(tail1 + part, 10, half) : 0;
  if (near3 >= 0) n = near3 === UNSURE ? UNSURE : n - tail3 + near3;
  else if (near2 >= 0) n = near2 === UNSURE ? UNSURE : n - tail2 + near2;
  else if (near1 >= 0) n = near1 === UNSURE ? UNSURE : n - tail1 + near1;
  else if (Math.abs(part - 0.5) < 1e-4) n = UNSURE;
  else if (part > 0.5) n++;
  return n < 1e9 ? putDigits(position, n, tens) : 0;
}

/** Writes nine digits, the first of which stands for 10^tens, in ECMAScript's notation. */
function putDigits(position: number, n: number, tens: number): number {
  if (tens < -6 || tens > 20) return putExponent(position, n, tens);
  if (tens < 0) {
    view.setUint32(position, 0x30302e30, true);
    view.setUint32(position + 4, 0x30303030, true);
    return trimZeros(putWhole(position + 1 - tens, n));
  }
  if (tens >= 8) {
    let p = putWhole(position, n);
    for (let zeros = tens - 8; zeros > 0; zeros--) bytes[p++] = 48;
    return p;
  }
  const unit = POWERS_OF_TEN[68 - tens]!;
  const whole = Math.floor(n / unit);
  const p = putUpTo8(position, whole);
  const rest = n - whole * unit;
  if (rest === 0) return p;
  bytes[p] = 46;
  return trimZeros(putLast(p + 1, rest, 8 - tens));
}

function putExponent(position: number, n: number, tens: number): number {
  const end = trimZeros(putWhole(position + 1, n));
  bytes[position] = bytes[position + 1]!;
  let p = end;
  if (end === position + 2) p = position + 1;
  else bytes[position + 1] = 46;
  bytes[p] = 101;
  bytes[p + 1] = tens < 0 ? 45 : 43;
  return putWhole(p + 2, Math.abs(tens));
}

/** The decimal notations of the 65,536 half-precision floats, each made at its first use. */
const halves: (string | undefined)[] = [];

/** Writes a half-precision float, given by its bits. */
export function putFloat16(position: number, pattern: number): number {
  return putText(position, halves[pattern] ??= halfText(pattern));
}

function halfText(pattern: number): string {
  const magnitude = pattern & 0x7fff;
  const sign = pattern > 0x7fff ? "-" : "";
  if (magnitude > 0x7c00) return '"NaN"';
  if (magnitude === 0x7c00) return `"${sign}Infinity"`;
  return sign + (magnitude === 0 ? "0" : floatText(BigInt(magnitude & 0x3ff), magnitude >> 10, HALF));
}
