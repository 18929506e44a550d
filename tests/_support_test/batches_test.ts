import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { allMakers, anyBatch, demoBatch, demoTable } from "../_support/arrow/mod.ts";

function digest(...batches: readonly arrow.RecordBatch[]): string {
  return createHash("sha256").update(arrow.tableToIPC(new arrow.Table([...batches]))).digest("hex");
}

Deno.test("demoTable() has at least twelve column types and the same bytes every time", () => {
  const table = demoTable(1000, 300);
  assert.equal(table.numRows, 1000);
  assert.deepEqual(table.batches.map((batch) => batch.numRows), [300, 300, 300, 100]);
  assert.ok(new Set(table.schema.fields.map(({ type }) => String(type))).size >= 12);
  assert.equal(digest(...table.batches), digest(...demoTable(1000, 300).batches));
});

Deno.test("demoTable() has the same rows whatever the size of its batches", () => {
  const whole = demoBatch(100);
  const rows = demoTable(100, 33).toArray();
  new arrow.Table([whole]).toArray().forEach((row, i) => assert.equal(String(rows[i]), String(row)));
});

Deno.test("anyBatch() makes batches that apache-arrow accepts, with JSON for each row", () => {
  fc.assert(
    fc.property(anyBatch(), ({ batch, bodies }) => {
      assert.equal(batch.numRows, bodies.length);
      bodies.forEach((text) => JSON.parse(text));
    }),
    { numRuns: 50 },
  );
});

Deno.test("allMakers has one of every type that apache-arrow has", () => {
  const seen = new Set(allMakers.map(({ type }) => type.typeId as number));
  for (const id of [-1, ...Array.from({ length: 21 }, (_, i) => i + 1), 23, 24]) assert.ok(seen.has(id), `type ${id}`);
});
