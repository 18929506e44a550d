import assert from "node:assert/strict";
import * as flechette from "@uwdata/flechette";
import { RecordBatchReader, tableFromArrays, tableFromIPC, tableToIPC } from "apache-arrow";
import { sliceRows } from "../../src/arrow/slice.ts";
import { batchesOf } from "../../src/lifecycle/batches_of.ts";
import type { ArrowRows, RowBatch } from "../../src/types/mod.ts";

const table = tableFromArrays({ id: Int32Array.of(1, 2, 3) });
const bytes = tableToIPC(table, "stream");

async function all(batches: AsyncIterable<RowBatch>): Promise<RowBatch[]> {
  return await Array.fromAsync(batches);
}

Deno.test("batchesOf() yields rows passed alone as one batch, although a table is iterable", async () => {
  const [window] = sliceRows(table, { batchMaxRows: 2 });
  for (const rows of [table, table.batches[0]!, tableFromIPC(bytes), flechette.tableFromIPC(bytes), window!]) {
    assert.deepEqual(await all(batchesOf("orders", rows)), [{ resource: "orders", rows }]);
  }
});

Deno.test("batchesOf() yields each element of a sequence or reader as a batch", async () => {
  assert.deepEqual(await all(batchesOf("orders", [])), []);
  const twice = await all(batchesOf("orders", [table, table], "update"));
  assert.deepEqual(twice, [table, table].map((rows) => ({ resource: "orders", rows, operations: "update" })));
  const file = new Blob([bytes.slice()]).stream();
  for (const reader of [RecordBatchReader.from(bytes), await RecordBatchReader.from(file)]) {
    assert.deepEqual((await all(batchesOf("orders", reader))).map(({ rows }) => rows.numRows), [3]);
  }
});

Deno.test("batchesOf() throws on what is neither rows nor a sequence of rows", async () => {
  for (const rows of [Promise.resolve(table), "abc", "", 5, null, undefined, {}, { schema: table.schema }, () => {}]) {
    await assert.rejects(all(batchesOf("orders", rows as unknown as ArrowRows)), {
      code: "config.type",
      field: "rows",
    });
  }
  await assert.rejects(all(batchesOf("orders", Promise.resolve(table) as unknown as ArrowRows)), {
    message: "rows must be rows or a sequence of rows: await the promise: received a Promise",
  });
});
