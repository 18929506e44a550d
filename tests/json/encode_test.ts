import assert from "node:assert/strict";
import * as flechette from "@uwdata/flechette";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { viewRows } from "../../src/arrow/view.ts";
import { EncodeError } from "../../src/errors/mod.ts";
import { crc32c } from "../../src/hash/crc32c.ts";
import { encodeRows, encodeSteps, encodeView } from "../../src/json/encode.ts";
import { toEnd } from "../../src/util/steps.ts";
import type { ArrowRows } from "../../src/types/mod.ts";
import { bodies, bodyStrings, makeColumn, refusalOf } from "../_support/arrow/mod.ts";

/** A batch of one column, without the corrections of the library's constructors. */
function batchOf(type: unknown, data: Record<string, unknown>, numRows = data.length, name = "a"): ArrowRows {
  const fields = [{ name, type }];
  return {
    schema: { fields },
    numRows,
    data: { length: numRows, children: [{ type, ...data }] },
  } as unknown as ArrowRows;
}

function jsonOf(rows: ArrowRows): string[] {
  return bodyStrings(encodeRows(rows));
}

/** Asserts a refusal that names column `a` and a row, with a message of one line. */
function assertMalformed(rows: ArrowRows, row: number | undefined, about: RegExp): void {
  const error = refusalOf(() => encodeRows(rows));
  assert.deepEqual([error.code, error.column, error.row], ["encode.malformed", "a", row], error.message);
  assert.match(error.message, about);
  assert.ok(!error.message.includes("\n"));
}

const utf8 = { typeId: 5 };
const int32 = { typeId: 2, bitWidth: 32, isSigned: true };
const int8 = { typeId: 2, bitWidth: 8, isSigned: true };
const bytes = new TextEncoder().encode("abcdef");

Deno.test("encodeRows() returns one offset more than rows, and the checksum of all bytes", () => {
  const encoded = encodeRows(arrow.tableFromArrays({ id: Int32Array.of(1, 2), name: ["a", "b"] }));
  assert.deepEqual(bodyStrings(encoded), ['{"id":1,"name":"a"}', '{"id":2,"name":"b"}']);
  assert.deepEqual([...encoded.offsets], [0, 19, 38]);
  assert.equal(encoded.crc32c, crc32c(encoded.bytes));
});

Deno.test("encodeRows() writes nothing for no rows, and {} for rows without columns", () => {
  const none = encodeRows(arrow.tableFromArrays({ id: new Int32Array(0) }));
  assert.deepEqual([none.bytes.length, [...none.offsets], none.crc32c], [0, [0], 0]);
  const empty = { schema: { fields: [] }, numRows: 3, data: { length: 3, children: [] } };
  assert.deepEqual(jsonOf(empty), ["{}", "{}", "{}"]);
});

Deno.test("encodeRows() keeps columns named __proto__, 1, toJSON and the empty string in schema order", () => {
  const names = ["b", "__proto__", "10", "2", "toJSON", "", 'q"\\\n'];
  const fields = names.map((name) => ({ name, type: int32 }));
  const children = names.map((_, n) => ({ type: int32, length: 1, values: Int32Array.of(n) }));
  const [text] = jsonOf({ schema: { fields }, numRows: 1, data: { length: 1, children } } as unknown as ArrowRows);
  assert.equal(text, `{${names.map((name, n) => `${JSON.stringify(name)}:${n}`).join()}}`);
});

Deno.test("encodeRows() writes names longer than any buffer", () => {
  for (const length of [7, 8, 9, 15, 16, 23, 24, 25, 300, 8190, 8200, 100_000]) {
    const name = "n".repeat(length);
    const rows = batchOf(int32, { length: 2, values: Int32Array.of(1, -2) }, 2, name);
    assert.deepEqual(jsonOf(rows), [`{"${name}":1}`, `{"${name}":-2}`]);
  }
});

