/**
 * Cells of strings and binary.
 *
 * @module
 */

import { wideAt } from "../../arrow/access.ts";
import type { ColumnView } from "../../arrow/column.ts";
import { Fault } from "../../arrow/fault.ts";
import type { TextMeaning } from "../../arrow/field_type.ts";
import { bytesOfView, checkOffsets, describeSpan, textSpan } from "../../arrow/text_span.ts";
import { putBase64 } from "../write/binary.ts";
import { type Cell, unset } from "./cell.ts";
import { isNonFinite } from "./non_finite.ts";
import { isJson, isJsonNumber } from "../write/embedded.ts";
import { type Key, putKey, putNull } from "../write/key.ts";
import { lazily } from "../../util/lazily.ts";
import { putBytes, scratch } from "../memory/scratch.ts";
import { putString, sourceOf } from "../write/string.ts";

const { bytes } = scratch;

/** Returns the cell of a string column. */
export function textCell(column: ColumnView, key: Key, layout: string, meaning: TextMeaning): Cell {
  if (meaning === "json") return jsonCell(column, key);
  if (meaning === "decimal") return numberCell(column, key);
  if (layout === "views") return viewCell(column, key);
  return layout === "large_offsets" ? largeTextCell(column, key) : smallTextCell(column, key);
}

function smallTextCell(column: ColumnView, key: Key): Cell {
  const { bits, bitOffset, offsets } = column;
  const { bytes: source, words } = sourceOf(column.bytes);
  const size = source.length;
  return (slot, position) => {
    const bit = bitOffset + slot;
    if (bits !== undefined && unset(bits, bit)) return putNull(position, key);
    const start = offsets[slot]!;
    const end = offsets[slot + 1]!;
    if (start < 0 || start > end || end > size) checkOffsets(start, end, size);
    return putString(putKey(position, key), source, words, start, end);
  };
}

function largeTextCell(column: ColumnView, key: Key): Cell {
  const { bits, bitOffset, offsets } = column;
  const { bytes: source, words } = sourceOf(column.bytes);
  const size = source.length;
  return (slot, position) => {
    const bit = bitOffset + slot;
    if (bits !== undefined && unset(bits, bit)) return putNull(position, key);
    const start = wideAt(offsets, slot);
    const end = wideAt(offsets, slot + 1);
    if (start < 0 || start > end || end > size) checkOffsets(start, end, size);
    return putString(putKey(position, key), source, words, start, end);
  };
}

function viewCell(column: ColumnView, key: Key): Cell {
  const { bits, bitOffset, words, buffers } = column;
  const inline = sourceOf(column.bytes);
  const wordsOf = lazily((buffer) => sourceOf(buffers[buffer]!).words);
  return (slot, position) => {
    const bit = bitOffset + slot;
    if (bits !== undefined && unset(bits, bit)) return putNull(position, key);
    const p = putKey(position, key);
    const size = words[4 * slot]!;
    if (size >= 0 && size <= 12) {
      const start = 16 * slot + 4;
      return putString(p, inline.bytes, inline.words, start, start + size);
    }
    const source = bytesOfView(buffers, words, slot);
    const start = words[4 * slot + 3]!;
    return putString(p, source, wordsOf(words[4 * slot + 2]!), start, start + size);
  };
}

/** Returns the cell of a binary column. */
export function binaryCell(column: ColumnView, key: Key, layout: string): Cell {
  if (layout === "offsets") return smallBinaryCell(column, key);
  const span = textSpan(column);
  let source = sourceOf(column.bytes);
  return (slot, position) => {
    if (!span.seek(slot)) return putNull(position, key);
    if (span.bytes !== source.bytes) source = sourceOf(span.bytes);
    return putBase64(putKey(position, key), source.bytes, source.words, span.start, span.end);
  };
}

function smallBinaryCell(column: ColumnView, key: Key): Cell {
  const { bits, bitOffset, offsets } = column;
  const { bytes: source, words } = sourceOf(column.bytes);
  const size = source.length;
  return (slot, position) => {
    const bit = bitOffset + slot;
    if (bits !== undefined && unset(bits, bit)) return putNull(position, key);
    const start = offsets[slot]!;
    const end = offsets[slot + 1]!;
    if (start < 0 || start > end || end > size) checkOffsets(start, end, size);
    return putBase64(putKey(position, key), source, words, start, end);
  };
}

function jsonCell(column: ColumnView, key: Key): Cell {
  const span = textSpan(column);
  return (slot, position) => {
    if (!span.seek(slot)) return putNull(position, key);
    if (!isJson(span.bytes, span.start, span.end)) {
      throw new Fault("encode.json", `the string must be one JSON value: received ${describeSpan(span)}`);
    }
    return putBytes(putKey(position, key), span.bytes, span.start, span.end);
  };
}

function numberCell(column: ColumnView, key: Key): Cell {
  const span = textSpan(column);
  return (slot, position) => {
    if (!span.seek(slot)) return putNull(position, key);
    const p = putKey(position, key);
    const { start, end } = span;
    if (isJsonNumber(span.bytes, start, end)) return putBytes(p, span.bytes, start, end);
    if (!isNonFinite(span)) {
      throw new Fault(
        "encode.value",
        `the string must be a JSON number, NaN, Infinity or -Infinity: received ${describeSpan(span)}`,
      );
    }
    bytes[p] = 34;
    const q = putBytes(p + 1, span.bytes, start, end);
    bytes[q] = 34;
    return q + 1;
  };
}
