import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { encodeRows } from "../../src/json/encode.ts";
import { EncodeError } from "../../src/errors/mod.ts";
import type { JsonForms, JsonValueForms } from "../../src/types/mod.ts";
import { allMakers, anyMaker, bodies, bodyStrings, type MadeBatch, madeBatch } from "../_support/arrow/mod.ts";
import { DigitsLost, rowInForms } from "../_support/arrow/plain_forms.ts";
import { fuzzCases, fuzzCasesIn } from "../_support/testdata.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

const MORE = Deno.env.get("JETROW_FUZZ_FILES");

const WORDS = {
  int64: ["number", "string", "safe"],
  decimal: ["number", "string"],
  nonFinite: ["string", "null"],
  timestamp: ["iso", "s", "ms", "us", "ns"],
  naive: ["none", "Z"],
  infinity: ["extremes", "duckdb"],
  nulls: ["keep", "omit"],
  binary: ["base64", "base64url", "hex"],
} as const;

const anyForms = fc.record(
  Object.fromEntries(Object.entries(WORDS).map(([name, words]) => [name, fc.constantFrom(...words)])),
  { requiredKeys: [] },
) as fc.Arbitrary<JsonValueForms>;

/** Forms for all columns and for some. */
function anyJson(names: readonly string[]): fc.Arbitrary<JsonForms> {
  return fc.tuple(anyForms, fc.array(fc.tuple(fc.constantFrom("", ...names), anyForms), { maxLength: 2 })).map(
    ([all, columns]) => ({
      ...all,
      columns: Object.fromEntries(columns.filter(([name]) => names.includes(name))),
    }),
  );
}

/** Compares the rows of a batch with the slow version, for rows whose timestamps fit the unit. */
function assertForms(batch: arrow.RecordBatch, bodies: readonly string[], json: JsonForms, about: string): void {
  const expected = bodies.map((text, row) => {
    try {
      return rowInForms(batch.schema, batch.data, row, text, json);
    } catch (error) {
      if (error instanceof DigitsLost) return undefined;
      throw error;
    }
  });
  const lost = expected.indexOf(undefined);
  if (lost < 0) {
    const written = bodyStrings(encodeRows(batch, { json }));
    assert.deepEqual(written, expected, `${JSON.stringify(json)} ${about}`);
    for (const text of written) JSON.parse(text);
  } else {
    assert.throws(
      () => encodeRows(batch, { json }),
      (error: unknown) => error instanceof EncodeError && error.code === "encode.value" && error.row === lost,
      `${JSON.stringify(json)} ${about}`,
    );
  }
  expected.forEach((text, row) => {
    if (lost < 0 && row !== 1 && row !== expected.length - 1) return;
    if (text !== undefined) {
      assert.deepEqual(bodyStrings(encodeRows(batch.slice(row, row + 1), { json })), [text], about);
    }
  });
}

function assertMade({ batch, bodies, about }: MadeBatch, json: JsonForms): void {
  assertForms(batch, bodies, json, about);
}

Deno.test("encodeRows() writes every type in every form as the slow version does", () => {
  for (const maker of allMakers) {
    const values = fc.sample(fc.option(maker.value, { nil: null, freq: 4 }), { numRuns: 40, seed: 44 });
    const made = madeBatch(["a"], [maker], values.map((value) => [value]));
    for (const [name, words] of Object.entries(WORDS)) {
      for (const word of words) {
        assertMade(made, { [name]: word });
        assertMade(made, { columns: { a: { [name]: word } } });
      }
    }
  }
});

Deno.test("encodeRows() writes any batch in any forms as the slow version does", () => {
  const names = ["a", "__proto__", "", 'a"b'];
  const cases = fc.array(anyMaker, { minLength: 1, maxLength: 4 }).chain((makers) => {
    const row = fc.tuple(...makers.map((maker) => fc.option(maker.value, { nil: null, freq: 4 })));
    const rows = fc.array(row, { minLength: 1, maxLength: 8 });
    return rows.chain((rows) =>
      anyJson(names.slice(0, makers.length)).map((json) => ({ made: madeBatch(names, makers, rows), json }))
    );
  });
  fc.assert(fc.property(cases, ({ made, json }) => assertMade(made, json)), { numRuns: 400 });
});

const accepted = [...fuzzCases(), ...(MORE === undefined ? [] : fuzzCasesIn(new URL(`file://${MORE}/`)))]
  .filter(({ lines }) => lines !== undefined);

Deno.test("encodeRows() writes the generated files in any forms as the slow version does", () => {
  let batches = 0;
  for (const { ipc, lines, name } of accepted) {
    let first = 0;
    for (const batch of arrow.tableFromIPC(ipc).batches) {
      const bodies = lines!.slice(first, first += batch.numRows).map((line) => decoder.decode(line));
      const forms = fc.sample(anyJson(batch.schema.fields.map((field) => field.name)), { numRuns: 6, seed: batches });
      for (const json of forms) assertForms(batch, bodies, json, name);
      batches++;
    }
  }
  assert.ok(batches >= accepted.length * 0.8, `${batches} batches`);
});

Deno.test("encodeRows() with the default forms, each set explicitly, writes what it writes without forms", () => {
  const json = Object.fromEntries(Object.entries(WORDS).map(([name, [first]]) => [name, first])) as JsonForms;
  for (const { ipc } of accepted) {
    for (const batch of arrow.tableFromIPC(ipc).batches) {
      assert.deepEqual(bodies(encodeRows(batch, { json })), bodies(encodeRows(batch)));
    }
  }
});
