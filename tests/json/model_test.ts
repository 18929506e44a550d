import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { encodeRows } from "../../src/json/encode.ts";
import type { ArrowRows } from "../../src/types/mod.ts";
import {
  allMakers,
  anyBatch,
  bodyStrings,
  type MadeBatch,
  madeBatch,
  readFlechette,
  sliceMade,
} from "../_support/arrow/mod.ts";

function throughFlechette({ batch }: MadeBatch): ArrowRows | undefined {
  return readFlechette(arrow.tableToIPC(new arrow.Table([batch])) as Uint8Array<ArrayBuffer>);
}

function assertBodies(rows: ArrowRows, { bodies, about }: MadeBatch): void {
  const written = bodyStrings(encodeRows(rows));
  assert.equal(written.length, bodies.length, about);
  written.forEach((text, row) => assert.equal(text, bodies[row], about));
}

Deno.test("encodeRows() writes every type as the slow encoder does, whole and sliced", () => {
  for (const maker of allMakers) {
    const values = fc.sample(fc.option(maker.value, { nil: null, freq: 4 }), { numRuns: 120, seed: 42 });
    const made = madeBatch(["a"], [maker], values.map((value) => [value]));
    for (const one of [made, sliceMade(made, 1, 99), sliceMade(made, 77, 9)]) assertBodies(one.batch, one);
  }
});

Deno.test("encodeRows() writes every type, read by flechette, as the slow encoder does", () => {
  let read = 0;
  for (const maker of allMakers) {
    const values = fc.sample(fc.option(maker.value, { nil: null, freq: 4 }), { numRuns: 60, seed: 43 });
    const made = madeBatch(["a"], [maker], values.map((value) => [value]));
    const rows = throughFlechette(made);
    if (rows === undefined) continue;
    read++;
    assertBodies(rows, made);
  }
  assert.ok(read >= allMakers.length * 0.8, `flechette read ${read} of ${allMakers.length}`);
});

Deno.test("encodeRows() writes any batch as the slow encoder does", () => {
  fc.assert(fc.property(anyBatch(), (made) => assertBodies(made.batch, made)), { numRuns: 300 });
});

Deno.test("encodeRows() writes tables of several batches in row order", () => {
  fc.assert(fc.property(anyBatch({ maxRows: 6 }), fc.nat(6), (made, cut) => {
    const first = sliceMade(made, 0, Math.min(cut, made.bodies.length));
    const rest = sliceMade(made, first.bodies.length, made.bodies.length - first.bodies.length);
    const { schema } = made.batch;
    assertBodies({ schema, numRows: made.bodies.length, batches: [first.batch, rest.batch] }, made);
  }));
});