Deno.test("encodeRows() writes rows and values larger than the scratch", () => {
  const long = ["x".repeat(400_000), "", "\u20ac".repeat(200_000), '"'.repeat(100_000)];
  const table = arrow.tableFromArrays({ a: long, b: Int32Array.of(1, 2, 3, 4), c: long });
  assert.deepEqual(jsonOf(table), long.map((text, row) => JSON.stringify({ a: text, b: row + 1, c: text })));
  const columns = Object.fromEntries(Array.from({ length: 20_000 }, (_, n) => [`column ${n}`, Float64Array.of(n / 7)]));
  const [wide] = jsonOf(arrow.tableFromArrays(columns));
  assert.deepEqual(JSON.parse(wide!), Object.fromEntries(Object.entries(columns).map(([name, [x]]) => [name, x])));
});

Deno.test("encodeRows() writes flechette columns that each have their own chunks", () => {
  const of = (values: unknown[], type: flechette.DataType, maxBatchRows: number): unknown =>
    // deno-lint-ignore no-explicit-any
    (flechette as any).columnFromArray(values, type, { maxBatchRows });
  const numbers = Array.from({ length: 20 }, (_, n) => n % 5 === 0 ? null : n);
  const words = numbers.map((n) => n === null ? "null" : `w${n}`);
  // deno-lint-ignore no-explicit-any
  const table = (flechette as any).tableFromColumns({
    a: of(numbers, flechette.int32(), 3),
    b: of(words, flechette.utf8(), 7),
    c: of(numbers, flechette.runEndEncoded(flechette.int32(), flechette.int64()), 20),
  });
  assert.deepEqual(jsonOf(table), numbers.map((n, row) => JSON.stringify({ a: n, b: words[row], c: n })));
});

Deno.test("encodeRows() refuses what is neither a batch nor a table", () => {
  for (const rows of [null, undefined, 5, "x", [], {}, { schema: {} }, { schema: { fields: [] } }]) {
    assert.equal(refusalOf(() => encodeRows(rows as unknown as ArrowRows)).code, "encode.type");
  }
});

Deno.test("encodeRows() refuses two columns, or two fields of a struct, with the same name", () => {
  const twice = [{ name: "x", type: int32 }, { name: "x", type: utf8 }];
  const columns = refusalOf(() =>
    encodeRows({ schema: { fields: twice }, numRows: 0, data: { length: 0, children: [] } })
  );
  assert.deepEqual([columns.code, columns.column], ["encode.column_name", "x"]);
  const struct = refusalOf(() => encodeRows(batchOf({ typeId: 13, children: twice }, { length: 0 })));
  assert.deepEqual([struct.code, struct.column], ["encode.column_name", "a"]);
});

Deno.test("encodeRows() refuses unknown types with column and type, also in tables without rows", () => {
  const unknown: [Record<string, unknown>, RegExp][] = [
    [{ typeId: 99 }, /unknown \(id 99\)/],
    [{ typeId: 2, bitWidth: 24, isSigned: true }, /Int24/],
    [{ typeId: 10, unit: 7 }, /Timestamp\[unit 7\]/],
    [{ typeId: 12, children: [{ name: "item", type: { typeId: 0 } }] }, /unknown \(id 0\)/],
    [{ typeId: 17, children: [] }, /Map/],
    [
      { typeId: 14, mode: 1, typeIds: [1, 1], children: [{ name: "x", type: int8 }, { name: "y", type: int8 }] },
      /Union/,
    ],
    [{ typeId: 15, byteWidth: -1 }, /FixedSizeBinary/],
  ];
  for (const [type, about] of unknown) {
    const error = refusalOf(() => encodeRows(batchOf(type, { length: 0 })));
    assert.deepEqual([error.code, error.column], ["encode.type", "a"]);
    assert.match(error.message, about);
  }
});

