import fc from "fast-check";
import assert from "node:assert/strict";
import { decompressLz4 } from "../../../src/arrow/ipc/lz4.ts";

/** A frame of one compressed block. */
function frame(block: readonly number[]): Uint8Array {
  return Uint8Array.of(4, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82, block.length, 0, 0, 0, ...block, 0, 0, 0, 0);
}

/** Decompresses a whole frame of `length` bytes. */
const whole = (frame: Uint8Array, length: number): Uint8Array => decompressLz4(frame, length, length);
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("decompressLz4() repeats a match that overlaps its own output", () => {
  assert.equal(text(whole(frame([0x2f, 0x61, 0x62, 2, 0, 5, 0x10, 0x63]), 27)), "ab".repeat(13) + "c");
});

Deno.test("decompressLz4() reads long literals, stored blocks and matches across blocks", () => {
  const literals = Array.from({ length: 300 }, (_, i) => 97 + (i % 26));
  const long = [0xf0, 255, 30, ...literals];
  const size = [long.length & 255, long.length >> 8, 0, 0];
  const stored = [3, 0, 0, 0x80, 0x78, 0x79, 0x7a];
  const back = [5, 0, 0, 0, 0x00, 3, 0, 0x10, 0x21];
  const bytes = Uint8Array.of(4, 0x22, 0x4d, 0x18, 0x40, 0x40, 0, ...size, ...long, ...stored, ...back, 0, 0, 0, 0);
  assert.equal(text(whole(bytes, 308)), text(Uint8Array.from(literals)) + "xyz" + "xyzx" + "!");
});

Deno.test("decompressLz4() refuses truncated frames, and matches that begin before the output", () => {
  const full = frame([0x2f, 0x61, 0x62, 2, 0, 5, 0x10, 0x63]);
  for (let end = 0; end < full.length - 4; end++) assert.throws(() => whole(full.subarray(0, end), 27));
  assert.throws(() => whole(frame([0x10, 0x61, 2, 0, 0x10, 0x61]), 5000), /cut or broken/);
  assert.throws(() => whole(frame([0x10, 0x61, 0, 0, 0x10, 0x61]), 5000), /cut or broken/);
  assert.throws(() => whole(frame([0x1f, 0x61, 1, 0, ...Array(200).fill(255)]), 5000), /cut or broken/);
  assert.throws(() => whole(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8), 50_000), /magic/);
});

Deno.test("decompressLz4() refuses a block larger than its frame announces, however long its match is", () => {
  const block = [0x1f, 0x61, 1, 0, ...Array(300).fill(255), 0, 0x10, 0x61];
  const length = 1 + 15 + 300 * 255 + 4 + 1;
  const size = [block.length & 255, block.length >> 8, 0, 0];
  const of = (largest: number) =>
    Uint8Array.of(4, 0x22, 0x4d, 0x18, 0x60, largest << 4, 0, ...size, ...block, 0, 0, 0, 0);
  assert.equal(whole(of(5), length).length, length);
  assert.throws(() => whole(of(4), length), /cut or broken/);
  assert.throws(() => whole(of(3), length), /cut or broken/);
});

Deno.test("decompressLz4() refuses a size that differs from the content's, announced in or before the frame", () => {
  const block = [0x16, 0x61, 1, 0, 0x10, 0x61];
  const of = (size: readonly number[]) =>
    Uint8Array.of(4, 0x22, 0x4d, 0x18, 0x68, 0x40, ...size, 0, 6, 0, 0, 0, ...block, 0, 0, 0, 0);
  assert.equal(text(whole(of([12, 0, 0, 0, 0, 0, 0, 0]), 12)), "a".repeat(12));
  for (const size of [[11, 0, 0, 0, 0, 0, 0, 0], Array(8).fill(255)]) {
    assert.throws(() => whole(of(size), 12), /is announced as 12/);
  }
  assert.throws(() => whole(frame(block), 13), /holds 12 bytes and announces 13/);
  assert.throws(() => whole(frame(block), 11), /cut or broken/);
});

Deno.test("decompressLz4() stops once it has the bytes that are needed", () => {
  const content = "abcdefgh" + "a".repeat(12);
  const literals = [...new TextEncoder().encode("abcdefgha")];
  const bytes = frame([0x97, ...literals, 1, 0]);
  for (let needed = 0; needed < content.length; needed++) {
    assert.equal(text(decompressLz4(bytes, content.length, needed)), content.slice(0, needed), `${needed}`);
  }
});

Deno.test("decompressLz4() agrees with a slow, simple decoder on any sequences", () => {
  const run = fc.uint8Array({ minLength: 0, maxLength: 300 });
  const sequence = fc.record({ literals: run, distance: fc.nat(), length: fc.integer({ min: 4, max: 700 }) });
  fc.assert(fc.property(fc.array(sequence, { maxLength: 8 }), run, (sequences, last) => {
    const content: number[] = [];
    const block: number[] = [];
    const more = (count: number) =>
      count < 15 ? [] : [...Array(Math.floor((count - 15) / 255)).fill(255), (count - 15) % 255];
    const begin = (literals: Uint8Array, match: number) => {
      block.push(Math.min(literals.length, 15) << 4 | Math.min(match, 15), ...more(literals.length), ...literals);
      content.push(...literals);
    };
    for (const { literals, distance: wanted, length } of sequences) {
      if (content.length + literals.length === 0) continue;
      begin(literals, length - 4);
      const distance = 1 + wanted % content.length;
      block.push(distance & 255, distance >> 8, ...more(length - 4));
      for (let i = 0; i < length; i++) content.push(content.at(-distance)!);
    }
    begin(last, 0);
    const size = [block.length & 255, block.length >> 8, 0, 0];
    const bytes = Uint8Array.of(4, 0x22, 0x4d, 0x18, 0x60, 0x40, 0, ...size, ...block, 0, 0, 0, 0);
    assert.deepEqual(whole(bytes, content.length), Uint8Array.from(content));
  }));
});
