import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { rowsOf } from "../../src/arrow/mod.ts";
import { sliceRows } from "../../src/arrow/slice.ts";
import { viewRows } from "../../src/arrow/view.ts";
import { ConfigError, EncodeError } from "../../src/errors/mod.ts";
import { encodeRows } from "../../src/json/encode.ts";
import { batchesOf } from "../../src/lifecycle/batches_of.ts";
import type { ArrowRows, RowType, RowTypes } from "../../src/types/mod.ts";
import { bodyStrings } from "../_support/arrow/mod.ts";

const written = (objects: readonly object[], types: RowTypes) => bodyStrings(encodeRows(rowsOf(objects, types)));

/** The JSON that one value becomes. */
function value(type: RowType, given: unknown): string {
  const [body] = written([{ v: given }], { v: type });
  return body!.slice('{"v":'.length, -1);
}

function refusal(objects: unknown, types: RowTypes): EncodeError {
  try {
    rowsOf(objects as object[], types);
  } catch (error) {
    assert.ok(error instanceof EncodeError, String(error));
    assert.equal(error.code, "encode.value");
    return error;
  }
  throw new Error("nothing was refused");
}

/** Why a value of a type is refused. */
const whyNot = (type: RowType, given: unknown): string => refusal([{ v: given }], { v: type }).message;

/** A type, an arbitrary of its values, and how the simple version writes one. */
interface Case {
  readonly type: RowType;
  readonly values: fc.Arbitrary<unknown>;
  readonly write: (given: never) => string;
}

const integer = (type: RowType, min: number, max: number): Case => ({
  type,
  values: fc.oneof(fc.integer({ min, max }), fc.integer({ min, max }).map(BigInt)),
  write: (given: number | bigint) => String(given),
});

const wide = (type: RowType, min: bigint, max: bigint): Case => ({
  type,
  values: fc.bigInt({ min, max }),
  write: (given: bigint) => String(given),
});

const float = (given: number): string =>
  Object.is(given, -0) ? "-0" : Number.isFinite(given) ? String(given) : JSON.stringify(String(given));

const json = (given: unknown): string => JSON.stringify(given);

const iso = (date: Date): string => date.toISOString().replace(/\.?0*Z$/, "Z");

const dates = fc.date({ min: new Date("0001-01-01"), max: new Date("9999-12-31"), noInvalidDate: true });

const SCALARS: readonly Case[] = [
  { type: "bool", values: fc.boolean(), write: (given: boolean) => String(given) },
  integer("int8", -128, 127),
  integer("int16", -32768, 32767),
  integer("int32", -(2 ** 31), 2 ** 31 - 1),
  wide("int64", -(2n ** 63n), 2n ** 63n - 1n),
  integer("int64", Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER),
  integer("uint8", 0, 255),
  integer("uint16", 0, 65535),
  integer("uint32", 0, 2 ** 32 - 1),
  wide("uint64", 0n, 2n ** 64n - 1n),
  { type: "float64", values: fc.double(), write: float },
  { type: "utf8", values: fc.string({ unit: "binary" }), write: (given: string) => JSON.stringify(given) },
  { type: "binary", values: fc.uint8Array(), write: (given: Uint8Array) => JSON.stringify(btoa(bytes(given))) },
  { type: "date", values: dates, write: (given: Date) => JSON.stringify(given.toISOString().slice(0, 10)) },
  { type: "timestamp", values: dates, write: (given: Date) => JSON.stringify(iso(given)) },
  { type: "json", values: fc.jsonValue(), write: json },
];

const bytes = (given: Uint8Array): string => String.fromCharCode(...given);