Deno.test("encodeRows() accepts 64 levels of nesting, refuses more, and ends on types that contain themselves", () => {
  const nested = (levels: number): arrow.Data => {
    let data = makeColumn(new arrow.Int32(), [7], { values: Int32Array.of(7) });
    for (let level = 0; level < levels; level++) {
      const type = new arrow.List(new arrow.Field("item", data.type, true));
      data = makeColumn(type, [0], { offsets: Int32Array.of(0, 1), children: [data] });
    }
    return data;
  };
  const rows = (levels: number): ArrowRows => new arrow.Table({ a: new arrow.Vector([nested(levels)]) });
  assert.deepEqual(jsonOf(rows(64)), [`{"a":${"[".repeat(64)}7${"]".repeat(64)}}`]);
  assert.equal(refusalOf(() => encodeRows(rows(65))).code, "encode.type");

  const cycle = { typeId: 12, children: [] as unknown[] };
  cycle.children.push({ name: "item", type: cycle });
  assert.equal(refusalOf(() => encodeRows(batchOf(cycle, { length: 1 }))).code, "encode.type");
  let twins: unknown = int32;
  for (let level = 0; level < 60; level++) {
    twins = { typeId: 13, children: [{ name: "l", type: twins }, { name: "r", type: twins }] };
  }
  assert.equal(refusalOf(() => encodeRows(batchOf(twins, { length: 1 }))).code, "encode.type");
});

Deno.test("encodeRows() refuses data of another type than the schema's", () => {
  const rows = batchOf(utf8, { type: int32, length: 1, values: new Int32Array(1) });
  assertMalformed(rows, 0, /the schema says Utf8, its data is Int32/);
});

Deno.test("encodeRows() refuses buffers that end before a value that is written", () => {
  assertMalformed(batchOf(int32, { length: 3, values: Int32Array.of(1, 2) }), 2, /buffers end before slot 2/);
  assertMalformed(
    batchOf(int32, { length: 1, values: Int32Array.of(1) }, 2),
    undefined,
    /1 values and its batch 2 rows/,
  );
  assertMalformed(
    batchOf(int32, { length: 3, values: Int32Array.of(1, 2, 3) }, 2),
    undefined,
    /3 values and its batch 2/,
  );
  const few = { length: 9, nullCount: 1, nullBitmap: Uint8Array.of(255), values: new Int32Array(9) };
  assertMalformed(batchOf(int32, few), 8, /validity bitmap ends before slot 8/);
  assertMalformed(batchOf(int32, { length: 1 }), 0, /buffers end/);
  assertMalformed(batchOf(int32, { length: -1 }, 1), 0, /length is -1/);
});

Deno.test("encodeRows() accepts buffers that end before null slots, as builders produce them", () => {
  const nulls = { length: 3, nullCount: 2, nullBitmap: Uint8Array.of(1), values: Int32Array.of(5) };
  assert.deepEqual(jsonOf(batchOf(int32, nulls)), ['{"a":5}', '{"a":null}', '{"a":null}']);
});

