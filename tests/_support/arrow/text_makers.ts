/** Makers of columns of Bool, Null, string and binary types. */

import * as arrow from "apache-arrow";
import fc from "fast-check";
import { makeColumn, offsetsOf } from "./columns.ts";
import type { Maker } from "./makers.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const EMPTY = new Uint8Array(0);

/** The bytes between and after the values, which must never be written. */
const JUNK = encoder.encode("JUNK");

/** Bytes of strings: ASCII, escapes, any code point, and invalid UTF-8. */
const textBytes: fc.Arbitrary<Uint8Array> = fc.oneof(
  fc.string({ unit: "grapheme-ascii", maxLength: 40 }).map((text) => encoder.encode(text)),
  fc.string({ unit: "binary", maxLength: 20 }).map((text) => encoder.encode(text)),
  fc.string({ unit: fc.constantFrom(...'"\\/\b\f\n\r\t\0\u001f\u007f\u2028\ufeff\u{1f680}ab') }).map((text) =>
    encoder.encode(text)
  ),
  fc.array(fc.constantFrom(0x61, 0x80, 0xbf, 0xc2, 0xe2, 0x82, 0xac, 0xed, 0xa0, 0xf0, 0x9f, 0xf4, 0xff), {
    maxLength: 8,
  }).map((bytes) => Uint8Array.from(bytes)),
);

const anyBytes = fc.uint8Array({ maxLength: 40 });

function stringText(bytes: Uint8Array): string {
  return JSON.stringify(decoder.decode(bytes));
}

function base64Text(bytes: Uint8Array): string {
  return `"${btoa(String.fromCharCode(...bytes))}"`;
}

function concat(parts: readonly Uint8Array[]): Uint8Array {
  const all = new Uint8Array(parts.reduce((size, part) => size + part.length, 0));
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}

function variable(
  name: string,
  type: arrow.DataType,
  large: boolean,
  value: fc.Arbitrary<Uint8Array>,
  text: (value: Uint8Array) => string,
): Maker<Uint8Array> {
  return {
    name,
    type,
    value,
    text,
    data(values) {
      // A null may span bytes of its own.
      const slots = values.map((one) => one ?? JUNK);
      const offsets = offsetsOf(slots.map((slot) => slot.length), large);
      return makeColumn(type, values, { offsets, values: concat([...slots, JUNK]) });
    },
  };
}

function views(
  name: string,
  type: arrow.DataType,
  value: fc.Arbitrary<Uint8Array>,
  text: (value: Uint8Array) => string,
): Maker<Uint8Array> {
  return { name, type, value, text, data: (values) => makeColumn(type, values, viewBuffers(values)) };
}

/** Views of 16 bytes: strings of up to 12 bytes inside the view, longer ones alternately in two buffers. */
function viewBuffers(values: readonly (Uint8Array | null)[]): { values: Uint8Array; variadic: Uint8Array[] } {
  const bytes = new Uint8Array(values.length * 16);
  const view = new DataView(bytes.buffer);
  const buffers: Uint8Array[][] = [[JUNK], [JUNK]];
  values.forEach((one, row) => {
    const text = one ?? EMPTY;
    view.setInt32(row * 16, text.length, true);
    if (text.length <= 12) {
      bytes.set(text, row * 16 + 4);
      return;
    }
    const buffer = buffers[row & 1]!;
    bytes.set(text.subarray(0, 4), row * 16 + 4);
    view.setInt32(row * 16 + 8, row & 1, true);
    view.setInt32(row * 16 + 12, buffer.reduce((size, part) => size + part.length, 0), true);
    buffer.push(text, JUNK);
  });
  return { values: bytes, variadic: buffers.map(concat) };
}

function fixedBinary(width: number): Maker<Uint8Array> {
  const type = new arrow.FixedSizeBinary(width);
  return {
    name: `fixed binary ${width}`,
    type,
    value: fc.uint8Array({ minLength: width, maxLength: width }),
    text: base64Text,
    data: (values) =>
      makeColumn(type, values, { values: concat(values.map((one) => one ?? new Uint8Array(width).fill(0xa5))) }),
  };
}

const bool: Maker<boolean> = {
  name: "bool",
  type: new arrow.Bool(),
  value: fc.boolean(),
  text: String,
  data(values) {
    const bits = new Uint8Array((values.length + 7) >> 3);
    // A null's own bit is set.
    values.forEach((one, row) => one !== false && (bits[row >> 3]! |= 1 << (row & 7)));
    return makeColumn(new arrow.Bool(), values, { values: bits });
  },
};

const nothing: Maker<null> = {
  name: "null",
  type: new arrow.Null(),
  value: fc.constant(null),
  text: String,
  data: (values) => makeColumn(new arrow.Null(), values, {}),
};

/** Utf8, also used for map keys and dictionaries. */
export const utf8: Maker<Uint8Array> = variable("utf8", new arrow.Utf8(), false, textBytes, stringText);

/** A maker for each string and binary type, Bool and Null. */
export const textMakers: readonly Maker[] = [
  bool,
  nothing,
  utf8,
  variable("large utf8", new arrow.LargeUtf8(), true, textBytes, stringText),
  views("utf8 view", new arrow.Utf8View(), textBytes, stringText),
  variable("binary", new arrow.Binary(), false, anyBytes, base64Text),
  variable("large binary", new arrow.LargeBinary(), true, anyBytes, base64Text),
  views("binary view", new arrow.BinaryView(), anyBytes, base64Text),
  fixedBinary(1),
  fixedBinary(16),
] as readonly Maker[];
