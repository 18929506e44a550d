import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import fc from "fast-check";
import { EncodeError } from "../../src/errors/mod.ts";
import { idHasher, messageId, messageIdentity } from "../../src/hash/message_id.ts";
import type { IdScope } from "../../src/types/mod.ts";
import { printSkip } from "../_support/skip.ts";

type Vector = IdScope & { readonly eventId: string; readonly identity: string; readonly id: string };

const vectors: Vector[] = JSON.parse(
  Deno.readTextFileSync(new URL("../_testdata/vectors/message_ids.json", import.meta.url)),
);
const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
const scope: IdScope = { tenant: "t", pipeline: "p", sinkConnection: "c", stream: "S", subject: "s.r", resource: "r" };

/** Go's escaping, from JSON.stringify: it differs in five characters. Surrogates are not covered. */
function goString(text: string): string {
  return JSON.stringify(text).replace(
    /[<>&\u2028\u2029]/g,
    (char) => "\\u" + char.charCodeAt(0).toString(16).padStart(4, "0"),
  );
}

function goArray(strings: readonly string[]): string {
  return `[${strings.map(goString).join(",")}]`;
}

function identityOf(of: IdScope, eventId: string): string {
  const namespace = goArray([of.tenant, of.pipeline, of.sinkConnection]);
  return goArray([namespace, of.stream, of.subject, of.resource, eventId]);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

function hashed(hasher: ReturnType<typeof idHasher>, bytes: Uint8Array): string | false {
  const target = new Uint8Array(66).fill(1);
  const written = hasher.write(bytes, 0, bytes.length, target, 1);
  assert.equal(target[0], 1);
  assert.equal(target[65], 1);
  return written && decoder.decode(target.subarray(1, 65));
}

const text = fc.string({ unit: "grapheme" });
const anyText = fc.oneof(
  text,
  fc.string({ unit: "binary" }),
  fc.string({
    unit: fc.constantFrom(..."\"\\<>&/'\b\f\n\r\t\0\u001f\u007f\u0080\u2027\u2028\u2029\u202a\ufeff\ufffd\u{10ffff}"),
  }),
);
const anyScope: fc.Arbitrary<IdScope> = fc.record({
  tenant: anyText,
  pipeline: anyText,
  sinkConnection: anyText,
  stream: text,
  subject: text,
  resource: anyText,
});

Deno.test("messageIdentity() and messageId() return the vectors' values", () => {
  assert.ok(vectors.length > 5);
  for (const vector of vectors) {
    assert.equal(messageIdentity(vector, vector.eventId), vector.identity);
    assert.equal(messageId(vector, vector.eventId), vector.id);
    assert.equal(hashed(idHasher(vector), encoder.encode(vector.eventId)), vector.id);
  }
});

Deno.test("messageIdentity() writes what Go's encoding/json writes", () => {
  fc.assert(fc.property(anyScope, anyText, (of, eventId) => {
    assert.equal(messageIdentity(of, eventId), identityOf(of, eventId));
  }));
});

Deno.test("messageId() is the SHA-256 of the identity", () => {
  fc.assert(fc.property(anyScope, anyText, (of, eventId) => {
    assert.equal(messageId(of, eventId), hashOf(identityOf(of, eventId)));
  }));
});

Deno.test("messageId() agrees with @std/crypto", async (t) => {
  let std: { crypto: { subtle: { digestSync(name: string, data: Uint8Array): ArrayBuffer } } };
  try {
    // The name is not a literal, so type checking does not need the package.
    std = await import(["@std", "crypto"].join("/"));
  } catch (error) {
    printSkip("the comparison with @std/crypto", String(error).split("\n")[0]!);
    return;
  }
  await t.step("on the vectors", () => {
    for (const { identity, id } of vectors) {
      const digest = new Uint8Array(std.crypto.subtle.digestSync("SHA-256", encoder.encode(identity)));
      assert.equal(Array.from(digest, (byte) => byte.toString(16).padStart(2, "0")).join(""), id);
    }
  });
});

Deno.test("messageId() throws on lone surrogates, since two of them would give the same id", () => {
  for (const bad of ["\ud800", "a\udc00b", "\udc00\ud800", "caf\u00e9\ud800"]) {
    assert.throws(() => messageId(scope, bad), (error) => error instanceof EncodeError && error.code === "encode.id");
    assert.throws(
      () => idHasher({ ...scope, resource: bad }),
      (error) => error instanceof EncodeError && error.code === "encode.id",
    );
  }
});

Deno.test("idHasher() writes the same ids as messageId() for rows of any length, one after another", () => {
  fc.assert(fc.property(anyScope, fc.array(anyText, { maxLength: 5 }), (of, eventIds) => {
    const hasher = idHasher(of);
    for (const eventId of eventIds) {
      assert.equal(hashed(hasher, encoder.encode(eventId)), hashOf(identityOf(of, eventId)));
    }
  }));
});

Deno.test("idHasher() agrees with messageId() at every length of prefix and event id around the block size", () => {
  for (let prefix = 0; prefix < 70; prefix++) {
    const of = { ...scope, resource: "r".repeat(prefix) };
    const hasher = idHasher(of);
    for (const length of [0, 1, 36, 54, 55, 56, 57, 62, 63, 64, 65, 130, 1500]) {
      const eventId = "e".repeat(length);
      assert.equal(hashed(hasher, encoder.encode(eventId)), hashOf(identityOf(of, eventId)));
    }
  }
});

Deno.test("idHasher() reads only the bytes of the event id", () => {
  const bytes = encoder.encode("xxevt-1yy");
  const target = new Uint8Array(64);
  assert.ok(idHasher(scope).write(bytes, 2, 7, target, 0));
  assert.equal(decoder.decode(target), messageId(scope, "evt-1"));
});

Deno.test("idHasher() returns false and writes nothing when the event id is not valid UTF-8", () => {
  const fatal = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });
  const byte = fc.constantFrom(
    0x61,
    0x80,
    0x8f,
    0x90,
    0x9f,
    0xa0,
    0xa8,
    0xbf,
    0xc0,
    0xc1,
    0xc2,
    0xdf,
    0xe0,
    0xe2,
    0xed,
    0xef,
    0xf0,
    0xf4,
    0xf5,
    0xff,
  );
  const hasher = idHasher(scope);
  const target = new Uint8Array(64);
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 6 }), (list) => {
      const bytes = Uint8Array.from(list);
      let valid: string | undefined;
      try {
        valid = fatal.decode(bytes);
      } catch {
        valid = undefined;
      }
      target.fill(0);
      assert.equal(hasher.write(bytes, 0, bytes.length, target, 0), valid !== undefined);
      assert.equal(decoder.decode(target), valid === undefined ? "\0".repeat(64) : messageId(scope, valid));
    }),
    { numRuns: 2000 },
  );
});

Deno.test("idHasher() does not read past the end of a truncated UTF-8 sequence", () => {
  const bytes = encoder.encode("\u20ac");
  assert.equal(idHasher(scope).write(bytes, 0, 2, new Uint8Array(64), 0), false);
  assert.equal(idHasher(scope).write(bytes, 0, 1, new Uint8Array(64), 0), false);
});