Deno.test("encodeRows() refuses offsets, views and items outside of their buffers, but does not read those of nulls", () => {
  const offsets = (...all: number[]) => ({ length: all.length - 1, valueOffsets: Int32Array.from(all), values: bytes });
  assertMalformed(batchOf(utf8, offsets(0, 2, 7)), 1, /offsets 2 to 7 are outside of its 6 bytes/);
  assertMalformed(batchOf(utf8, offsets(0, 3, 2)), 1, /offsets 3 to 2/);
  assertMalformed(batchOf(utf8, offsets(-1, 2)), 0, /offsets -1 to 2/);
  const hidden = { ...offsets(0, 2, 700), nullCount: 1, nullBitmap: Uint8Array.of(1) };
  assert.deepEqual(jsonOf(batchOf(utf8, hidden)), ['{"a":"ab"}', '{"a":null}']);
  const large = { length: 1, valueOffsets: BigInt64Array.of(0n, 1n << 40n), values: bytes };
  assertMalformed(batchOf({ typeId: 20 }, large), 0, /offsets 0 to 1099511627776/);

  const view = (size: number, index: number, at: number) => ({
    length: 1,
    values: new Uint8Array(Int32Array.of(size, 0, index, at).buffer),
    variadicBuffers: [new Uint8Array(20).fill(0x61)],
  });
  assert.deepEqual(jsonOf(batchOf({ typeId: 24 }, view(20, 0, 0))), [`{"a":"${"a".repeat(20)}"}`]);
  assertMalformed(batchOf({ typeId: 24 }, view(20, 0, 1)), 0, /view of 20 bytes at 1 is outside of its buffer of 20/);
  assertMalformed(batchOf({ typeId: 24 }, view(20, 1, 0)), 0, /buffer 1 of 1/);
  assertMalformed(batchOf({ typeId: 24 }, view(-1, 0, 0)), 0, /size of -1/);
  assertMalformed(batchOf({ typeId: 23 }, view(20, 0, -1)), 0, /at -1/);

  const list = { typeId: 12, children: [{ name: "item", type: int8 }] };
  const items = { type: int8, length: 2, values: Int8Array.of(1, 2, 3) };
  const lists = { length: 2, valueOffsets: Int32Array.of(0, 1, 3), children: [items] };
  assertMalformed(batchOf(list, lists), 1, /items 1 to 3 are outside of its 2/);
  const fixed = { typeId: 16, listSize: 2, children: [{ name: "item", type: int8 }] };
  assertMalformed(batchOf(fixed, { length: 2, children: [items] }), 1, /items 2 to 4/);
});

