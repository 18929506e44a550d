import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import { viewRows } from "../../../src/arrow/view.ts";
import { encodeView } from "../../../src/json/encode.ts";
import { batchOf, bodyStrings, intColumn, makeColumn } from "../../_support/arrow/mod.ts";

/** How many strings a TextEncoder encodes during `work`. */
function countingEncodings(work: () => void): number {
  const { encode } = TextEncoder.prototype;
  let count = 0;
  TextEncoder.prototype.encode = function (text) {
    count++;
    return encode.call(this, text);
  };
  try {
    work();
  } finally {
    TextEncoder.prototype.encode = encode;
  }
  return count;
}

Deno.test("keys are encoded once per batch, whatever the number of columns and pieces", () => {
  const columns = 6000;
  const fields = Array.from({ length: columns }, (_, i) => new arrow.Field(`f${i}`, new arrow.Int32()));
  const ints = Array.from({ length: columns }, (_, i) => intColumn(`c${i}`, [i, i + 1]));
  const struct = makeColumn(new arrow.Struct(fields), [{}, {}], { children: ints.map(({ data }) => data) });
  const view = viewRows(batchOf([...ints, { name: "nested", data: struct }]));
  const bodies: string[] = [];
  const made = countingEncodings(() => {
    for (let piece = 0; piece < 10; piece++) {
      bodies.push(...bodyStrings(encodeView(view, { from: piece % 2, count: 1 })));
    }
  });
  assert.ok(made <= 2 * columns + 50, `${made} keys made`);
  const [first, second] = bodies.map((body) => JSON.parse(body));
  assert.deepEqual([first.c0, first.c5999, second.nested.f0, second.nested.f5999], [0, 5999, 1, 6000]);
});
