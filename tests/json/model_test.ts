import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { encodeRows } from "../../src/json/encode.ts";
import type { ArrowRows } from "../../src/types/mod.ts";
import {
  allMakers,
  anyBatch,
  bodyTexts,
  type MadeBatch,
  madeBatch,
  readFlechette,
  sliceMade,
} from "../_support/arrow/mod.ts";

function throughFlechette({ batch }: MadeBatch): ArrowRows | undefined {
  return readFlechette(arrow.tableToIPC(new arrow.Table([batch])) as Uint8Array<ArrayBuffer>);
}

function assertTexts(rows: ArrowRows, { texts, about }: MadeBatch): void {
  const written = bodyTexts(encodeRows(rows));
  assert.equal(written.length, texts.length, about);
  written.forEach((text, row) => assert.equal(text, texts[row], about));
}

Deno.test("encodeRows() writes every type as a slow encoder does, whole and sliced", () => {
  for (const maker of allMakers) {
    const values = fc.sample(fc.option(maker.value, { nil: null, freq: 4 }), { numRuns: 120, seed: 42 });
    const made = madeBatch(["a"], [maker], values.map((value) => [value]));
    for (const one of [made, sliceMade(made, 1, 99), sliceMade(made, 77, 9)]) assertTexts(one.batch, one);
  }
});

Deno.test("encodeRows() writes every type, read by flechette, as a slow encoder does", () => {
  let read = 0;
  for (const maker of allMakers) {
    const values = fc.sample(fc.option(maker.value, { nil: null, freq: 4 }), { numRuns: 60, seed: 43 });
    const made = madeBatch(["a"], [maker], values.map((value) => [value]));
    const rows = throughFlechette(made);
    if (rows === undefined) continue;
    read++;
    assertTexts(rows, made);
  }
  assert.ok(read >= allMakers.length * 0.8, `flechette read ${read} of ${allMakers.length}`);
});

Deno.test("encodeRows() writes any batch as a slow encoder does", () => {
  fc.assert(fc.property(anyBatch(), (made) => assertTexts(made.batch, made)), { numRuns: 300 });
});

Deno.test("encodeRows() writes tables of several batches in row order", () => {
  fc.assert(fc.property(anyBatch({ maxRows: 6 }), fc.nat(6), (made, cut) => {
    const first = sliceMade(made, 0, Math.min(cut, made.texts.length));
    const rest = sliceMade(made, first.texts.length, made.texts.length - first.texts.length);
    const { schema } = made.batch;
    assertTexts({ schema, numRows: made.texts.length, batches: [first.batch, rest.batch] }, made);
  }));
});
