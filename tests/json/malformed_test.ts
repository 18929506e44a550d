import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { isJetrowError } from "../../src/errors/mod.ts";
import { encodeRows } from "../../src/json/encode.ts";
import type { ArrowRows, JsonForms } from "../../src/types/mod.ts";
import { allMakers, anyMaker, bodyStrings, madeBatch, type Maker, readFlechette } from "../_support/arrow/mod.ts";
import { measure, relocate } from "../_support/relocate.ts";
import { readGolden } from "../_support/testdata.ts";

/** Forms that together use every cell of another form. */
const FORMS: readonly JsonForms[] = [
  {
    int64: "safe",
    decimal: "string",
    nonFinite: "null",
    naive: "Z",
    infinity: "duckdb",
    nulls: "omit",
    binary: "base64url",
  },
  { int64: "string", timestamp: "ns", binary: "hex" },
];

const RUNS = Number(Deno.env.get("JETROW_FUZZ_RUNS") ?? 400);

/** One fault; `where` selects a buffer or node, and `at` the index within it. */
type Damage =
  | { readonly kind: "flip"; readonly where: number; readonly at: number; readonly mask: number }
  | { readonly kind: "word"; readonly where: number; readonly at: number; readonly word: number }
  | { readonly kind: "cut"; readonly where: number; readonly to: number }
  | { readonly kind: "length"; readonly where: number; readonly by: number };

const where = fc.nat(1_000_000);
const anyDamage: fc.Arbitrary<Damage> = fc.oneof(
  fc.record({ kind: fc.constant("flip" as const), where, at: where, mask: fc.integer({ min: 1, max: 255 }) }),
  fc.record({
    kind: fc.constant("word" as const),
    where,
    at: where,
    word: fc.constantFrom(-1, 0, 1, 7, 64, 4096, 0x7fffffff, -0x80000000, 0x10000000),
  }),
  fc.record({ kind: fc.constant("cut" as const), where, to: where }),
  fc.record({ kind: fc.constant("length" as const), where, by: fc.constantFrom(-1, 1, 2, 8, 1000) }),
);

function damaged(rows: ArrowRows, margin: number, damages: readonly Damage[]): ArrowRows {
  const { buffers, nodes } = measure(rows);
  return relocate(rows, margin, (bytes, index) => {
    let cutTo = bytes.length;
    for (const damage of damages) {
      if (damage.kind === "length" || damage.where % buffers !== index || bytes.length === 0) continue;
      if (damage.kind === "cut") cutTo = damage.to % bytes.length;
      else if (damage.kind === "flip") bytes[damage.at % bytes.length]! ^= damage.mask;
      else if (bytes.length >= 4) {
        new DataView(bytes.buffer, bytes.byteOffset + (damage.at % (bytes.length >> 2)) * 4).setInt32(
          0,
          damage.word,
          true,
        );
      }
    }
    return { cutTo };
  }, (length, index) => {
    const changes = damages.filter((damage) => damage.kind === "length" && damage.where % nodes === index);
    return changes.reduce((sum, damage) => Math.max(0, sum + (damage as { by: number }).by), length);
  });
}

/** The rows' JSON, or the error; anything but an EncodeError is thrown. */
function outcome(rows: ArrowRows, json: JsonForms = {}): string {
  try {
    const bodies = bodyStrings(encodeRows(rows, { json }));
    bodies.forEach((text) => JSON.parse(text));
    return bodies.join("\n");
  } catch (error) {
    if (isJetrowError(error) && error.name === "EncodeError") return `${error.code} ${error.message}`;
    throw error;
  }
}

/** Asserts that the outcome does not depend on the bytes around the buffers: none of them was read. */
function assertContained(rows: ArrowRows, damages: readonly Damage[], json?: JsonForms): void {
  const first = outcome(damaged(rows, 0x41, damages), json);
  assert.equal(first, outcome(damaged(rows, 0x7e, damages), json));
  assert.equal(first, outcome(damaged(rows, 0x00, damages), json));
}

function batchOf(maker: Maker): fc.Arbitrary<arrow.RecordBatch> {
  const values = fc.array(fc.option(maker.value, { nil: null, freq: 4 }), { minLength: 1, maxLength: 6 });
  return values.map((column) => madeBatch(["a"], [maker], column.map((value) => [value])).batch);
}

/** The same rows read by flechette; rows that it cannot read are returned unchanged. */
function throughFlechette(batch: arrow.RecordBatch): ArrowRows {
  return readFlechette(arrow.tableToIPC(new arrow.Table([batch])) as Uint8Array<ArrayBuffer>) ?? batch;
}

function check(rows: fc.Arbitrary<ArrowRows>, numRuns: number): void {
  const damages = fc.array(anyDamage, { minLength: 1, maxLength: 3 });
  fc.assert(fc.property(rows, damages, fc.constantFrom({}, ...FORMS), assertContained), { numRuns });
}

Deno.test("relocate() keeps rows without damage unchanged", () => {
  for (const [name, rows] of Object.entries(undamaged())) {
    assert.equal(outcome(damaged(rows, 0x41, [])), outcome(rows), name);
    assert.ok(!outcome(rows).startsWith("encode."), outcome(rows));
  }
});

function undamaged(): Record<string, ArrowRows> {
  const batch = fc.sample(batchOf(allMakers.at(-1)!), { numRuns: 1, seed: 1 })[0]!;
  return { "apache-arrow": batch, flechette: throughFlechette(batch), ...onlyFlechette };
}

const onlyFlechette: Record<string, ArrowRows> = Object.fromEntries(
  ["generated_list_view", "generated_run_end_encoded"].map((name) => [
    name,
    readFlechette(readGolden(`${name}.stream`))!,
  ]),
);

Deno.test("encodeRows() of damaged apache-arrow columns throws or writes JSON from their own bytes", () => {
  const each = Math.ceil(2 * RUNS / allMakers.length);
  for (const maker of allMakers) check(batchOf(maker), each);
});

Deno.test("encodeRows() of damaged flechette columns throws or writes JSON from their own bytes", () => {
  const each = Math.ceil(2 * RUNS / allMakers.length);
  for (const maker of allMakers) check(batchOf(maker).map(throughFlechette), each);
});

Deno.test("encodeRows() of damaged nested columns throws or writes JSON from their own bytes", () => {
  check(anyMaker.chain(batchOf), RUNS);
  check(anyMaker.chain(batchOf).map(throughFlechette), RUNS);
});

Deno.test("encodeRows() of damaged list views and run-ends throws or writes JSON from their own bytes", () => {
  for (const rows of Object.values(onlyFlechette)) check(fc.constant(rows), Math.ceil(RUNS / 4));
});
