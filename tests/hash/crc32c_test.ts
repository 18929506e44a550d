import assert from "node:assert/strict";
import fc from "fast-check";
import { crc32c } from "../../src/hash/crc32c.ts";

/** The checksum bit by bit: slow, but easy to check against the definition. */
function bitwise(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) {
    crc ^= byte;
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0x82f63b78 : crc >>> 1;
  }
  return (crc ^ 0xffffffff) >>> 0;
}

Deno.test("crc32c() returns the values of RFC 3720 appendix B.4", () => {
  assert.equal(crc32c(new Uint8Array(32)), 0x8a9136aa);
  assert.equal(crc32c(new Uint8Array(32).fill(0xff)), 0x62a8ab43);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => i)), 0x46dd794e);
  assert.equal(crc32c(Uint8Array.from({ length: 32 }, (_, i) => 31 - i)), 0x113fdb5c);
  assert.equal(crc32c(new TextEncoder().encode("123456789")), 0xe3069283);
});

Deno.test("crc32c() of no bytes returns the seed", () => {
  assert.equal(crc32c(new Uint8Array(0)), 0);
  assert.equal(crc32c(new Uint8Array(0), 0xe3069283), 0xe3069283);
});

Deno.test("crc32c() agrees with the bitwise version at every length and alignment", () => {
  const bytes = Uint8Array.from({ length: 120 }, (_, i) => (i * 167 + 13) & 0xff);
  for (let start = 0; start < 17; start++) {
    for (let length = 0; length < 100; length++) {
      const part = bytes.subarray(start, start + length);
      assert.equal(crc32c(part), bitwise(part), `start ${start}, length ${length}`);
    }
  }
});

Deno.test("crc32c() does not depend on how the bytes are split", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 300 }), fc.array(fc.nat(300), { maxLength: 5 }), (bytes, cuts) => {
    const ends = [...cuts.filter((cut) => cut <= bytes.length).sort((a, b) => a - b), bytes.length];
    let crc = 0;
    let start = 0;
    for (const end of ends) {
      crc = crc32c(bytes.subarray(start, end), crc);
      start = end;
    }
    assert.equal(crc, bitwise(bytes));
  }));
});
