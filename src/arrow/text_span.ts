/**
 * Reads the bytes of a string column's values, one at a time: through offsets, views and dictionaries.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { lazily } from "../util/lazily.ts";
import { checkReadable, dictionaryPlace, type Place, wideAt } from "./access.ts";
import { type ColumnView, isNull } from "./column.ts";
import { malformed } from "./fault.ts";
import { NO_BYTES } from "./buffers.ts";

/** A cursor over a column's values. */
export interface TextSpan {
  /** The bytes that contain the value. */
  bytes: Uint8Array;
  /** The position of its first byte. */
  start: number;
  /** The position after its last byte. */
  end: number;
  /** Moves to a slot; returns false, and does not move, if it is null. */
  seek(slot: number): boolean;
}

/** Returns a cursor over a column of strings or binary of any kind, or of a dictionary of them. `seek` throws faults. */
export function textSpan(column: ColumnView): TextSpan {
  const { type } = column;
  switch (type.kind) {
    case "dictionary":
      return dictionarySpan(column);
    case "text":
    case "binary":
      return type.layout === "views" ? viewSpan(column) : offsetSpan(column, type.layout === "large_offsets");
    case "fixed_binary":
      return fixedSpan(column, type.width);
    default:
      throw new TypeError(`A column of ${type.label} has no spans of bytes`);
  }
}

function offsetSpan(column: ColumnView, large: boolean): TextSpan {
  const { offsets, bytes } = column;
  const span: TextSpan = {
    bytes,
    start: 0,
    end: 0,
    seek(slot) {
      checkReadable(column, slot);
      if (isNull(column, slot)) return false;
      span.start = large ? wideAt(offsets, slot) : offsets[slot]!;
      span.end = large ? wideAt(offsets, slot + 1) : offsets[slot + 1]!;
      checkOffsets(span.start, span.end, bytes.length);
      return true;
    },
  };
  return span;
}

/** Throws unless a value's offsets are in order and inside of its buffer. */
export function checkOffsets(start: number, end: number, size: number): void {
  if (!(start >= 0 && start <= end && end <= size)) {
    malformed(`offsets ${start} to ${end} are outside of its ${size} bytes`);
  }
}

function viewSpan(column: ColumnView): TextSpan {
  const { words, bytes, buffers } = column;
  const span: TextSpan = {
    bytes,
    start: 0,
    end: 0,
    seek(slot) {
      checkReadable(column, slot);
      if (isNull(column, slot)) return false;
      const size = words[4 * slot]!;
      if (size >= 0 && size <= 12) {
        span.bytes = bytes;
        span.start = 16 * slot + 4;
      } else {
        span.bytes = bytesOfView(buffers, words, slot);
        span.start = words[4 * slot + 3]!;
      }
      span.end = span.start + size;
      return true;
    },
  };
  return span;
}

/** Returns the buffer that a view of more than 12 bytes points into, checked to contain the value. */
export function bytesOfView(buffers: readonly Uint8Array[], words: Int32Array, slot: number): Uint8Array {
  const size = words[4 * slot]!;
  const index = words[4 * slot + 2]!;
  const start = words[4 * slot + 3]!;
  const buffer = buffers[index];
  if (size < 0) malformed(`a view has a size of ${size}`);
  if (buffer?.length === 0) malformed(`a view of ${size} bytes is in a buffer that is empty, or that was transferred`);
  if (buffer === undefined) malformed(`a view points to buffer ${index} of ${buffers.length}`);
  if (!(start >= 0 && start + size <= buffer.length)) {
    malformed(`a view of ${size} bytes at ${start} is outside of its buffer of ${buffer.length} bytes`);
  }
  return buffer;
}

function fixedSpan(column: ColumnView, width: number): TextSpan {
  const span: TextSpan = {
    bytes: column.bytes,
    start: 0,
    end: 0,
    seek(slot) {
      checkReadable(column, slot);
      if (isNull(column, slot)) return false;
      span.start = slot * width;
      span.end = span.start + width;
      return true;
    },
  };
  return span;
}

function dictionarySpan(column: ColumnView): TextSpan {
  const place: Place = { chunk: 0, slot: 0 };
  const find = dictionaryPlace(column, place);
  const valueOf = lazily((chunk) => textSpan(column.dictionary[chunk]!));
  const span: TextSpan = {
    bytes: NO_BYTES,
    start: 0,
    end: 0,
    seek(slot) {
      checkReadable(column, slot);
      if (isNull(column, slot)) return false;
      find(slot);
      const value = valueOf(place.chunk);
      if (!value.seek(place.slot)) return false;
      span.bytes = value.bytes;
      span.start = value.start;
      span.end = value.end;
      return true;
    },
  };
  return span;
}

const decoder = new TextDecoder();

/** Formats a value for an error message. A long one is truncated before it is decoded. */
export function describeSpan({ bytes, start, end }: TextSpan): string {
  return describe(decoder.decode(bytes.slice(start, Math.min(end, start + 400))));
}