Deno.test("encodeRows() refuses indices, type ids, member offsets and run ends out of range", () => {
  const dictionary = { typeId: -1, indices: int8, dictionary: utf8 };
  const words = { type: utf8, length: 2, valueOffsets: Int32Array.of(0, 1, 2), values: bytes };
  const coded = (...all: number[]) => ({
    length: all.length,
    values: Int8Array.from(all),
    dictionary: { data: [words] },
  });
  assert.deepEqual(jsonOf(batchOf(dictionary, coded(1, 0))), ['{"a":"b"}', '{"a":"a"}']);
  assertMalformed(batchOf(dictionary, coded(0, 2)), 1, /dictionary index 2 is outside of its 2 values/);
  assertMalformed(batchOf(dictionary, coded(-1)), 0, /dictionary index -1/);
  assertMalformed(batchOf(dictionary, { length: 1, values: new Int8Array(1) }), 0, /outside of its 0 values/);

  const union = { typeId: 14, mode: 1, typeIds: [5], children: [{ name: "x", type: int8 }] };
  const member = { type: int8, length: 1, values: Int8Array.of(9) };
  const dense = (code: number, at: number) => ({
    length: 1,
    typeIds: Int8Array.of(code),
    valueOffsets: Int32Array.of(at),
    children: [member],
  });
  assert.deepEqual(jsonOf(batchOf(union, dense(5, 0))), ['{"a":9}']);
  assertMalformed(batchOf(union, dense(4, 0)), 0, /type id 4/);
  assertMalformed(batchOf(union, dense(5, 1)), 0, /offset 1 is outside of the union member's 1/);

  const runs = { typeId: 22, children: [{ name: "run_ends", type: int32 }, { name: "values", type: int8 }] };
  const ends = (...all: number[]) => ({
    length: 3,
    children: [
      { type: int32, length: all.length, values: Int32Array.from(all) },
      { type: int8, length: 2, values: Int8Array.of(4, 5) },
    ],
  });
  assert.deepEqual(jsonOf(batchOf(runs, ends(1, 3))), ['{"a":4}', '{"a":5}', '{"a":5}']);
  assertMalformed(batchOf(runs, ends(1, 2)), 2, /2 runs end before slot 2/);
  assertMalformed(batchOf(runs, ends(1, 2, 3)), 2, /run 2 is outside of its 2 values/);
  assertMalformed(batchOf(runs, ends(2, 1, 3)), 2, /run/);
});

Deno.test("encodeRows() counts rows across all chunks in its errors", () => {
  const chunk = (values: Uint8Array, ...offsets: number[]): arrow.Data =>
    makeColumn(new arrow.Utf8(), offsets.slice(1), { offsets: Int32Array.from(offsets), values });
  const vector = new arrow.Vector([chunk(bytes, 0, 1, 2), chunk(bytes, 0, 1, 99)]);
  assertMalformed(new arrow.Table({ a: vector }), 3, /offsets 1 to 99/);
});

Deno.test("encodeView() of a selection from any row writes that part of the whole", () => {
  const numbers = Array.from({ length: 40 }, (_, n) => n);
  const table = arrow.tableFromArrays({ n: Int32Array.from(numbers), s: numbers.map((n) => "x".repeat(n)) });
  const view = viewRows(table.concat(table));
  const whole = bodyStrings(encodeRows(table.concat(table)));
  fc.assert(fc.property(fc.uniqueArray(fc.nat(79)), fc.nat(10), (rows, from) => {
    const only = rows.sort((a, b) => a - b);
    const part = encodeView(view, { only, from });
    assert.deepEqual(bodyStrings(part), only.slice(from).map((row) => whole[row]));
    assert.equal(part.rows, Math.max(0, only.length - from));
    assert.deepEqual(bodyStrings(encodeView(view, { from })), whole.slice(from));
  }));
});

Deno.test("encodeView() stops before the row that would exceed maxBytes, but writes at least one row", () => {
  const lengths = [10, 5, 30_000, 20, 400_000, 1, 300_000, 7];
  const view = viewRows(arrow.tableFromArrays({ a: lengths.map((length) => "x".repeat(length)) }));
  const sizes = lengths.map((length) => length + 8);
  for (const maxBytes of [1, 18, 30, 31, 32, 33, 30_039, 30_040, 450_000, 1_000_000]) {
    let from = 0;
    const all: number[] = [];
    while (from < lengths.length) {
      const part = encodeView(view, { from, maxBytes });
      assert.ok(part.rows === 1 || part.bytes.length <= maxBytes);
      const more = sizes[from + part.rows];
      assert.ok(more === undefined || part.bytes.length + more > maxBytes);
      all.push(...bodies(part).map((body) => body.length));
      from += part.rows;
    }
    assert.deepEqual(all, sizes);
  }
});

Deno.test("encodeView() passes the first row above maxRowBytes and its exact size to overRow, and throws what overRow throws", () => {
  const lengths = [10, 500_000, 20, 1_000_000];
  const view = viewRows(arrow.tableFromArrays({ a: lengths.map((length) => "x".repeat(length)) }));
  for (const maxRowBytes of [17, 18, 500_007, 500_008, 1_000_007, 1_000_008]) {
    const row = lengths.findIndex((length) => length + 8 > maxRowBytes);
    if (row < 0) {
      assert.equal(encodeView(view, { maxRowBytes }).rows, 4);
      continue;
    }
    const calls: number[][] = [];
    const error = refusalOf(() => encodeView(view, { maxRowBytes, overRow: (...all) => calls.push(all) }));
    assert.deepEqual(calls, [[row, lengths[row]! + 8]]);
    assert.deepEqual([error.code, error.row, error.size, error.limit], [
      "encode.too_large",
      row,
      lengths[row]! + 8,
      maxRowBytes,
    ]);
    const own = new EncodeError("encode.too_large", "own");
    assert.throws(() =>
      encodeView(view, {
        maxRowBytes,
        overRow: () => {
          throw own;
        },
      }), (thrown) => thrown === own);
  }
});

Deno.test("encodeRows() refuses rows that cannot fit 4 GiB without encoding them", () => {
  const empty = { schema: { fields: [] }, numRows: 2 ** 40, data: { length: 2 ** 40, children: [] } };
  const error = refusalOf(() => encodeRows(empty));
  assert.deepEqual([error.code, error.row, error.limit], ["encode.too_large", 2 ** 31 - 1, 2 ** 32 - 1]);
});

/** Rows that all refer to one long string of a dictionary. */
function repeated(length: number, rows: number): arrow.Table {
  const type = new arrow.Dictionary(new arrow.Utf8(), new arrow.Int32());
  const dictionary = arrow.vectorFromArray(["x".repeat(length)], new arrow.Utf8());
  const data = makeColumn(type, new Array(rows).fill(0), { values: new Int32Array(rows), dictionary });
  return new arrow.Table({ a: new arrow.Vector([data]) });
}

Deno.test("encodeRows() stops at 4 GiB without holding them when rows repeat a long dictionary value", () => {
  const error = refusalOf(() => encodeRows(repeated(10_000_000, 1000)));
  assert.deepEqual([error.code, error.row, error.limit], ["encode.too_large", 429, 2 ** 32 - 1]);
  assert.ok(error.size! > 2 ** 32 - 1);
});

Deno.test("encodeRows() counts first and then writes every row when the rows exceed what an arena grows to", () => {
  const { bytes: json, offsets } = encodeRows(repeated(1_000_000, 300));
  assert.equal(json.length, 300 * 1_000_008);
  const first = json.subarray(0, offsets[1]);
  for (let row = 0; row < 300; row++) {
    assert.equal(offsets[row + 1]! - offsets[row]!, first.length);
    const body = json.subarray(offsets[row], offsets[row + 1]);
    assert.ok(body[0] === 0x7b && body[500_000] === 0x78 && body[body.length - 1] === 0x7d);
  }
});

Deno.test("encodeRows() and encodeSteps() write every byte of rows larger than an arena grows to", () => {
  const sizes = [[7500, 40_000], [90, 3_000_000]] as const;
  for (const [size, rows] of sizes) {
    const table = repeated(size, rows);
    const body = encodeRows(repeated(size, 1)).bytes;
    assert.ok(body.length * rows > 1 << 28);
    let expected = 0;
    for (let row = 0; row < rows; row++) expected = crc32c(body, expected);
    const chunked = new arrow.Table(table.batches.flatMap((batch) => [batch.slice(0, 1000), batch.slice(1000, rows)]));
    for (const view of [viewRows(table), viewRows(chunked)]) {
      for (const part of [encodeView(view), toEnd(encodeSteps(view, {}))]) {
        assert.deepEqual([part.rows, part.bytes.length], [rows, body.length * rows]);
        assert.equal(crc32c(part.bytes), expected, `${rows} rows of ${size} bytes`);
      }
    }
  }
});

Deno.test("encodeView() stops at the row's limit when nested dictionaries repeat their values", () => {
  let data = makeColumn(new arrow.Int8(), new Array(1000).fill(1), { values: new Int8Array(1000) });
  for (let level = 0; level < 8; level++) {
    const list = new arrow.List(new arrow.Field("item", data.type, true));
    const items = makeColumn(list, [0], { offsets: Int32Array.of(0, 1000), children: [data] });
    const type = new arrow.Dictionary(list, new arrow.Int32());
    const dictionary = new arrow.Vector([items]);
    data = makeColumn(type, new Array(1000).fill(0), { values: new Int32Array(1000), dictionary });
  }
  const view = viewRows(new arrow.Table({ a: new arrow.Vector([data]) }));
  const error = refusalOf(() => encodeView(view, { maxRowBytes: 1 << 20 }));
  assert.deepEqual([error.code, error.row], ["encode.too_large", 0]);
  assert.ok(error.size! > 1 << 28);
});

Deno.test("encodeRows() returns a new arena each time: an earlier result never changes", () => {
  const one = encodeRows(arrow.tableFromArrays({ a: ["first"] }));
  const before = one.bytes.slice();
  encodeRows(arrow.tableFromArrays({ a: ["second, and longer than the first"] }));
  assert.deepEqual(one.bytes, before);
});
