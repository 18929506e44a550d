/**
 * Binary search.
 *
 * @module
 */

/**
 * Returns the first index from `from` to `to` (exclusive) whose value is `value` or more, or `to` if there is none. The
 * values must ascend.
 */
export function lowerBound(from: number, to: number, valueAt: (index: number) => number, value: number): number {
  let low = from;
  for (let high = to; low < high;) {
    const middle = Math.floor((low + high) / 2);
    if (valueAt(middle) < value) low = middle + 1;
    else high = middle;
  }
  return low;
}
