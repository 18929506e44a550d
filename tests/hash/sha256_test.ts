import assert from "node:assert/strict";
import { createHash, hash } from "node:crypto";
import fc from "fast-check";
import { hashAfter, useOwnSha256 } from "../../src/hash/sha256.ts";
import * as bun from "../../src/runtime/bun.ts";
import * as node from "../../src/runtime/node.ts";

const WAYS = { "@noble/hashes": undefined, "the runtime": (bytes: Uint8Array) => hash("sha256", bytes, "hex") };

for (const [name, own] of Object.entries(WAYS)) {
  Deno.test(`hashAfter() by ${name} writes the SHA-256 of prefix and id in hex, and nothing around it`, () => {
    useOwnSha256(own);
    try {
      const bytes = fc.uint8Array({ maxLength: 200 });
      fc.assert(fc.property(bytes, fc.array(bytes, { minLength: 1, maxLength: 4 }), (prefix, ids) => {
        const { rest, write } = hashAfter(prefix);
        assert.deepEqual(rest, prefix.subarray(prefix.length - rest.length));
        for (const id of ids) {
          const target = new Uint8Array(66);
          write(new Uint8Array([...rest, ...id]), target, 1);
          const expected = createHash("sha256").update(prefix).update(id).digest("hex");
          assert.equal(new TextDecoder().decode(target), `\0${expected}\0`);
        }
      }));
    } finally {
      useOwnSha256(undefined);
    }
  });
}

for (const [entry, { connect }] of Object.entries({ "./node": node, "./bun": bun })) {
  Deno.test(`connect() of ${entry} hashes ids with the runtime's SHA-256`, async () => {
    const prefix = new Uint8Array(100);
    assert.equal(hashAfter(prefix).rest.length, 36, "by @noble/hashes, behind a whole block");
    try {
      await assert.rejects(connect({ url: "nats://127.0.0.1:1" }), { code: "connection.refused" });
      assert.equal(hashAfter(prefix).rest.length, 100);
    } finally {
      useOwnSha256(undefined);
    }
  });
}
