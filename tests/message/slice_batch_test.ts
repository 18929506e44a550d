import assert from "node:assert/strict";
import fc from "fast-check";
import { ConfigError, EncodeError } from "../../src/errors/mod.ts";
import { encodeRows } from "../../src/json/encode.ts";
import { sliceBatch } from "../../src/message/slice_batch.ts";
import type { Operation, RowBatch } from "../../src/types/mod.ts";
import { bodyStrings, numberBatch, tableOf } from "../_support/arrow/mod.ts";

const WORDS: readonly Operation[] = ["insert", "update", "delete"];

/** What would be published: the body and operation of each row. */
function effects(batches: Iterable<RowBatch>): string[] {
  return [...batches].flatMap(({ rows, operations, only }) => {
    const strings = bodyStrings(encodeRows(rows));
    const all = strings.map((text, row) => `${text} ${typeof operations === "object" ? operations[row] : operations}`);
    return only === undefined ? all : only.map((row) => all[row]!);
  });
}

Deno.test("sliceBatch() keeps resource, operations and rows together", () => {
  const batch: RowBatch = {
    resource: "r",
    rows: numberBatch(5),
    operations: ["insert", "update", "delete", "insert", "update"],
  };
  const pieces = [...sliceBatch(batch, { batchMaxRows: 2 })];
  assert.deepEqual(pieces.map(({ resource }) => resource), ["r", "r", "r"]);
  assert.deepEqual(pieces.map(({ operations }) => operations), [["insert", "update"], ["delete", "insert"], [
    "update",
  ]]);
  assert.deepEqual(effects(pieces), effects([batch]));
});

Deno.test("sliceBatch() passes a single operation, or none, on unchanged", () => {
  const [first] = sliceBatch({ resource: "r", rows: numberBatch(3), operations: "delete" }, { batchMaxRows: 1 });
  assert.equal(first?.operations, "delete");
  assert.ok(!Object.hasOwn([...sliceBatch({ resource: "r", rows: numberBatch(3) })][0]!, "operations"));
});

Deno.test("sliceBatch() gives the pieces of a selection their own row numbers", () => {
  const batch: RowBatch = { resource: "r", rows: tableOf(numberBatch(4), numberBatch(4, 4)), only: [1, 3, 6, 7] };
  const pieces = [...sliceBatch(batch)];
  assert.deepEqual(pieces.map(({ only, rows }) => [only, rows.numRows]), [[[0, 2], 3], [[0, 1], 2]]);
  assert.deepEqual(effects(pieces), effects([batch]));
});

Deno.test("sliceBatch() publishes what the whole batch would, whatever the limits", () => {
  const row = fc.record({ operation: fc.constantFrom(...WORDS), chosen: fc.boolean() });
  const anyRows = fc.array(fc.array(row, { maxLength: 9 }), { minLength: 1, maxLength: 3 });
  fc.assert(fc.property(anyRows, fc.boolean(), fc.integer({ min: 1, max: 10 }), (chunks, selected, batchMaxRows) => {
    const all = chunks.flat();
    const starts = chunks.map((_, c) => chunks.slice(0, c).flat().length);
    const batch: RowBatch = {
      resource: "r",
      rows: tableOf(...chunks.map((chunk, c) => numberBatch(chunk.length, starts[c]))),
      operations: all.map(({ operation }) => operation),
      ...(selected ? { only: all.flatMap(({ chosen }, at) => chosen ? [at] : []) } : {}),
    };
    const pieces = [...sliceBatch(batch, { batchMaxRows })];
    assert.deepEqual(effects(pieces), effects([batch]));
    assert.ok(pieces.every(({ rows, only }) => (only?.length ?? rows.numRows) <= batchMaxRows));
  }));
});

Deno.test("sliceBatch() refuses limits, selections and operations before it yields a piece", () => {
  const rows = numberBatch(3);
  assert.throws(() => sliceBatch({ resource: "r", rows }, { batchMaxRows: 0 }), ConfigError);
  assert.throws(() => sliceBatch({ resource: "r", rows, only: [1, 1] }), ConfigError);
  assert.throws(() => sliceBatch({ resource: "r", rows, only: [3] }), ConfigError);
  assert.throws(
    () => sliceBatch({ resource: "r", rows, operations: ["insert"] }),
    (error) => error instanceof EncodeError && error.code === "encode.operations",
  );
});