/** Lists and structs of cases, with null and absent values among them. */
function nested(depth: number): fc.Arbitrary<Case> {
  const scalar = fc.constantFrom(...SCALARS);
  if (depth === 0) return scalar;
  const inner = nested(depth - 1);
  const list = inner.map(({ type, values, write }): Case => ({
    type: { list: type },
    values: fc.array(fc.option(values), { maxLength: 5 }),
    write: (given: unknown[]) => `[${given.map((item) => item === null ? "null" : write(item as never)).join()}]`,
  }));
  const struct = fc.dictionary(anyKey, inner, { maxKeys: 4 }).map((fields): Case => ({
    type: { struct: typesOf(fields) },
    values: recordOf(fields),
    write: (given: Record<string, unknown>) => objectText(given, fields),
  }));
  return fc.oneof(scalar, list, struct);
}

const anyKey = fc.oneof(fc.string(), fc.constantFrom("__proto__", "constructor", "toJSON", "1", ""));

const typesOf = (fields: Record<string, Case>): RowTypes =>
  Object.fromEntries(Object.entries(fields).map(([key, { type }]) => [key, type]));

/** Objects with some of the fields, some null, created as JSON.parse does: `__proto__` is an ordinary key. */
function recordOf(fields: Record<string, Case>): fc.Arbitrary<object> {
  const entries = Object.entries(fields).map(([key, { values }]) =>
    fc.oneof(values.map((given) => [key, given] as const), fc.constant([key, null] as const), fc.constant(undefined))
  );
  return fc.tuple(...entries).map((some) => Object.fromEntries(some.filter((entry) => entry !== undefined)));
}

function objectText(given: Record<string, unknown>, fields: Record<string, Case>): string {
  const members = Object.entries(fields).map(([key, { write }]) => {
    const member = Object.hasOwn(given, key) ? given[key] : null;
    return `${JSON.stringify(key)}:${member === null ? "null" : write(member as never)}`;
  });
  return `{${members.join()}}`;
}

const anyRows = fc.dictionary(anyKey, nested(2), { maxKeys: 5 }).chain((fields) =>
  fc.array(recordOf(fields), { maxLength: 20 }).map((objects) => ({ fields, objects }))
);

Deno.test("rowsOf() writes objects as a simple JSON writer does, at any nesting", () => {
  fc.assert(fc.property(anyRows, ({ fields, objects }) => {
    const expected = objects.map((object) => objectText(object as Record<string, unknown>, fields));
    assert.deepEqual(written(objects, typesOf(fields)), expected);
  }));
});

Deno.test("rowsOf() returns rows that can be sliced and put in sequences like others", async () => {
  await fc.assert(
    fc.asyncProperty(anyRows, fc.integer({ min: 1, max: 7 }), async ({ fields, objects }, batchMaxRows) => {
      const rows = rowsOf(objects, typesOf(fields));
      const pieces = [...sliceRows(rows, { batchMaxRows })].flatMap((piece) => bodyStrings(encodeRows(piece)));
      assert.deepEqual(pieces, bodyStrings(encodeRows(rows)));
      const batches: ArrowRows[] = [];
      for await (const batch of batchesOf("r", rows)) batches.push(batch.rows);
      assert.deepEqual(batches, [rows]);
    }),
  );
});

Deno.test("rowsOf() reads an absent key, null and undefined as null", () => {
  const types: RowTypes = { a: "utf8", b: "int64", c: { list: "json" }, d: { struct: { e: "bool" } } };
  const none = '{"a":null,"b":null,"c":null,"d":null}';
  assert.deepEqual(written([{}, { a: null, b: null, c: null, d: null }, { a: undefined }], types), [none, none, none]);
  assert.deepEqual(written([{ d: {} }], types), ['{"a":null,"b":null,"c":null,"d":{"e":null}}']);
  assert.deepEqual(written([], types), []);
  assert.deepEqual(written([{}, {}], {}), ["{}", "{}"]);
});

