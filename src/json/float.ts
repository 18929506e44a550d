/**
 * Floats as the shortest decimal that reads back to the same value.
 *
 * Both fast ways scale the value to a fixed number of digits, so that half of the float's last place is `half` units of
 * the last digit, and look for the largest power of ten of which a multiple is that close. Whatever is near a tie or near
 * the interval's end, where the arithmetic here could be wrong, goes to the exact way.
 *
 * @module
 */

import { put17, putInt32, putLast, putUpTo8, putWhole } from "./digits.ts";
import { floatText, HALF, SINGLE } from "./float_text.ts";
import { scratch } from "./scratch.ts";

const { bytes, view } = scratch;

/** 10^0 to 10^22: the powers that are exact as doubles. */
const EXACT = Float64Array.from({ length: 23 }, (_, n) => Number(`1e${n}`));
/** Their upper 27 bits and the rest, for products without rounding (Dekker 1971). */
const EXACT_HIGH = EXACT.map((x) => splitHigh(x));
const EXACT_LOW = EXACT.map((x, n) => x - EXACT_HIGH[n]!);
/** 10^-60 to 10^60, rounded. */
const POWER = Float64Array.from({ length: 121 }, (_, n) => Number(`1e${n - 60}`));
/** Half of the last place of a double, by its exponent field. */
const HALF_PLACE = Float64Array.from({ length: 2047 }, (_, field) => field < 2 ? 0 : 2 ** (field - 1023 - 53));

/** The same of a single-precision float. */
const HALF_PLACE_SINGLE = Float64Array.from({ length: 255 }, (_, field) => 2 ** (field - 127 - 24));

function splitHigh(x: number): number {
  const scaled = 134217729 * x;
  return scaled - (scaled - x);
}

/** Writes ASCII text. */
export function putText(position: number, text: string): number {
  for (let at = 0; at < text.length; at++) bytes[position + at] = text.charCodeAt(at);
  return position + text.length;
}

/** Writes `"NaN"`, `"Infinity"` or `"-Infinity"`, quoted. */
function putNonFinite(position: number, x: number): number {
  return putText(position, x !== x ? '"NaN"' : x > 0 ? '"Infinity"' : '"-Infinity"');
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
  // Fewer than 16 digits are the only decimal so short that reads back to this double, hence the shortest. The first
  // comparison spares the division.
  if (Math.abs(cents - scaled) < 1e-15 * scaled && cents / 100 === size && cents < 1e15) return putCents(p, cents);
  if (size >= 1e-6 && size < 1e17) {
    const end = putShortest(p, size);
    if (end > 0) return end;
  }
  return Number.isFinite(x) ? putText(p, Object.is(x, -0) ? "-0" : String(size)) : putNonFinite(position, x);
}

/** Writes hundredths, trailing zeros left out. */
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
const single = new Float32Array(1);
const singleBits = new Int32Array(single.buffer);

/** Writes a double of 10^-6 to 10^17 by 17 digits in two halves; 0 where the exact way has to. */
function putShortest(position: number, x: number): number {
  double[0] = x;
  const upper = doubleBits[1]!;
  const field = upper >> 20;
  if ((upper & 0xfffff) === 0 && doubleBits[0] === 0) return 0;
  // log10 from the exponent; one too small at most.
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

/** Doubt: closer than this to a tie or to the interval's end. */
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

/** Writes 17 digits, nine and eight, whose first stands for 10^tens; trailing zeros left out. */
function putPlaced(position: number, high: number, low: number, tens: number): number {
  if (tens < 0) {
    view.setUint32(position, 0x30302e30, true);
    view.setUint32(position + 4, 0x30303030, true);
    const p = position + 1 - tens;
    return trimmed(put17(p, high, low));
  }
  const end = put17(position + 1, high, low);
  const point = position + tens + 1;
  for (let at = position; at < point; at++) bytes[at] = bytes[at + 1]!;
  bytes[point] = 46;
  const p = trimmed(end);
  return p <= point + 1 ? point : p;
}

function trimmed(end: number): number {
  let p = end;
  while (bytes[p - 1] === 48) p--;
  return p;
}

/** Writes a single-precision float, given by its value. */
export function putFloat32(position: number, x: number): number {
  const whole = x | 0;
  // Up to 2^24 every whole number is its own nearest float; some beyond have shorter texts.
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

/** More than nine digits: the exact way has to. */
const UNSURE = 2e9;

/** What is to be added to the multiple of a unit below a value `rest` above it: 0 or the unit, -1 where neither is within `half`. */
function near(rest: number, unit: number, half: number): number {
  const up = rest * 2 > unit;
  const away = up ? unit - rest : rest;
  if (Math.abs(away - half) < 1e-4) return UNSURE;
  if (away > half) return -1;
  return Math.abs(rest * 2 - unit) < 1e-4 ? UNSURE : up ? unit : 0;
}

/** Writes a positive float by nine digits; 0 where the exact way has to. */
function putSingle(position: number, x: number, pattern: number): number {
  const field = pattern >> 23;
  if (field === 0 || (pattern & 0x7fffff) === 0) return 0;
  let tens = Math.floor((field - 127) * 0.30102999566398114);
  if (x >= POWER[tens + 61]!) tens++;
  // Nine digits take 30 bits of a double's 53: the product's rounding is far below the doubt.
  const product = x * POWER[68 - tens]!;
  const half = HALF_PLACE_SINGLE[field]! * POWER[68 - tens]!;
  let n = product | 0;
  const part = product - n;
  // From a thousand down: what is a multiple of more is one of a thousand, too.
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

/** Writes nine digits whose first stands for 10^tens, in ECMAScript's notation. */
function putDigits(position: number, n: number, tens: number): number {
  if (tens < -6 || tens > 20) return putExponent(position, n, tens);
  if (tens < 0) {
    view.setUint32(position, 0x30302e30, true);
    view.setUint32(position + 4, 0x30303030, true);
    return trimmed(putWhole(position + 1 - tens, n));
  }
  if (tens >= 8) {
    let p = putWhole(position, n);
    for (let zeros = tens - 8; zeros > 0; zeros--) bytes[p++] = 48;
    return p;
  }
  const whole = Math.floor(n / EXACT[8 - tens]!);
  const p = putUpTo8(position, whole);
  const rest = n - whole * EXACT[8 - tens]!;
  if (rest === 0) return p;
  bytes[p] = 46;
  return trimmed(putLast(p + 1, rest, 8 - tens));
}

function putExponent(position: number, n: number, tens: number): number {
  const end = trimmed(putWhole(position + 1, n));
  bytes[position] = bytes[position + 1]!;
  let p = end;
  if (end === position + 2) p = position + 1;
  else bytes[position + 1] = 46;
  bytes[p] = 101;
  bytes[p + 1] = tens < 0 ? 45 : 43;
  return putWhole(p + 2, Math.abs(tens));
}

/** Texts of the 65,536 half-precision floats, made when first met. */
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
