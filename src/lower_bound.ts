/**
 * Binary search.
 *
 * @module
 */

/**
 * The first index from `from` to `to` (exclusive) whose value is `value` or more; `to` where none is. Values ascend.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const values = [1, 3, 3, 7];
 * assert.equal(lowerBound(0, 4, (index) => values[index]!, 3), 1);
 * assert.equal(lowerBound(0, 4, (index) => values[index]!, 8), 4);
 * ```
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
