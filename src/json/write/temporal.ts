/**
 * Times, timestamps, durations and intervals. No value passes through Date: microseconds after the year 2255 and all
 * nanoseconds exceed the precision of a double, so seconds and fractions are separated in integers.
 *
 * @module
 */

import { Fault } from "../../arrow/fault.ts";
import type { TimeUnit } from "../../arrow/field_type.ts";
import { isBC, putBC, putClock, putDate, putFraction } from "./date.ts";
import { putInt32, putInt64, putWhole } from "./digits.ts";
import { putText } from "./ascii.ts";
import { scratch } from "../memory/scratch.ts";

const { bytes } = scratch;

const QUOTE = 34;
const MINUS = 45;
const HIGH = 4294967296;
const DAY = 86400;

/** How many of a unit a second has, and the number of digits of its fraction. */
const PER_SECOND = [1, 1e3, 1e6, 1e9] as const;
const DIGITS = [0, 3, 6, 9] as const;

/** The names of the units in messages. */
const UNITS = ["s", "ms", "us", "ns"] as const;

/** The remainder of the last {@linkcode split}: a second result without an object. */
let rest = 0;

/**
 * Divides a 64-bit number by a divisor below 2^30, rounding down, and leaves the remainder in `rest`. The quotient must
 * be below 2^53: it is estimated from a double that is off by at most 2^10; the remainder is then exact from the low
 * words.
 */
function split(low: number, high: number, divisor: number): number {
  let quotient = Math.floor((high * HIGH + (low >>> 0)) / divisor);
  rest = (low - Math.imul(quotient, divisor)) | 0;
  if (rest < 0) {
    rest += divisor;
    quotient--;
  } else if (rest >= divisor) {
    rest -= divisor;
    quotient++;
  }
  return quotient;
}

/** Writes infinity, quoted. */
export function putInfinity(position: number, negative: boolean): number {
  return putText(position, negative ? '"-infinity"' : '"infinity"');
}

/**
 * Writes a timestamp as a whole number of another unit; refuses one that has digits below it. An infinite one is quoted
 * as in {@linkcode putTimestamp}.
 */
export function putEpoch(position: number, low: number, high: number, unit: TimeUnit, target: TimeUnit): number {
  if (low === 0 && high === -2147483648) return putInfinity(position, true);
  if (low === -1 && high === 2147483647) return putInfinity(position, false);
  let p = putInt64(position, low, high);
  if (low === 0 && high === 0) return p;
  for (let digits = DIGITS[target] - DIGITS[unit]; digits > 0; digits--) bytes[p++] = 48;
  for (let digits = DIGITS[unit] - DIGITS[target]; digits > 0; digits--) {
    if (bytes[--p] === 48) continue;
    const value = (BigInt(high) << 32n) + BigInt(low >>> 0);
    throw new Fault(
      "encode.value",
      `a timestamp in ${UNITS[target]} must be a whole number: received ${value} ${UNITS[unit]}`,
    );
  }
  return p;
}

/** Writes a timestamp, quoted. */
export function putTimestamp(position: number, low: number, high: number, unit: TimeUnit, zoned: boolean): number {
  if (low === 0 && high === -2147483648) return putInfinity(position, true);
  if (low === -1 && high === 2147483647) return putInfinity(position, false);
  let day: number;
  let second: number;
  let fraction = 0;
  if (unit === 0) {
    day = split(low, high, DAY);
    second = rest;
  } else if (unit === 1) {
    day = split(low, high, DAY * 1000);
    second = (rest / 1000) | 0;
    fraction = rest - second * 1000;
  } else {
    const seconds = split(low, high, PER_SECOND[unit]);
    fraction = rest;
    day = Math.floor(seconds / DAY);
    second = seconds - day * DAY;
  }
  bytes[position] = QUOTE;
  let p = putDate(position + 1, day);
  bytes[p] = 84;
  p = putFraction(putClock(p + 1, second | 0), fraction, DIGITS[unit]);
  if (zoned) bytes[p++] = 90;
  if (isBC(day)) return putBC(p);
  bytes[p] = QUOTE;
  return p + 1;
}

/** Writes a Date32, quoted; its extremes are infinity. */
export function putDate32(position: number, day: number): number {
  if (day === 2147483647) return putInfinity(position, false);
  if (day === -2147483648) return putInfinity(position, true);
  return putDay(position, day);
}

