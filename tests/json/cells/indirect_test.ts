import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import type { ColumnView } from "../../../src/arrow/column.ts";
import { textColumn as idColumn } from "../../../src/arrow/text_column.ts";
import { viewRows } from "../../../src/arrow/view.ts";
import { encodeView } from "../../../src/json/encode.ts";
import { batchOf, bodyStrings, makeColumn, textColumn } from "../../_support/arrow/mod.ts";

Deno.test("a piece of a dictionary column decodes only the dictionary chunks that its rows refer to", () => {
  const rows = 1000;
  const chunks = Array.from({ length: rows }, (_, i) => textColumn("a", [`value ${i}`]).data);
  const data = makeColumn(new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32()), new Array(rows).fill(0), {
    values: Int32Array.from({ length: rows }, (_, i) => rows - 1 - i),
    dictionary: new arrow.Vector(chunks),
  });
  const whole = viewRows(batchOf([{ name: "a", data }]));
  let reads = 0;
  const countingLength = (chunk: ColumnView): ColumnView =>
    Object.defineProperty({ ...chunk }, "length", { get: () => (reads++, chunk.length) });
  const [chunk] = whole.chunks;
  const column = { ...chunk!.columns[0]!, dictionary: chunk!.columns[0]!.dictionary.map(countingLength) };
  const view = { ...whole, chunks: [{ ...chunk!, columns: [column] }] };
  const bodies: string[] = [];
  for (let from = 0; from < rows; from += 10) {
    bodies.push(...bodyStrings(encodeView(view, { from, count: 10 })));
    assert.ok(idColumn(view, 0).seek(from));
  }
  assert.deepEqual(bodies, Array.from({ length: rows }, (_, i) => JSON.stringify({ a: `value ${rows - 1 - i}` })));
  // Each chunk's length once for all offsets, and a few times for its own rows.
  assert.ok(reads <= 10 * rows, `${reads} reads of lengths for ${rows} rows`);
});
