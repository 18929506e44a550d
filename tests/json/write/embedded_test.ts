import assert from "node:assert/strict";
import fc from "fast-check";
import { isJson, isJsonNumber } from "../../../src/json/write/embedded.ts";

const encoder = new TextEncoder();

/** Bytes surrounded by other bytes, which must not be read. */
function padded(text: string | Uint8Array): [Uint8Array, number, number] {
  const bytes = typeof text === "string" ? encoder.encode(text) : text;
  const all = new Uint8Array(bytes.length + 4).fill(0x31);
  all.set(bytes, 2);
  return [all, 2, 2 + bytes.length];
}

function parses(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

const fragments = fc.constantFrom(
  ...'{}[],:"\\ \t\n0123456789-+.eEutrfalsn/',
  "true",
  "false",
  "null",
  '"a"',
  '"\\u00e9"',
  "\u20ac",
  "\u0001",
  "1.5e-3",
  '{"a":',
  "\ufeff",
  "\u00a0",
  "NaN",
);

Deno.test("isJson() accepts what JSON.parse() accepts, and nothing else", () => {
  fc.assert(
    fc.property(fc.array(fragments, { maxLength: 8 }), (parts) => {
      const text = parts.join("");
      assert.equal(isJson(...padded(text)), parses(text), JSON.stringify(text));
    }),
    { numRuns: 30_000 },
  );
});

Deno.test("isJson() accepts any value that JSON.stringify() writes, and refuses it truncated or extended", () => {
  fc.assert(
    fc.property(fc.jsonValue(), fc.nat(3), fc.nat(), (value, indent, seed) => {
      const text = JSON.stringify(value, null, indent);
      assert.ok(isJson(...padded(text)));
      const cut = text.slice(0, seed % text.length);
      assert.equal(isJson(...padded(cut)), parses(cut));
      for (const more of ["}", "]", ",", "1", '"']) assert.equal(isJson(...padded(text + more)), parses(text + more));
    }),
    { numRuns: 1000 },
  );
});

Deno.test("isJson() refuses a byte order mark and invalid UTF-8", () => {
  assert.ok(!isJson(...padded("\ufeff{}")));
  assert.ok(isJson(...padded('"\ufeff"')));
  for (
    const bytes of [[0x22, 0xff, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xc3, 0x22], [0xff], [0xc2, 0xa0, 0x31]]
  ) {
    assert.ok(!isJson(...padded(Uint8Array.from(bytes))), String(bytes));
  }
});

Deno.test("isJson() accepts any depth without recursion", () => {
  const depth = 1_000_000;
  assert.ok(isJson(...padded("[".repeat(depth) + "]".repeat(depth))));
  assert.ok(!isJson(...padded("[".repeat(depth))));
  assert.ok(!isJson(...padded("[".repeat(depth) + "]".repeat(depth - 1) + "}")));
  assert.ok(isJson(...padded('{"a":'.repeat(1000) + "1" + "}".repeat(1000))));
});

Deno.test("isJsonNumber() accepts exactly a JSON number", () => {
  const number = /^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$/;
  const parts = fc.array(fc.constantFrom(..."0123456789-+.eE ", "NaN"), { maxLength: 7 });
  fc.assert(
    fc.property(parts, (all) => {
      const text = all.join("");
      assert.equal(isJsonNumber(...padded(text)), number.test(text), JSON.stringify(text));
    }),
    { numRuns: 20_000 },
  );
  for (const good of ["0", "-0", "1.50", "1E+05", "1e400", "9".repeat(100)]) assert.ok(isJsonNumber(...padded(good)));
});
