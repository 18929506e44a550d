/**
 * Finds the numbers that JSON does not have.
 *
 * @module
 */

import type { SlotTest } from "../../arrow/access.ts";
import type { ColumnView } from "../../arrow/column.ts";
import { type TextSpan, textSpan } from "../../arrow/text_span.ts";

const WORDS = ["NaN", "Infinity", "-Infinity"];

/** Returns whether the string at a span means a number that is not finite. */
export function isNonFinite({ bytes, start, end }: TextSpan): boolean {
  return end - start <= 9 && WORDS.includes(String.fromCharCode(...bytes.subarray(start, end)));
}

/** Returns the test of a column's values that are not finite, or undefined if the type has none. */
export function nonFiniteTest(column: ColumnView): SlotTest | undefined {
  const { type, numbers } = column;
  if (type.kind === "float") {
    // Float16 values are read as bits: all exponent bits are set in a number that is not finite.
    if (type.bits === 16) return (slot) => (numbers[slot]! & 0x7c00) === 0x7c00;
    return (slot) => {
      // A number beyond the buffer is undefined here: its cell refuses it.
      const x = numbers[slot]!;
      return x !== x || x === Infinity || x === -Infinity;
    };
  }
  if (type.kind !== "text" || type.meaning !== "decimal") return undefined;
  const span = textSpan(column);
  return (slot) => span.seek(slot) && isNonFinite(span);
}
