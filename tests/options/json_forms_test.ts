import assert from "node:assert/strict";
import { encodeRows, type EncodeRowsOptions } from "../../src/json/encode.ts";
import { parseConfig } from "../../src/options/document.ts";
import { DEFAULT_FORMS, formsOf } from "../../src/options/json_forms.ts";
import { resolveOptions } from "../../src/options/publisher.ts";
import type { ConfigErrorCode } from "../../src/errors/mod.ts";
import type { JsonForms, Options } from "../../src/types/mod.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { refuses } from "../_support/config_errors.ts";

const resolve = (json: unknown) => resolveOptions({ stream: "S", subject: "s", json } as Options).json;

const cases: readonly (readonly [json: unknown, code: ConfigErrorCode, field: string, says: string])[] = [
  [null, "config.type", "json", "must be a plain object: received null"],
  ["string", "config.type", "json", "received a string"],
  [["int64"], "config.type", "json", "received an array"],
  [{ int64: "text" }, "config.range", "json.int64", 'must be one of number, string, safe: received "text"'],
  [{ int64: 64 }, "config.type", "json.int64", "received 64"],
  [{ nonFinite: null }, "config.type", "json.nonFinite", "must be one of string, null: received null"],
  [{ timestamp: "us " }, "config.range", "json.timestamp", "must be one of iso, s, ms, us, ns"],
  [{ naive: "z" }, "config.range", "json.naive", "must be one of none, Z"],
  [{ binary: "base16" }, "config.range", "json.binary", "must be one of base64, base64url, hex"],
  [{ non_finite: "null" }, "config.unknown", "json.non_finite", 'did you mean "json.nonFinite"?'],
  [{ decimals: "string" }, "config.unknown", "json.decimals", 'did you mean "json.decimal"?'],
  [{ columns: [] }, "config.type", "json.columns", "must be a plain object"],
  [{ columns: { price: "string" } }, "config.type", "json.columns.price", "must be a plain object"],
  [{ columns: { price: { decimal: 1 } } }, "config.type", "json.columns.price.decimal", "received 1"],
  [
    { columns: { price: { decimel: "string" } } },
    "config.unknown",
    "json.columns.price.decimel",
    'did you mean "json.columns.price.decimal"?',
  ],
  [{ columns: { "a b\n": { nulls: "drop" } } }, "config.range", 'json.columns["a b\\n"].nulls', 'received "drop"'],
  [{ columns: { a: { columns: {} } } }, "config.unknown", "json.columns.a.columns", "use one of int64, decimal,"],
];

for (const [json, code, field, says] of cases) {
  Deno.test(`resolveOptions() and encodeRows() throw when json is ${Deno.inspect(json, { compact: true })}`, () => {
    refuses(() => resolve(json), { code, field, says });
    refuses(() => encodeRows(numberBatch(1), { json } as EncodeRowsOptions), { code, field, says });
  });
}

Deno.test("encodeRows() throws on an unknown option", () => {
  const options = { jsno: {} } as EncodeRowsOptions;
  refuses(() => encodeRows(numberBatch(1), options), { code: "config.unknown", field: "jsno", says: '"json"' });
});

Deno.test("parseConfig() reads the forms in snake_case and returns them in camelCase, deeply frozen", () => {
  const json = { non_finite: "null", columns: { non_finite: { non_finite: "string" }, nonFinite: { int64: "safe" } } };
  const config = parseConfig({ url: "nats://a", stream: "S", subject: "s", json });
  assert.deepEqual(config.json, {
    nonFinite: "null",
    columns: { non_finite: { nonFinite: "string" }, nonFinite: { int64: "safe" } },
  });
  assert.deepEqual(resolveOptions(config).json, config.json);
  for (const part of [config.json, config.json?.columns, config.json?.columns?.nonFinite]) {
    assert.ok(Object.isFrozen(part));
  }
  const field = "json.columns.a.nonFinite";
  const document = { url: "nats://a", stream: "S", subject: "s", json: { columns: { a: { nonFinite: "null" } } } };
  refuses(() => parseConfig(document), { code: "config.unknown", field, says: "json.columns.a.non_finite" });
});

Deno.test("formsOf() prefers a column's forms to those of all columns, and these to the defaults", () => {
  const json: JsonForms = { int64: "string", nulls: "omit", columns: { a: { int64: "safe" } } };
  assert.deepEqual(formsOf(undefined, "a"), DEFAULT_FORMS);
  assert.deepEqual(formsOf(json), { ...DEFAULT_FORMS, int64: "string", nulls: "omit" });
  assert.deepEqual(formsOf(json, "b"), formsOf(json));
  assert.deepEqual(formsOf(json, "a"), { ...DEFAULT_FORMS, int64: "safe", nulls: "omit" });
  assert.deepEqual(formsOf(json, "constructor"), formsOf(json));
  const inherited = JSON.parse('{"columns":{"__proto__":{"binary":"hex"}}}');
  assert.equal(formsOf(resolve(inherited), "__proto__").binary, "hex");
  assert.equal(formsOf(resolve(inherited), "other").binary, "base64");
});
