/**
 * Shortest decimals of floats of any width by exact arithmetic. It is slow and always right; the fast writers fall back
 * to it and are tested against it.
 *
 * The digits are the shortest that read back to the same value at the float's own width; of several the closest, of two
 * equally close the one whose last digit is even. The notation is ECMAScript's Number::toString.
 *
 * @module
 */

/** A float format: bits of its stored fraction, and the exponent of its smallest unit. */
export interface FloatFormat {
  readonly fraction: number;
  readonly least: number;
}

/** IEEE 754 binary16. */
export const HALF: FloatFormat = { fraction: 10, least: -24 };
/** IEEE 754 binary32. */
export const SINGLE: FloatFormat = { fraction: 23, least: -149 };
/** IEEE 754 binary64. */
export const DOUBLE: FloatFormat = { fraction: 52, least: -1074 };

/** Formats a positive, finite float, given by its fields. */
export function floatText(fraction: bigint, exponent: number, format: FloatFormat): string {
  const implicit = 1n << BigInt(format.fraction);
  const significand = exponent === 0 ? fraction : (fraction & (implicit - 1n)) | implicit;
  const power = format.least + Math.max(exponent, 1) - 1;
  const narrow = significand === implicit && exponent > 1;
  return decimalText(...shortest(significand, power, narrow));
}

/** Returns digits and the power of ten of the last one. `narrow`: the next smaller float is half as far away. */
function shortest(significand: bigint, power: number, narrow: boolean): [digits: string, exponent: number] {
  // All in units of a quarter of the float's last place: value 4s, upper end 4s + 2, lower end 4s - 2 or 4s - 1.
  const shift = power - 2;
  const up = shift > 0 ? 1n << BigInt(shift) : 1n;
  const down = shift < 0 ? 1n << BigInt(-shift) : 1n;
  const value = 4n * significand * up;
  const high = value + 2n * up;
  const low = value - (narrow ? 1n : 2n) * up;
  const closed = significand % 2n === 0n;
  for (let exponent = highest(high, down);; exponent--) {
    const found = closest(value, low, high, closed, down, exponent);
    if (found !== undefined) return [String(found).replace(/0+$/, ""), exponent + trailingZeros(found)];
  }
}

function trailingZeros(n: bigint): number {
  return /0*$/.exec(String(n))![0].length;
}

function highest(high: bigint, down: bigint): number {
  return String(high).length - String(down).length + 1;
}

/** Returns the multiple of 10^exponent in the interval that is closest to the value. */
function closest(
  value: bigint,
  low: bigint,
  high: bigint,
  closed: boolean,
  down: bigint,
  exponent: number,
): bigint | undefined {
  const scale = exponent < 0 ? 10n ** BigInt(-exponent) : 1n;
  const unit = exponent > 0 ? down * 10n ** BigInt(exponent) : down;
  const below = value * scale / unit;
  let best: bigint | undefined;
  let distance = 0n;
  for (const candidate of [below, below + 1n]) {
    const at = candidate * unit;
    const inside = closed ? low * scale <= at && at <= high * scale : low * scale < at && at < high * scale;
    if (candidate === 0n || !inside) continue;
    const away = at > value * scale ? at - value * scale : value * scale - at;
    if (best === undefined || away < distance || (away === distance && candidate % 2n === 0n)) {
      best = candidate;
      distance = away;
    }
  }
  return best;
}

/** Formats digits times a power of ten in ECMAScript's notation. */
export function decimalText(digits: string, exponent: number): string {
  const point = digits.length + exponent;
  if (point > 21 || point < -5) {
    const rest = digits.length > 1 ? `.${digits.slice(1)}` : "";
    return `${digits[0]}${rest}e${point > 0 ? "+" : "-"}${Math.abs(point - 1)}`;
  }
  if (point <= 0) return `0.${"0".repeat(-point)}${digits}`;
  if (exponent >= 0) return digits + "0".repeat(exponent);
  return `${digits.slice(0, point)}.${digits.slice(point)}`;
}
