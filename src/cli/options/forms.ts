/**
 * The command line's names for the forms of values.
 *
 * @module
 */

import type { CliOption } from "./parse.ts";

/** The options that choose how values are written as JSON. */
export const FORM_OPTIONS: readonly CliOption[] = [
  {
    name: "json-int64",
    key: "json.int64",
    type: "string",
    value: "FORM",
    env: "JETROW_JSON_INT64",
    byDefault: "number",
    help: 'number: 9007199254740993; string: "7"; safe: a string only above 2^53 - 1',
  },
  {
    name: "json-decimal",
    key: "json.decimal",
    type: "string",
    value: "FORM",
    env: "JETROW_JSON_DECIMAL",
    byDefault: "number",
    help: 'number: 1.50; string: "1.50"',
  },
  {
    name: "json-non-finite",
    key: "json.non_finite",
    type: "string",
    value: "FORM",
    env: "JETROW_JSON_NON_FINITE",
    byDefault: "string",
    help: 'string: "NaN", "Infinity", "-Infinity"; null: null',
  },
  {
    name: "json-timestamp",
    key: "json.timestamp",
    type: "string",
    value: "FORM",
    env: "JETROW_JSON_TIMESTAMP",
    byDefault: "iso",
    help: 'iso: "2024-01-01T00:00:00"; s, ms, us or ns: 1704067200000 (ms)',
  },
  {
    name: "json-naive",
    key: "json.naive",
    type: "string",
    value: "FORM",
    env: "JETROW_JSON_NAIVE",
    byDefault: "none",
    help: 'timestamps without a zone: none: "2024-01-01T00:00:00"; Z: "2024-01-01T00:00:00Z"',
  },
  {
    name: "json-infinity",
    key: "json.infinity",
    type: "string",
    value: "FORM",
    env: "JETROW_JSON_INFINITY",
    byDefault: "extremes",
    help: 'extremes; duckdb, for data that DuckDB wrote: the second smallest date or timestamp is also "-infinity"',
  },
  {
    name: "json-nulls",
    key: "json.nulls",
    type: "string",
    value: "FORM",
    env: "JETROW_JSON_NULLS",
    byDefault: "keep",
    help: 'keep: {"a":1,"b":null}; omit: {"a":1}',
  },
  {
    name: "json-binary",
    key: "json.binary",
    type: "string",
    value: "FORM",
    env: "JETROW_JSON_BINARY",
    byDefault: "base64",
    help: 'base64: "+/8="; base64url: "-_8"; hex: "fbff"',
  },
];
