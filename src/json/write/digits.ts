/**
 * Writes whole numbers, four digits at a time from a table.
 *
 * @module
 */

import { scratch } from "../memory/scratch.ts";

const { bytes, view } = scratch;

/** `0000` to `9999`, the first digit in the lowest byte. */
const QUADS = new Uint32Array(10_000);
for (let n = 0; n < 10_000; n++) {
  const digit = (power: number): number => 48 + Math.floor(n / power) % 10;
  QUADS[n] = digit(1000) | digit(100) << 8 | digit(10) << 16 | digit(1) << 24;
}

const MINUS = 45;
const HIGH = 4294967296;

/** Writes four digits of a number below 10^4. */
export function put4(position: number, n: number): number {
  view.setUint32(position, QUADS[n]!, true);
  return position + 4;
}

/** Writes eight digits of a number below 10^8. */
export function put8(position: number, n: number): number {
  const high = (n / 10_000) | 0;
  view.setUint32(position, QUADS[high]!, true);
  view.setUint32(position + 4, QUADS[n - high * 10_000]!, true);
  return position + 8;
}

/** Writes a number below 10^4, without leading zeros. */
function putUpTo4(position: number, n: number): number {
  const left = n < 10 ? 3 : n < 100 ? 2 : n < 1000 ? 1 : 0;
  view.setUint32(position, QUADS[n]! >>> (left << 3), true);
  return position + 4 - left;
}

/** Writes a number below 10^8, without leading zeros. */
export function putUpTo8(position: number, n: number): number {
  if (n < 10_000) return putUpTo4(position, n);
  const high = (n / 10_000) | 0;
  return put4(putUpTo4(position, high), n - high * 10_000);
}

/** Writes the last `count` digits, 1 to 8, of a number below 10^count. */
export function putLast(position: number, n: number, count: number): number {
  if (count <= 4) {
    view.setUint32(position, QUADS[n]! >>> ((4 - count) << 3), true);
  } else {
    const high = (n / 10_000) | 0;
    view.setUint32(position, QUADS[high]! >>> ((8 - count) << 3), true);
    view.setUint32(position + count - 4, QUADS[n - high * 10_000]!, true);
  }
  return position + count;
}

/** Writes 17 digits: nine and eight. */
export function put17(position: number, high: number, low: number): number {
  const first = (high / 100_000_000) | 0;
  bytes[position] = 48 + first;
  return put8(put8(position + 1, high - first * 100_000_000), low);
}

/** Writes a number from 0 to 2^53. */
export function putWhole(position: number, n: number): number {
  if (n < 1e8) return putUpTo8(position, n | 0);
  const high = Math.floor(n / 1e8);
  const low = n - high * 1e8;
  if (high < 1e8) return put8(putUpTo8(position, high | 0), low | 0);
  const top = Math.floor(high / 1e8);
  return put8(put8(putUpTo8(position, top | 0), (high - top * 1e8) | 0), low | 0);
}

/** Writes a 32-bit signed number. */
export function putInt32(position: number, n: number): number {
  if (n >= 0) return n < 1e8 ? putUpTo8(position, n) : putWhole(position, n);
  bytes[position] = MINUS;
  return putWhole(position + 1, -n);
}

/** Writes a 64-bit signed number of two words. */
export function putInt64(position: number, low: number, high: number): number {
  if (high === low >> 31) return putInt32(position, low);
  if (high >= 0) return putUint64(position, low, high);
  bytes[position] = MINUS;
  return putUint64(position + 1, -low | 0, low === 0 ? -high | 0 : ~high);
}

/** Writes a 64-bit unsigned number of two words. */
export function putUint64(position: number, low: number, high: number): number {
  const n = (high >>> 0) * HIGH + (low >>> 0);
  if (n < 9007199254740992) return putWhole(position, n);
  // n is off by at most 2^10, so the quotient by at most one; the remainder is exact from the low words alone.
  let quotient = Math.floor(n / 1e8);
  let rest = (low - Math.imul(quotient, 100_000_000)) | 0;
  if (rest < 0) {
    rest += 100_000_000;
    quotient--;
  } else if (rest >= 100_000_000) {
    rest -= 100_000_000;
    quotient++;
  }
  return put8(putWhole(position, quotient), rest);
}
