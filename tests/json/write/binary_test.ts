import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { putBase64, putUuid } from "../../../src/json/write/binary.ts";
import { written } from "../../_support/scratch_output.ts";

function text(bytes: Uint8Array, before: number): string {
  const padded = new Uint8Array(before + bytes.length + 5).fill(0xff);
  padded.set(bytes, before);
  return written((p) => putBase64(p, padded, new DataView(padded.buffer), before, before + bytes.length));
}

Deno.test("putBase64() writes bytes of any length as Buffer does", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 80 }), fc.nat(5), (bytes, before) => {
      assert.equal(text(bytes, before), `"${Buffer.from(bytes).toString("base64")}"`);
    }),
    { numRuns: 3000 },
  );
});

Deno.test("putBase64() writes more bytes than the scratch has room for", () => {
  for (const length of [24_576, 24_577, 24_578, 500_000, 500_001]) {
    const bytes = Uint8Array.from({ length }, (_, n) => n * 7 + (n >> 8));
    assert.equal(text(bytes, 1), `"${Buffer.from(bytes).toString("base64")}"`);
  }
});

Deno.test("putUuid() writes sixteen bytes in the notation of RFC 9562", () => {
  const bytes = Uint8Array.of(
    9,
    0xf8,
    0x1d,
    0x4f,
    0xae,
    0x7d,
    0xec,
    0x11,
    0xd0,
    0xa7,
    0x65,
    0,
    0xa0,
    0xc9,
    0x1e,
    0x6b,
    0xf6,
  );
  assert.equal(written((p) => putUuid(p, bytes, 1)), '"f81d4fae-7dec-11d0-a765-00a0c91e6bf6"');
});
