/**
 * Helpers of the functions that write numbers.
 *
 * @module
 */

import { scratch } from "../memory/scratch.ts";

const { bytes } = scratch;

/** 10^-60 to 10^60, rounded to doubles; 10^n is at n + 60. */
export const POWERS_OF_TEN: Float64Array = Float64Array.from({ length: 121 }, (_, n) => Number(`1e${n - 60}`));

/** Writes an ASCII string. */
export function putText(position: number, text: string): number {
  for (let at = 0; at < text.length; at++) bytes[position + at] = text.charCodeAt(at);
  return position + text.length;
}

/** Writes `"NaN"`, `"Infinity"` or `"-Infinity"`, quoted. */
export function putNonFinite(position: number, x: number): number {
  return putText(position, x !== x ? '"NaN"' : x > 0 ? '"Infinity"' : '"-Infinity"');
}

/** Returns the position after the last byte that is not `0`. There must be one. */
export function trimZeros(end: number): number {
  let p = end;
  while (bytes[p - 1] === 48) p--;
  return p;
}