Deno.test("rowsOf() converts no value to another type", () => {
  const WRONG: readonly (readonly [RowType, readonly unknown[]])[] = [
    ["bool", [0, 1, "true", [], {}]],
    ["int32", ["1", 1.5, NaN, Infinity, 2 ** 31, -(2 ** 31) - 1, 2n ** 31n, true, [1], new Date(0), Object(1)]],
    ["uint8", [-1, 256, -1n, 256n]],
    ["int64", [2 ** 53, -(2 ** 63), 2 ** 64, 2n ** 63n, -(2n ** 63n) - 1n]],
    ["uint64", [-1, 2n ** 64n, 2 ** 63]],
    ["float32", [1e39, "1", 1n, true]],
    ["float64", ["1", 1n, new Date(0), [1]]],
    ["utf8", [1, true, {}, ["a"], Object("a"), "\ud800", "a\udc00b", { toString: () => "x" }]],
    ["binary", [
      "AA==",
      [0],
      new Uint16Array(1),
      new ArrayBuffer(1),
      { length: 1, 0: 1 },
      new DataView(new ArrayBuffer(1)),
    ]],
    ["date", [
      0,
      "",
      "2024",
      "2024-02-30",
      "2024-13-01",
      "01/02/2024",
      new Date(NaN),
      "2024-01-01T00:00:00",
      "infinity",
    ]],
    ["timestamp", [
      0,
      "2024-01-01",
      "2024-01-01T00:00:00",
      "2024-01-01T25:00Z",
      "2024-01-01T00:60Z",
      "2024-01-01T00:00:60Z",
    ]],
    ["timestamp", ["2024-02-30T00:00Z", "2024-01-01T00:00:00+24:00", "2024-01-01T24:00:01Z", new Date(NaN), "now"]],
    ["timestamp", [
      "2024-01-01T00:00:00.0000000001Z",
      " 2024-01-01T00:00Z",
      "2024-01-01T00:00Z\n",
      "-000000-01-01T00:00Z",
    ]],
    ["json", [NaN, Infinity, 1n, () => 1, Symbol("s"), new Date(0), new Map(), new (class A {})(), [undefined], {
      a: 1n,
    }]],
    [{ list: "int8" }, [1, "a", {}, { length: 0 }, new Int8Array(1)]],
    [{ struct: { a: "int8" } }, [1, "a", [], [1]]],
  ];
  for (const [type, values] of WRONG) {
    for (const given of values) {
      const message = whyNot(type, given);
      assert.match(message, /^Cannot encode column "v.*" in row 0: .+/);
    }
  }
});

Deno.test("rowsOf() names the rule and the value received", () => {
  const last = (type: RowType, given: unknown) =>
    whyNot(type, given).replace(/^Cannot encode column "v" in row 0: /, "");
  assert.equal(last("int8", 128), "expected an integer from -128 to 127: received 128");
  assert.equal(
    last("int64", 2 ** 53),
    "expected a bigint, as a number above 2^53 - 1 may have been rounded: received 9007199254740992",
  );
  assert.equal(last("utf8", 5), "expected a string: received 5");
  assert.equal(
    last("timestamp", "today"),
    'expected a Date or an ISO 8601 date and time with a zone: received "today"',
  );
  assert.equal(last("date", new Date(NaN)), "expected a Date or an ISO 8601 date: received an invalid Date");
  assert.equal(last({ list: "utf8" }, "a"), 'expected an array: received "a"');
});

Deno.test("rowsOf() names row and column, and the path of a nested value", () => {
  const types: RowTypes = { user: { struct: { tags: { list: { struct: { name: "utf8" } } } } }, n: "int8" };
  const bad = refusal([{}, { user: { tags: [null, {}, { name: 5 }] } }], types);
  assert.deepEqual([bad.row, bad.column], [1, "user.tags[2].name"]);
  assert.equal(bad.message, 'Cannot encode column "user.tags[2].name" in row 1: expected a string: received 5');
  const top = refusal([{ n: 1 }, { n: 1 }, { n: "1" }], types);
  assert.deepEqual([top.row, top.column], [2, "n"]);
});

