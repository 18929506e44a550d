/**
 * Dates and times of day. Dates are proleptic Gregorian; years before 1 count backwards from 1 BC, as PostgreSQL prints
 * them.
 *
 * @module
 */

import { putLast, putWhole } from "./digits.ts";
import { scratch } from "../memory/scratch.ts";

const { bytes, view } = scratch;

/** `00:` to `99:`, the first digit in the lowest byte. */
const PAIRS = Uint32Array.from({ length: 100 }, (_, n) => (48 + Math.floor(n / 10)) | (48 + n % 10) << 8 | 58 << 16);

/** Days from 1970-01-01 of 0001-01-01 and of 10000-01-01: between them a date is ten bytes long. */
const FIRST_DAY = -719162;
const LAST_DAY = 2932896;

/** Cached dates, indexed by the lowest bits of the day: the times of a column fall on few days. */
const KEPT = 1024;
const keptDays = new Int32Array(KEPT).fill(FIRST_DAY - 1);
const keptDates = new Uint32Array(3 * KEPT);

/** Whether a day's year is before 1, so that ` BC` follows. */
export function isBC(day: number): boolean {
  return day < FIRST_DAY;
}

/** Writes a day's date, without ` BC`. */
export function putDate(position: number, day: number): number {
  if (!(day >= FIRST_DAY && day <= LAST_DAY)) return putFarDate(position, day);
  const place = day & (KEPT - 1);
  if (keptDays[place] !== day) return putNewDate(position, day | 0, place);
  view.setUint32(position, keptDates[3 * place]!, true);
  view.setUint32(position + 4, keptDates[3 * place + 1]!, true);
  view.setUint32(position + 8, keptDates[3 * place + 2]!, true);
  return position + 10;
}

function putNewDate(position: number, day: number, place: number): number {
  // Days from 0000-03-01: a year then ends with its leap day.
  const z = day + 719468;
  const era = (z / 146097) | 0;
  const p = putCivil(position, z - era * 146097, era * 400, 4);
  keptDays[place] = day;
  for (let word = 0; word < 3; word++) keptDates[3 * place + word] = view.getUint32(position + 4 * word, true);
  return p;
}

/** Writes the date of a day in a 400-year era that begins with the 1 March of `eraYear`. */
function putCivil(position: number, dayOfEra: number, eraYear: number, digits: 4 | 0): number {
  const yearOfEra =
    ((dayOfEra - ((dayOfEra / 1460) | 0) + ((dayOfEra / 36524) | 0) - ((dayOfEra / 146096) | 0)) / 365) | 0;
  const dayOfYear = dayOfEra - (365 * yearOfEra + ((yearOfEra / 4) | 0) - ((yearOfEra / 100) | 0));
  const shifted = ((5 * dayOfYear + 2) / 153) | 0;
  const day = dayOfYear - ((153 * shifted + 2) / 5 | 0) + 1;
  const month = shifted < 10 ? shifted + 3 : shifted - 9;
  const year = eraYear + yearOfEra + (month <= 2 ? 1 : 0);
  const p = digits === 4 ? putLast(position, year, 4) : putYear(position, year > 0 ? year : 1 - year);
  bytes[p] = 45;
  view.setUint32(p + 1, PAIRS[month]!, true);
  bytes[p + 3] = 45;
  view.setUint32(p + 4, PAIRS[day]!, true);
  return p + 6;
}

function putYear(position: number, year: number): number {
  return year < 10_000 ? putLast(position, year, 4) : putWhole(position, year);
}

/** A date of any year: up to 2.9 * 10^11, so days do not fit 32 bits. */
function putFarDate(position: number, day: number): number {
  const z = day + 719468;
  const era = Math.floor(z / 146097);
  return putCivil(position, z - era * 146097, era * 400, 0);
}

/** Writes ` BC` and the closing quote. */
export function putBC(position: number): number {
  view.setUint32(position, 0x22434220, true);
  return position + 4;
}

/** Writes hours, minutes and seconds of a number of seconds up to 24 hours. */
export function putClock(position: number, second: number): number {
  const minutes = (second / 60) | 0;
  const hours = (minutes / 60) | 0;
  view.setUint32(position, PAIRS[hours]!, true);
  view.setUint32(position + 3, PAIRS[minutes - hours * 60]!, true);
  view.setUint32(position + 6, PAIRS[second - minutes * 60]!, true);
  return position + 8;
}

/** Writes a point and a fraction of `digits` digits without trailing zeros; nothing if it is zero. */
export function putFraction(position: number, fraction: number, digits: number): number {
  if (fraction === 0) return position;
  bytes[position] = 46;
  let p = position + 1;
  if (digits === 9) {
    const upper = (fraction / 100_000_000) | 0;
    bytes[p] = 48 + upper;
    p = putLast(p + 1, fraction - upper * 100_000_000, 8);
  } else {
    p = putLast(p, fraction, digits);
  }
  while (bytes[p - 1] === 48) p--;
  return p;
}
