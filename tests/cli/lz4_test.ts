import assert from "node:assert/strict";
import { decompressLz4 } from "../../src/cli/input/lz4.ts";

/** A frame of one compressed block. */
function frame(block: readonly number[]): Uint8Array {
  return Uint8Array.of(4, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82, block.length, 0, 0, 0, ...block, 0, 0, 0, 0);
}

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("decompressLz4() repeats a match that overlaps what it writes", () => {
  assert.equal(text(decompressLz4(frame([0x2f, 0x61, 0x62, 2, 0, 5, 0x10, 0x63]))), "ab".repeat(13) + "c");
});

Deno.test("decompressLz4() reads long literals, stored blocks and matches across blocks", () => {
  const literals = Array.from({ length: 300 }, (_, i) => 97 + (i % 26));
  const long = [0xf0, 255, 30, ...literals];
  const size = [long.length & 255, long.length >> 8, 0, 0];
  const stored = [3, 0, 0, 0x80, 0x78, 0x79, 0x7a];
  const back = [5, 0, 0, 0, 0x00, 3, 0, 0x10, 0x21];
  const bytes = Uint8Array.of(4, 0x22, 0x4d, 0x18, 0x40, 0x40, 0, ...size, ...long, ...stored, ...back, 0, 0, 0, 0);
  assert.equal(text(decompressLz4(bytes)), text(Uint8Array.from(literals)) + "xyz" + "xyzx" + "!");
});

Deno.test("decompressLz4() refuses what is cut or reaches before the beginning", () => {
  const whole = frame([0x2f, 0x61, 0x62, 2, 0, 5, 0x10, 0x63]);
  for (let end = 0; end < whole.length - 4; end++) assert.throws(() => decompressLz4(whole.subarray(0, end)));
  assert.throws(() => decompressLz4(frame([0x10, 0x61, 2, 0, 0x10, 0x61])), /cut or broken/);
  assert.throws(() => decompressLz4(frame([0x10, 0x61, 0, 0, 0x10, 0x61])), /cut or broken/);
  assert.throws(() => decompressLz4(Uint8Array.of(1, 2, 3, 4, 5, 6, 7, 8)), /magic/);
});
