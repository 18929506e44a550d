import assert from "node:assert/strict";
import fc from "fast-check";
import { viewRows } from "../../src/arrow/view.ts";
import { encodeSteps, encodeView } from "../../src/json/encode.ts";
import type { EncodedPart } from "../../src/json/row_encoder.ts";
import { type Steps, toEnd } from "../../src/util/steps.ts";
import { batchOf, bodyStrings, tableOf, textColumn } from "../_support/arrow/mod.ts";

Deno.test("encodeSteps() with any step size writes what encodeView() writes, at most one step per row", () => {
  const strings = fc.array(fc.array(fc.string({ maxLength: 30 }), { maxLength: 20 }), { minLength: 1, maxLength: 4 });
  fc.assert(
    fc.property(
      strings,
      fc.integer({ min: 1, max: 200 }),
      fc.option(fc.nat(300), { nil: undefined }),
      (batches, size, most) => {
        const view = viewRows(tableOf(...batches.map((rows) => batchOf([textColumn("t", rows)], rows.length))));
        const options = most === undefined ? {} : { maxBytes: most };
        const whole = encodeView(view, options);
        const steps = encodeSteps(view, options, size);
        let count = 0;
        let step = steps.next();
        while (!step.done) {
          count++;
          step = steps.next();
        }
        const { bytes, offsets, rows, crc32c } = step.value;
        assert.deepEqual([bytes, offsets, rows, crc32c], [whole.bytes, whole.offsets, whole.rows, whole.crc32c]);
        assert.ok(count <= Math.max(whole.rows, 1), `${count} steps`);
        if (size === 1) assert.ok(count >= whole.rows - 1, `${count} steps for ${whole.rows} rows`);
      },
    ),
  );
});

Deno.test("encodeSteps() keeps two encodings whose steps alternate apart", () => {
  const views = ["a", "b"].map((text) => {
    return viewRows(batchOf([textColumn("t", Array.from({ length: 50 }, (_, i) => `${text}${i}`))], 50));
  });
  const [one, two] = views.map((view) => encodeSteps(view, {}, 40)) as [Steps<EncodedPart>, Steps<EncodedPart>];
  for (let turn = 0; turn < 5; turn++) {
    assert.ok(!one.next().done && !two.next().done);
  }
  assert.deepEqual([toEnd(one), toEnd(two)].map(bodyStrings), views.map((view) => bodyStrings(encodeView(view))));
});
