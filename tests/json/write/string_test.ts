import assert from "node:assert/strict";
import fc from "fast-check";
import { putString } from "../../../src/json/write/string.ts";
import { cutBefore, sequenceSize } from "../../../src/util/utf8.ts";
import { written, writtenBytes } from "../../_support/scratch_output.ts";

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** Bytes as JSON, by TextDecoder and JSON.stringify: without lone surrogates both escape the same. */
function slowText(bytes: Uint8Array): string {
  return JSON.stringify(decoder.decode(bytes));
}

/** A buffer with other bytes around the value, quotes and parts of sequences, which must not be written. */
function text(bytes: Uint8Array, before = 3): string {
  const padded = new Uint8Array(before + bytes.length + 9).fill(0x22);
  padded.set(bytes, before);
  padded.set([0x80, 0xbf], before + bytes.length);
  const words = new DataView(padded.buffer);
  return written((p) => putString(p, padded, words, before, before + bytes.length));
}

function assertText(bytes: Uint8Array, before?: number): void {
  assert.equal(text(bytes, before), slowText(bytes));
}

const anyByte = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 0x20, max: 0x7e }) },
  { weight: 1, arbitrary: fc.integer({ min: 0, max: 255 }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom(0x22, 0x5c, 0x0a, 0x00, 0x1f, 0x7f, 0x80, 0xbf, 0xc3, 0xe2, 0xed, 0xf0, 0xff),
  },
);

Deno.test("putString() writes any string as JSON.stringify() does", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary", maxLength: 60 }), fc.nat(8), (value, before) => {
      assertText(encoder.encode(value), before);
    }),
    { numRuns: 5000 },
  );
});

Deno.test("putString() writes any bytes as TextDecoder reads them", () => {
  const bytes = fc.array(anyByte, { maxLength: 40 }).map((all) => Uint8Array.from(all));
  fc.assert(fc.property(bytes, fc.nat(8), (value, before) => assertText(value, before)), { numRuns: 20_000 });
});

Deno.test("putString() writes each byte alone, and at each position of a word", () => {
  for (let byte = 0; byte < 256; byte++) {
    for (let at = 0; at < 17; at++) {
      const bytes = new Uint8Array(17).fill(0x61);
      bytes[at] = byte;
      assertText(bytes);
      assertText(bytes.subarray(0, at + 1));
    }
  }
});

Deno.test("putString() writes every pair of bytes, and sequences at the edges of the ranges", () => {
  for (let first = 0x7f; first < 256; first++) {
    for (let second = 0x70; second < 256; second++) assertText(Uint8Array.of(first, second, 0x41));
  }
  for (const code of [0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xfeff, 0xfffd, 0xffff, 0x10000, 0x10ffff]) {
    const bytes = encoder.encode(String.fromCodePoint(code));
    for (let cut = 1; cut <= bytes.length; cut++) assertText(bytes.subarray(0, cut));
  }
});

Deno.test("putString() writes long strings in parts without splitting a sequence", () => {
  for (const unit of ["a", "\u00e9", "\u20ac", "\u{1f600}", "\n", 'ab\u20ac"']) {
    for (const start of ["", "x", "xy", "xyz"]) assertText(encoder.encode(start + unit.repeat(30_000)));
  }
  for (const byte of [0x80, 0xff, 0xe2, 0xf0]) assertText(new Uint8Array(30_000).fill(byte));
});

Deno.test("putString() does not escape U+FEFF, U+007F to U+009F, U+2028 and the solidus", () => {
  const value = '\ufeff\u007f\u0080\u009f\u2028\u2029/\u0001\b\t\n\f\r"\\';
  assert.equal(text(encoder.encode(value)), '"\ufeff\u007f\u0080\u009f\u2028\u2029/\\u0001\\b\\t\\n\\f\\r\\"\\\\"');
});

Deno.test("putString() writes nothing before its start position", () => {
  const source = encoder.encode("abc\n\u20ac");
  const words = new DataView(source.buffer);
  const bytes = writtenBytes((p) => putString(putString(p, source, words, 0, 3), source, words, 0, source.length));
  assert.equal(decoder.decode(bytes), '"abc""abc\\n\u20ac"');
});

Deno.test("sequenceSize() returns the size of the sequence that TextDecoder reads", () => {
  const bytes = fc.array(fc.integer({ min: 0x80, max: 0xff }), { minLength: 1, maxLength: 5 });
  fc.assert(
    fc.property(bytes, (all) => {
      const value = Uint8Array.from(all);
      const size = sequenceSize(value, 0, value.length);
      const one = decoder.decode(value.subarray(0, Math.abs(size)));
      assert.equal([...one].length, 1);
      assert.equal(one === "\ufffd" && size < 0, size < 0);
      assert.equal(decoder.decode(value), one + decoder.decode(value.subarray(Math.abs(size))));
    }),
    { numRuns: 5000 },
  );
});

Deno.test("cutBefore() cuts into two parts that decode to the whole", () => {
  const bytes = fc.array(anyByte, { minLength: 5, maxLength: 20 }).map((all) => Uint8Array.from(all));
  fc.assert(
    fc.property(bytes, fc.nat(), (value, seed) => {
      const cut = cutBefore(value, 0, 4 + seed % (value.length - 4));
      assert.ok(cut >= 1);
      assert.equal(decoder.decode(value.subarray(0, cut)) + decoder.decode(value.subarray(cut)), decoder.decode(value));
    }),
    { numRuns: 5000 },
  );
});
