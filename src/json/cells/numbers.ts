/**
 * Cells of numbers. One closure per column tests validity and writes key and value.
 *
 * @module
 */

import type { ColumnView } from "../../arrow/column.ts";
import type { ShapeOf } from "../../arrow/field_type.ts";
import { type Cell, unset } from "./cell.ts";
import { LONGEST_SHORT, putDecimal, putShort } from "../write/decimal.ts";
import { putInt32, putInt64, putUint64, putWhole } from "../write/digits.ts";
import { putFloat64 } from "../write/float64.ts";
import { type Key, putKey, putNull } from "../write/key.ts";
import { putFloat16, putFloat32 } from "../write/float32.ts";

/** Returns the cell of an integer column. */
export function intCell(column: ColumnView, key: Key, type: ShapeOf<"int">): Cell {
  const { bits, bitOffset, numbers, words } = column;
  if (type.bits < 64) {
    if (type.bits === 32 && type.signed) return int32Cell(column, key);
    return (slot, position) => {
      if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
      const n = numbers[slot]!;
      const p = putKey(position, key);
      return n < 0 ? putInt32(p, n) : putWhole(p, n);
    };
  }
  if (type.signed) {
    return (slot, position) => {
      if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
      return putInt64(putKey(position, key), words[2 * slot]!, words[2 * slot + 1]!);
    };
  }
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    return putUint64(putKey(position, key), words[2 * slot]!, words[2 * slot + 1]!);
  };
}

function int32Cell(column: ColumnView, key: Key): Cell {
  const { bits, bitOffset } = column;
  const numbers = column.numbers as Int32Array;
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    return putInt32(putKey(position, key), numbers[slot]!);
  };
}

/** Returns the cell of a float column. */
export function floatCell(column: ColumnView, key: Key, type: ShapeOf<"float">): Cell {
  const { bits, bitOffset } = column;
  if (type.bits === 64) {
    const numbers = column.numbers as Float64Array;
    return (slot, position) => {
      if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
      return putFloat64(putKey(position, key), numbers[slot]!);
    };
  }
  if (type.bits === 32) {
    const numbers = column.numbers as Float32Array;
    return (slot, position) => {
      if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
      return putFloat32(putKey(position, key), numbers[slot]!);
    };
  }
  const numbers = column.numbers as Uint16Array;
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    return putFloat16(putKey(position, key), numbers[slot]!);
  };
}

/** Returns the cell of a decimal column. */
export function decimalCell(column: ColumnView, key: Key, type: ShapeOf<"decimal">): Cell {
  const { bits, bitOffset, words } = column;
  const count = type.bits >> 5;
  const { scale } = type;
  if (count === 4 && scale >= 0 && scale <= LONGEST_SHORT) return decimal128Cell(column, key, scale);
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    return putDecimal(putKey(position, key), words, slot * count, count, scale);
  };
}

/** The most common decimal: most values fit 64 bits, and the upper words only repeat the sign. */
function decimal128Cell(column: ColumnView, key: Key, scale: number): Cell {
  const { bits, bitOffset, words } = column;
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    const p = putKey(position, key);
    const at = 4 * slot;
    const high = words[at + 1]!;
    const sign = high >> 31;
    if (words[at + 2] === sign && words[at + 3] === sign && high < 0x200000 && high >= -0x200000) {
      return putShort(p, high * 4294967296 + (words[at]! >>> 0), scale);
    }
    return putDecimal(p, words, at, 4, scale);
  };
}
