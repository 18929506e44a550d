/**
 * Doubles as the shortest decimal that reads back to the same value.
 *
 * The fast path scales the value to 17 digits, so that half of the float's last place is `half` units of the last digit,
 * and looks for the largest power of ten with a multiple that close. Values near a tie or near the interval's end are
 * left to String(), which is always right and takes three times as long.
 *
 * @module
 */

import { POWERS_OF_TEN, putNonFinite, putText, trimZeros } from "./ascii.ts";
import { put17, putInt32, putLast, putUpTo8, putWhole } from "./digits.ts";
import { scratch } from "../memory/scratch.ts";

const { bytes, view } = scratch;

/** 10^0 to 10^22: the powers that are exact as doubles. */
const EXACT = Float64Array.from({ length: 23 }, (_, n) => Number(`1e${n}`));
/** Their upper 27 bits and the rest, for products without rounding (Dekker 1971). */
const EXACT_HIGH = EXACT.map((x) => splitHigh(x));
const EXACT_LOW = EXACT.map((x, n) => x - EXACT_HIGH[n]!);
const POWER = POWERS_OF_TEN;
/** Half of the last place of a double, by its exponent field. */
const HALF_PLACE = Float64Array.from({ length: 2047 }, (_, field) => field < 2 ? 0 : 2 ** (field - 1023 - 53));

function splitHigh(x: number): number {
  const scaled = 134217729 * x;
  return scaled - (scaled - x);
}

/** Writes a double. */
export function putFloat64(position: number, x: number): number {
  const whole = x | 0;
  if (whole === x && (whole !== 0 || 1 / x > 0)) return putInt32(position, whole);
  let p = position;
  let size = x;
  if (x < 0) {
    bytes[p++] = 45;
    size = -x;
  }
  const scaled = size * 100;
  const cents = Math.floor(scaled + 0.5);
  // A decimal of fewer than 16 digits is the only one so short that reads back to this double, hence the shortest. The
  // first comparison saves the division.
  if (Math.abs(cents - scaled) < 1e-15 * scaled && cents / 100 === size && cents < 1e15) return putCents(p, cents);
  if (size >= 1e-6 && size < 1e17) {
    const end = putShortest(p, size);
    if (end > 0) return end;
  }
  return Number.isFinite(x) ? putText(p, Object.is(x, -0) ? "-0" : String(size)) : putNonFinite(position, x);
}

/** Writes hundredths, without trailing zeros. */
function putCents(position: number, cents: number): number {
  let p: number;
  let rest: number;
  if (cents < 2147483648) {
    const small = cents | 0;
    const units = (small / 100) | 0;
    rest = small - units * 100;
    p = putUpTo8(position, units);
  } else {
    const units = Math.floor(cents / 100);
    rest = (cents - units * 100) | 0;
    p = putWhole(position, units);
  }
  if (rest === 0) return p;
  bytes[p] = 46;
  if (rest % 10 !== 0) return putLast(p + 1, rest, 2);
  bytes[p + 1] = 48 + rest / 10;
  return p + 2;
}

/** One float and its bits. */
const double = new Float64Array(1);
const doubleBits = new Int32Array(double.buffer);

/** Writes a double of 10^-6 to 10^17 by 17 digits in two halves; returns 0 if exact arithmetic is needed. */
function putShortest(position: number, x: number): number {
  double[0] = x;
  const upper = doubleBits[1]!;
  const field = upper >> 20;
  if ((upper & 0xfffff) === 0 && doubleBits[0] === 0) return 0;
  // log10 from the exponent; at most one too small.
  let tens = Math.floor((field - 1023) * 0.30102999566398114);
  if (x >= POWER[tens + 61]!) tens++;
  const k = 16 - tens;
  if (k < 0 || k > 22) return 0;
  // x * 10^k = product + error, exactly.
  const power = EXACT[k]!;
  const product = x * power;
  const scaled = 134217729 * x;
  const xHigh = scaled - (scaled - x);
  const xLow = x - xHigh;
  const error = xLow * EXACT_LOW[k]! -
    (((product - xHigh * EXACT_HIGH[k]!) - xLow * EXACT_HIGH[k]!) - xHigh * EXACT_LOW[k]!);
  const carry = Math.floor(error);
  const part = error - carry;
  let high = Math.floor(product * 1e-8);
  let low = product - high * 1e8 + carry;
  if (low < 0) {
    low += 1e8;
    high--;
  } else if (low >= 1e8) {
    low -= 1e8;
    high++;
  }
  return putNearest(position, high | 0, low | 0, part, HALF_PLACE[field]! * power, tens);
}

/** The tolerance: values closer than this to a tie or to the interval's end are left to String(). */
const DOUBT = 1e-6;

/** Rounds high * 10^8 + low + part to the shortest within `half`, and writes it. */
function putNearest(position: number, high: number, low: number, part: number, half: number, tens: number): number {
  const tail2 = low % 100;
  const tail1 = low % 10;
  const last2 = tail2 + part;
  const last1 = tail1 + part;
  let rounded = low;
  const away2 = last2 < 50 ? last2 : 100 - last2;
  if (Math.abs(away2 - half) < DOUBT) return 0;
  if (away2 < half) {
    rounded = low - tail2 + (last2 < 50 ? 0 : 100);
  } else {
    const away1 = last1 < 5 ? last1 : 10 - last1;
    if (Math.abs(away1 - half) < DOUBT) return 0;
    if (away1 < half) {
      if (Math.abs(last1 - 5) < DOUBT) return 0;
      rounded = low - tail1 + (last1 < 5 ? 0 : 10);
    } else {
      if (Math.abs(part - 0.5) < DOUBT) return 0;
      rounded = part < 0.5 ? low : low + 1;
    }
  }
  return rounded < 1e8
    ? putPlaced(position, high, rounded, tens)
    : high + 1 < 1e9
    ? putPlaced(position, high + 1, rounded - 1e8, tens)
    : 0;
}

/** Writes 17 digits, nine and eight, the first of which stands for 10^tens, without trailing zeros. */
function putPlaced(position: number, high: number, low: number, tens: number): number {
  if (tens < 0) {
    view.setUint32(position, 0x30302e30, true);
    view.setUint32(position + 4, 0x30303030, true);
    const p = position + 1 - tens;
    return trimZeros(put17(p, high, low));
  }
  const end = put17(position + 1, high, low);
  const point = position + tens + 1;
  for (let at = position; at < point; at++) bytes[at] = bytes[at + 1]!;
  bytes[point] = 46;
  const p = trimZeros(end);
  return p <= point + 1 ? point : p;
}
