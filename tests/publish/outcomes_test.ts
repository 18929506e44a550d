import assert from "node:assert/strict";
import fc from "fast-check";
import { overallOutcome, rowOutcomes } from "../../src/publish/outcomes.ts";

Deno.test("rowOutcomes() adds up, and names every selected row and no other", () => {
  fc.assert(fc.property(
    fc.array(fc.tuple(fc.integer({ min: 0, max: 4 }), fc.integer({ min: 1, max: 5 }))),
    fc.boolean(),
    (rows, selected) => {
      const codes = Uint8Array.from(rows, ([code]) => code);
      let number = -1;
      const only = selected ? rows.map(([, gap]) => number += gap) : undefined;
      const outcomes = rowOutcomes(codes, only);
      assert.equal(Object.values(outcomes.counts).reduce((sum, count) => sum + count, 0), rows.length);
      const numbers = only ?? rows.map((_, i) => i);
      const unsettled = numbers.filter((row) => !["acked", "duplicate"].includes(outcomes.at(row)));
      assert.deepEqual(outcomes.unsettled(), unsettled);
      for (const row of [-1, 0.5, (numbers.at(-1) ?? -1) + 1]) assert.throws(() => outcomes.at(row), RangeError);
      assert.equal(overallOutcome(outcomes, true), outcomes.counts.unknown > 0 ? "uncertain" : "partial");
      assert.equal(overallOutcome(outcomes, false), "none");
    },
  ));
});
