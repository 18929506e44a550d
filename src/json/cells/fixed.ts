/**
 * Cells of fixed-width values other than numbers. One closure per column tests validity and writes key and value.
 *
 * @module
 */

import type { ColumnView } from "../../arrow/column.ts";
import type { ShapeOf } from "../../arrow/field_type.ts";
import { putBase64, putUuid } from "../write/binary.ts";
import { type Cell, unset } from "./cell.ts";
import { type Key, putKey, putNull } from "../write/key.ts";
import { scratch } from "../memory/scratch.ts";
import { sourceOf } from "../write/string.ts";
import {
  putDate32,
  putDate64,
  putDayTime,
  putDuration,
  putInterval,
  putMonths,
  putTime,
  putTimestamp,
} from "../write/temporal.ts";

const { bytes, view } = scratch;

/** Returns the cell of a Null column. */
export function nullCell(key: Key): Cell {
  return (_slot, position) => putNull(position, key);
}

/** Returns the cell of a Bool column. */
export function boolCell(column: ColumnView, key: Key): Cell {
  const { bits, bitOffset, bytes: values } = column;
  return (slot, position) => {
    const at = bitOffset + slot;
    if (bits !== undefined && unset(bits, at)) return putNull(position, key);
    const p = putKey(position, key);
    if (unset(values, at)) {
      view.setUint32(p, 0x736c6166, true);
      bytes[p + 4] = 101;
      return p + 5;
    }
    view.setUint32(p, 0x65757274, true);
    return p + 4;
  };
}

/** Returns the cell of a date column. */
export function dateCell(column: ColumnView, key: Key, type: ShapeOf<"date">): Cell {
  const { bits, bitOffset, words } = column;
  if (type.bits === 32) {
    return (slot, position) => {
      if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
      return putDate32(putKey(position, key), words[slot]!);
    };
  }
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    return putDate64(putKey(position, key), words[2 * slot]!, words[2 * slot + 1]!);
  };
}

/** Returns the cell of a time column. */
export function timeCell(column: ColumnView, key: Key, type: ShapeOf<"time">): Cell {
  const { bits, bitOffset, words } = column;
  const { unit } = type;
  const wide = type.bits === 64;
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    const low = wide ? words[2 * slot]! : words[slot]!;
    return putTime(putKey(position, key), low, wide ? words[2 * slot + 1]! : low >> 31, unit);
  };
}

/** Returns the cell of a timestamp column. */
export function timestampCell(column: ColumnView, key: Key, type: ShapeOf<"timestamp">): Cell {
  const { bits, bitOffset, words } = column;
  const { unit, zoned } = type;
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    return putTimestamp(putKey(position, key), words[2 * slot]!, words[2 * slot + 1]!, unit, zoned);
  };
}

/** Returns the cell of a duration column. */
export function durationCell(column: ColumnView, key: Key, type: ShapeOf<"duration">): Cell {
  const { bits, bitOffset, words } = column;
  const { unit } = type;
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    return putDuration(putKey(position, key), words[2 * slot]!, words[2 * slot + 1]!, unit);
  };
}

/** Returns the cell of an interval column. */
export function intervalCell(column: ColumnView, key: Key, type: ShapeOf<"interval">): Cell {
  const { bits, bitOffset, words } = column;
  const { unit } = type;
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    const p = putKey(position, key);
    if (unit === 0) return putMonths(p, words[slot]!);
    if (unit === 1) return putDayTime(p, words[2 * slot]!, words[2 * slot + 1]!);
    const at = 4 * slot;
    return putInterval(p, words[at]!, words[at + 1]!, words[at + 2]!, words[at + 3]!, 3);
  };
}

/** Returns the cell of a FixedSizeBinary column. */
export function fixedBinaryCell(column: ColumnView, key: Key, type: ShapeOf<"fixed_binary">): Cell {
  const { bits, bitOffset, bytes: values } = column;
  const { width, uuid } = type;
  const { words } = sourceOf(values);
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    const p = putKey(position, key);
    const start = slot * width;
    return uuid ? putUuid(p, values, start) : putBase64(p, values, words, start, start + width);
  };
}