Deno.test("rowsOf() refuses keys that the types do not list, at any nesting", () => {
  const types: RowTypes = { a: "int8", s: { struct: { b: "int8" } } };
  const top = refusal([{ a: 1 }, { a: 1, more: 2 }], types);
  assert.deepEqual([top.row, top.column], [1, "more"]);
  assert.equal(top.message, 'Cannot encode column "more" in row 1: the types do not list this key');
  assert.equal(refusal([{ s: { b: 1, c: null } }], types).column, "s.c");
  assert.equal(refusal([JSON.parse('{"__proto__":{"a":1}}')], types).column, "__proto__");
});

Deno.test("rowsOf() refuses anything but an array of objects", () => {
  for (const objects of [{}, null, undefined, "abc", 5, new Map(), { length: 1, 0: {} }]) {
    assert.match(
      refusal(objects, { a: "int8" }).message,
      /^Cannot encode rows: expected an array of objects: received /,
    );
  }
  for (const row of [null, undefined, 5, "a", [], [1], true]) {
    const error = refusal([{}, row], { a: "int8" });
    assert.match(error.message, /^Cannot encode row 1: expected an object: received /);
    assert.deepEqual([error.row, error.column], [1, undefined]);
  }
  assert.equal(refusal(new Array(1), {}).row, 0);
});

Deno.test("rowsOf() reads instants in every notation", () => {
  const INSTANTS = [
    ["2024-01-31T12:00Z", "2024-01-31T12:00:00Z"],
    ["2024-01-31t12:00:00z", "2024-01-31T12:00:00Z"],
    ["2024-01-31T00:30:00+01:00", "2024-01-30T23:30:00Z"],
    ["2024-01-31T23:30:00-0130", "2024-02-01T01:00:00Z"],
    ["2024-01-31T23:30:00.5-01", "2024-02-01T00:30:00.5Z"],
    ["2024-01-31T24:00:00Z", "2024-02-01T00:00:00Z"],
    ["2024-02-29T00:00:00,123456789Z", "2024-02-29T00:00:00.123456789Z"],
    ["1969-12-31T23:59:59.999999999Z", "1969-12-31T23:59:59.999999999Z"],
    ["0099-01-01T00:00:00Z", "0099-01-01T00:00:00Z"],
    ["0000-01-01T00:00:00.000001Z", "0001-01-01T00:00:00.000001Z BC"],
    ["+012024-01-01T00:00:00Z", "12024-01-01T00:00:00Z"],
    ["9999-12-31T23:59:59.999999000Z", "9999-12-31T23:59:59.999999Z"],
  ] as const;
  for (const [given, expected] of INSTANTS) assert.equal(value("timestamp", given), JSON.stringify(expected), given);
  assert.equal(value("timestamp", new Date(8.64e15)), '"275760-09-13T00:00:00Z"');
  assert.equal(value("date", new Date("2024-01-31T23:59:59Z")), '"2024-01-31"');
  assert.equal(value("date", "2024-01-31"), '"2024-01-31"');
  assert.equal(value("date", "2024-01-31T23:59:59-01:00"), '"2024-02-01"');
});

Deno.test("rowsOf() refuses instants outside the range of a nanosecond column", () => {
  const nano = { at: "2024-01-01T00:00:00.000000001Z" };
  for (const far of ["1000-01-01T00:00Z", "3000-01-01T00:00Z"]) {
    assert.equal(refusal([nano, { at: far }], { at: "timestamp" }).row, 1);
    assert.equal(refusal([{ at: far }, nano], { at: "timestamp" }).row, 1);
    assert.equal(written([{ at: far }, { at: "2024-01-01T00:00Z" }], { at: "timestamp" }).length, 2);
  }
});

