import assert from "node:assert/strict";
import fc from "fast-check";
import { jsonFault } from "../../../src/cli/options/json_position.ts";

Deno.test("jsonFault() finds no fault in valid JSON", () => {
  fc.assert(fc.property(fc.json(), fc.constantFrom("", " ", "\n\t"), (text, space) => {
    assert.equal(jsonFault(space + text + space), undefined);
  }));
});

Deno.test("jsonFault() finds a fault at the position where JSON.parse() reports it", () => {
  fc.assert(
    fc.property(fc.json(), fc.nat(), fc.constantFrom("", "x", ",", '"', "}", "\\", "\u0001", "0"), (text, at, put) => {
      const place = at % (text.length + 1);
      const broken = text.slice(0, place) + put + text.slice(place + (put === "" ? 1 : 0));
      let parses = true;
      try {
        JSON.parse(broken);
      } catch {
        parses = false;
      }
      assert.equal(jsonFault(broken) === undefined, parses, broken);
    }),
    { numRuns: 1000 },
  );
});

Deno.test("jsonFault() counts lines and characters from 1", () => {
  assert.deepEqual(jsonFault(""), { line: 1, column: 1 });
  assert.deepEqual(jsonFault('{"a": 1,}'), { line: 1, column: 9 });
  assert.deepEqual(jsonFault('{\n  "é😀": nul\n}'), { line: 2, column: 9 });
  assert.deepEqual(jsonFault("[1 2]"), { line: 1, column: 4 });
  assert.deepEqual(jsonFault("[".repeat(1000)), { line: 1, column: 1001 });
});
