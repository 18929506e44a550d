/**
 * Writes decimals: a whole number of 32 to 256 bits and the position of its point.
 *
 * @module
 */

import { put8, putLast, putUpTo8, putWhole } from "./digits.ts";
import { flush, FULL, ROOM, scratch, SPARE } from "../memory/scratch.ts";

const { bytes } = scratch;

const HIGH = 4294967296;
const TENS = Float64Array.from({ length: 16 }, (_, n) => 10 ** n);

/** The largest scale that {@linkcode putShort} takes. */
export const LONGEST_SHORT = 15;

/** Writes the decimal of `count` 32-bit words at `at`, with exactly `scale` digits after the point. */
export function putDecimal(position: number, words: Int32Array, at: number, count: number, scale: number): number {
  const low = words[at]!;
  const high = count === 1 ? low >> 31 : words[at + 1]!;
  if (scale >= 0 && scale <= LONGEST_SHORT && high < 0x200000 && high >= -0x200000 && isShort(words, at, count, high)) {
    return putShort(position, high * HIGH + (low >>> 0), scale);
  }
  return putLong(position, words, at, count, scale);
}

/** Whether all words from the third on only repeat the sign of the second. */
function isShort(words: Int32Array, at: number, count: number, high: number): boolean {
  const sign = high >> 31;
  for (let word = 2; word < count; word++) if (words[at + word] !== sign) return false;
  return true;
}

/** Writes a decimal whose digits make a whole number below 2^53. */
export function putShort(position: number, value: number, scale: number): number {
  let p = position;
  let size = value;
  if (value < 0) {
    bytes[p++] = 45;
    size = -value;
  }
  if (scale === 0) return putWhole(p, size);
  const unit = TENS[scale]!;
  let whole = Math.floor(size / unit);
  let rest = size - whole * unit;
  if (rest < 0) {
    rest += unit;
    whole--;
  }
  p = putWhole(p, whole);
  bytes[p] = 46;
  if (scale <= 8) return putLast(p + 1, rest | 0, scale);
  const upper = Math.floor(rest / 1e8);
  return put8(putLast(p + 1, upper | 0, scale - 8), (rest - upper * 1e8) | 0);
}

/** Room for the digits of 256 bits, in groups of eight. */
const groups = new Int32Array(10);
const limbs = new Uint16Array(16);

function putLong(position: number, words: Int32Array, at: number, count: number, scale: number): number {
  const negative = words[at + count - 1]! < 0;
  const length = toDigits(words, at, count, negative);
  if (length === 0 && scale <= 0) {
    bytes[position] = 48;
    return position + 1;
  }
  let p = position;
  if (negative) bytes[p++] = 45;
  if (scale <= 0) return putZeros(copyDigits(p, 0, length), -scale);
  if (length > scale) {
    p = copyDigits(p, 0, length - scale);
    bytes[p] = 46;
    return copyDigits(p + 1, length - scale, length);
  }
  bytes[p] = 48;
  bytes[p + 1] = 46;
  p = putZeros(p + 2, scale - length);
  return copyDigits(p, 0, length);
}

function copyDigits(position: number, from: number, to: number): number {
  let p = position;
  for (let at = from; at < to; at++) bytes[p++] = bytes[SPARE + at]!;
  return p;
}

function putZeros(position: number, count: number): number {
  let p = position;
  for (let left = count; left > 0;) {
    if (p > FULL) p = flush(p);
    const some = Math.min(left, ROOM >> 1);
    bytes.fill(48, p, p + some);
    p += some;
    left -= some;
  }
  return p;
}

/** Writes the digits of the magnitude, at most 78, to the end of the scratch. Returns their number, 0 for zero. */
function toDigits(words: Int32Array, at: number, count: number, negative: boolean): number {
  let carry = negative ? 1 : 0;
  for (let word = 0; word < count; word++) {
    const sum = ((negative ? ~words[at + word]! : words[at + word]!) >>> 0) + carry;
    carry = sum >= HIGH ? 1 : 0;
    limbs[2 * word] = sum & 0xffff;
    limbs[2 * word + 1] = (sum >>> 16) & 0xffff;
  }
  let top = count * 2;
  let used = 0;
  while (top > 0) {
    if (limbs[top - 1] === 0) {
      top--;
      continue;
    }
    groups[used++] = divide(top);
  }
  return used === 0 ? 0 : groupsToDigits(used);
}

/** Divides the limbs by 10^8 in place and returns the remainder. Every step is exact: below 10^8 * 2^16. */
function divide(top: number): number {
  let rest = 0;
  for (let limb = top - 1; limb >= 0; limb--) {
    const part = rest * 65536 + limbs[limb]!;
    const quotient = Math.floor(part / 1e8);
    limbs[limb] = quotient;
    rest = part - quotient * 1e8;
  }
  return rest;
}

function groupsToDigits(used: number): number {
  let p = putUpTo8(SPARE, groups[used - 1]!);
  for (let group = used - 2; group >= 0; group--) p = put8(p, groups[group]!);
  return p - SPARE;
}