Deno.test("rowsOf() embeds JSON values digit for digit, and calls no toJSON", () => {
  assert.equal(
    value("json", JSON.parse('{"__proto__":1,"toJSON":2,"a":[-0,null,{}]}')),
    '{"__proto__":1,"toJSON":2,"a":[-0,null,{}]}',
  );
  assert.equal(value("json", { a: undefined, b: "\ud800\u2028" }), '{"b":"\\ud800\u2028"}');
  assert.match(whyNot("json", { toJSON: () => "x" }), /expected a JSON value: received a function/);
  assert.equal(value("json", Object.create(null, { a: { value: 1, enumerable: true } })), '{"a":1}');
  const deep = JSON.parse(`${"[".repeat(900)}${"]".repeat(900)}`);
  assert.equal(value("json", deep).length, 1800);
  const cycle: unknown[] = [];
  cycle.push(cycle);
  assert.match(whyNot("json", cycle), /nested deeper than 1000 levels or contain itself$/);
  let shared: unknown = "x".repeat(1000);
  for (let n = 0; n < 40; n++) shared = [shared, shared];
  assert.match(whyNot("json", shared), /more than 67108864 characters$/);
});

Deno.test("rowsOf() reads each property once, and reports a failure to read it", () => {
  let reads = 0;
  const types: RowTypes = { a: "int8" };
  assert.deepEqual(
    written([{
      get a() {
        return ++reads;
      },
    }], types),
    ['{"a":1}'],
  );
  const cause = new Error("no");
  const error = refusal([{
    get a() {
      throw cause;
    },
  }], types);
  assert.deepEqual([error.column, error.cause], ["a", cause]);
  const proxy = new Proxy({}, {
    ownKeys() {
      throw cause;
    },
  });
  assert.equal(refusal([proxy], types).cause, cause);
});

Deno.test("rowsOf() reads properties that a class defines, and none that every object inherits", () => {
  class Visit {
    own = 1;
    get page() {
      return "/";
    }
  }
  assert.deepEqual(written([new Visit()], { own: "int8", page: "utf8" }), ['{"own":1,"page":"/"}']);
  const inherited: RowTypes = { constructor: "utf8", toString: "utf8", ["__proto__"]: "json" } as unknown as RowTypes;
  assert.deepEqual(written([{}], inherited), ['{"constructor":null,"toString":null,"__proto__":null}']);
});

Deno.test("rowsOf() accepts objects of another realm", () => {
  const foreign = runInNewContext("[{ at: new Date(0), b: new Uint8Array([1]), j: { a: [1] }, l: [2] }]");
  const types: RowTypes = { at: "timestamp", b: "binary", j: "json", l: { list: "int8" } };
  assert.deepEqual(written(foreign, types), ['{"at":"1970-01-01T00:00:00Z","b":"AQ==","j":{"a":[1]},"l":[2]}']);
});

Deno.test("rowsOf() copies the values", () => {
  const binary = Uint8Array.of(1);
  const rows = rowsOf([{ binary }], { binary: "binary" });
  binary[0] = 2;
  assert.deepEqual(bodyStrings(encodeRows(rows)), ['{"binary":"AQ=="}']);
});

Deno.test("rowsOf() refuses invalid types before it reads an object", () => {
  const endless: { list: unknown } = { list: undefined };
  endless.list = endless;
  for (
    const type of [
      "text",
      "",
      null,
      undefined,
      5,
      {},
      [],
      { list: "int8", more: 1 },
      { list: "x" },
      { struct: [] },
      endless,
    ]
  ) {
    assert.throws(() => rowsOf([], { a: type } as unknown as RowTypes), (error) => {
      return error instanceof ConfigError && error.field.startsWith("types.a");
    });
  }
  for (const types of [null, undefined, "utf8", ["utf8"]]) {
    assert.throws(() => rowsOf([], types as unknown as RowTypes), { name: "ConfigError", field: "types" });
  }
});

Deno.test("objects that are published without rowsOf(), and an unknown type, are refused with what to write", () => {
  refuses(
    () => viewRows([{ id: 1 }] as never),
    /received an array\. Call rowsOf to make rows of JavaScript objects\.$/,
  );
  refuses(() => viewRows({ id: 1 } as never), /or rows of readArrow or rowsOf: received an object$/);
  refuses(() => rowsOf([], { a: "string" as never }), /types\.a must be bool, int8 to int64, .* received "string"$/);
});

function refuses(attempt: () => unknown, says: RegExp): void {
  assert.throws(attempt, ({ message }: Error) => says.test(message));
}