/** Writes a Date64, quoted: the day that contains the instant. */
export function putDate64(position: number, low: number, high: number): number {
  return putDay(position, split(low, high, DAY * 1000));
}

function putDay(position: number, day: number): number {
  bytes[position] = QUOTE;
  const p = putDate(position + 1, day);
  if (isBC(day)) return putBC(p);
  bytes[p] = QUOTE;
  return p + 1;
}

/** Writes a time of day, quoted; refuses times outside of 0 to 24 hours. */
export function putTime(position: number, low: number, high: number, unit: TimeUnit): number {
  const seconds = split(low, high, PER_SECOND[unit]);
  if (seconds < 0 || seconds > DAY || (seconds === DAY && rest > 0)) {
    const value = (BigInt(high) << 32n) + BigInt(low >>> 0);
    throw new Fault(
      "encode.value",
      `a time must be from 0 to 24 hours: received ${value} ${UNITS[unit]}`,
    );
  }
  bytes[position] = QUOTE;
  const fraction = rest;
  const p = putFraction(putClock(position + 1, seconds | 0), fraction, DIGITS[unit]);
  bytes[p] = QUOTE;
  return p + 1;
}

/** Writes a duration as ISO 8601, in seconds. */
export function putDuration(position: number, low: number, high: number, unit: TimeUnit): number {
  bytes[position] = QUOTE;
  let p = position + 1;
  if (high < 0) bytes[p++] = MINUS;
  bytes[p] = 80;
  bytes[p + 1] = 84;
  p = putSeconds(p + 2, low, high, unit);
  bytes[p] = QUOTE;
  return p + 1;
}

/** Writes the magnitude of a number of a unit as seconds with `S`. */
function putSeconds(position: number, low: number, high: number, unit: TimeUnit): number {
  const negative = high < 0;
  const lower = negative ? -low | 0 : low;
  const upper = (negative ? (low === 0 ? -high | 0 : ~high) : high) >>> 0;
  const per = PER_SECOND[unit];
  const value = upper * HIGH + (lower >>> 0);
  let p: number;
  if (value < 9007199254740992) {
    const seconds = Math.floor(value / per);
    const fraction = value - seconds * per;
    p = fraction < 0
      ? putFraction(putWhole(position, seconds - 1), fraction + per, DIGITS[unit])
      : putFraction(putWhole(position, seconds), fraction, DIGITS[unit]);
  } else if (unit >= 2) {
    const seconds = split(lower, upper, per);
    p = putFraction(putWhole(position, seconds), rest, DIGITS[unit]);
  } else {
    p = putCoarse(position, lower, upper, per, DIGITS[unit]);
  }
  bytes[p] = 83;
  return p + 1;
}

/** Seconds beyond 2^53, which only units of seconds and milliseconds reach. */
function putCoarse(position: number, low: number, high: number, perSecond: number, digits: number): number {
  const value = (BigInt(high) << 32n) + BigInt(low >>> 0);
  const whole = value / BigInt(perSecond);
  return putFraction(putText(position, String(whole)), Number(value - whole * BigInt(perSecond)), digits);
}

/** Writes an interval of months as ISO 8601. */
export function putMonths(position: number, months: number): number {
  return putInterval(position, months, 0, 0, 0, 3);
}

/** Writes an interval of days and milliseconds as ISO 8601. */
export function putDayTime(position: number, days: number, milliseconds: number): number {
  return putInterval(position, 0, days, milliseconds, milliseconds >> 31, 1);
}

/** Writes an interval of months, days and a 64-bit number of a unit as ISO 8601, without parts that are zero. */
export function putInterval(
  position: number,
  months: number,
  days: number,
  low: number,
  high: number,
  unit: TimeUnit,
): number {
  bytes[position] = QUOTE;
  bytes[position + 1] = 80;
  let p = position + 2;
  if (months !== 0) {
    p = putInt32(p, months);
    bytes[p++] = 77;
  }
  if (days !== 0) {
    p = putInt32(p, days);
    bytes[p++] = 68;
  }
  if (low !== 0 || high !== 0) {
    bytes[p++] = 84;
    if (high < 0) bytes[p++] = MINUS;
    p = putSeconds(p, low, high, unit);
  } else if (p === position + 2) {
    p = putText(p, "T0S");
  }
  bytes[p] = QUOTE;
  return p + 1;
}
