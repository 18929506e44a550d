import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { pieceRanges, resolveLimits, sliceRows } from "../../src/arrow/slice.ts";
import { chunkAt, sliceOf, viewRows } from "../../src/arrow/view.ts";
import { ConfigError } from "../../src/errors/mod.ts";
import { encodeRows, encodeView } from "../../src/json/encode.ts";
import type { ArrowRows, BatchLimits } from "../../src/types/mod.ts";
import {
  anyBatch,
  arrowReaders,
  batchOf,
  bodyStrings,
  demoTable,
  intColumn,
  isMisread,
  numberBatch,
  tableOf,
  textColumn,
} from "../_support/arrow/mod.ts";
import { fuzzCases, goldenCases, readGolden } from "../_support/testdata.ts";

const WIDE = { batchMaxRows: 1 << 30, batchMaxBytes: 2 ** 40 };

const anyLimits: fc.Arbitrary<BatchLimits> = fc.record({
  batchMaxRows: fc.oneof(fc.integer({ min: 1, max: 10 }), fc.constant(8192)),
  batchMaxBytes: fc.oneof(fc.integer({ min: 1, max: 300 }), fc.integer({ min: 300, max: 100_000 })),
});

function sizes(rows: ArrowRows, limits?: BatchLimits): number[] {
  return Array.from(sliceRows(rows, limits), (piece) => piece.numRows);
}

/** The bodies of all pieces, one after another. */
function piecewise(rows: ArrowRows, limits: BatchLimits): string[] {
  return Array.from(sliceRows(rows, limits)).flatMap((piece) => bodyStrings(encodeRows(piece)));
}

Deno.test("sliceRows() cuts at batchMaxRows", () => {
  assert.deepEqual(sizes(numberBatch(10), { batchMaxRows: 4 }), [4, 4, 2]);
  assert.deepEqual(sizes(numberBatch(8), { batchMaxRows: 4 }), [4, 4]);
  assert.deepEqual(sizes(numberBatch(20_000)), [8192, 8192, 3616]);
});

Deno.test("sliceRows() cuts at batchMaxBytes of what the rows reference", () => {
  assert.deepEqual(sizes(numberBatch(10), { batchMaxBytes: 12 }), [3, 3, 3, 1]);
  assert.deepEqual(sizes(numberBatch(10), { batchMaxBytes: 15 }), [3, 3, 3, 1]);
  // Ten bytes of text and one offset per row, and one more offset per piece.
  const text = batchOf([textColumn("a", Array.from({ length: 5 }, () => "0123456789"))]);
  assert.deepEqual(sizes(text, { batchMaxBytes: 32 }), [2, 2, 1]);
  assert.deepEqual(sizes(text, { batchMaxBytes: 31 }), [1, 1, 1, 1, 1]);
});

Deno.test("sliceRows() puts a row above batchMaxBytes into a piece of its own", () => {
  const rows = batchOf([textColumn("a", ["x", "y".repeat(1000), "z", "z"])]);
  assert.deepEqual(sizes(rows, { batchMaxBytes: 20 }), [1, 1, 2]);
});

Deno.test("sliceRows() does not count what the rows of a slice do not reference", () => {
  const rows = batchOf([textColumn("a", ["y".repeat(1000), "x", "x", "y".repeat(1000)])]).slice(1, 3);
  assert.deepEqual(sizes(rows, { batchMaxBytes: 14 }), [2]);
});

Deno.test("sliceRows() never joins rows of two chunks", () => {
  const table = tableOf(numberBatch(3), numberBatch(0, 3), numberBatch(5, 3), numberBatch(1, 8));
  assert.deepEqual(sizes(table), [3, 5, 1]);
  assert.deepEqual(sizes(table, { batchMaxRows: 2 }), [2, 1, 2, 2, 1, 1]);
});

Deno.test("sliceRows() yields every row of any chunks once, in order, and chunkAt() finds each row's chunk", () => {
  const counts = fc.array(fc.nat(4), { minLength: 1, maxLength: 12 });
  fc.assert(fc.property(counts, fc.integer({ min: 1, max: 5 }), (counts, batchMaxRows) => {
    let first = 0;
    const table = tableOf(...counts.map((count) => numberBatch(count, (first += count) - count)));
    assert.deepEqual(piecewise(table, { batchMaxRows }), bodyStrings(encodeRows(table)));
    const { chunks } = viewRows(table);
    for (let row = 0; row <= first; row++) {
      const holds = chunks.findIndex(({ firstRow, rowCount }) => row >= firstRow && row < firstRow + rowCount);
      assert.equal(chunkAt(chunks, row), holds);
    }
  }));
});

Deno.test("slicing and encoding a piece of a table do not read every chunk", () => {
  const count = 1000;
  const table = tableOf(...Array.from({ length: count }, (_, n) => numberBatch(1, n)));
  const view = viewRows(table);
  let reads = 0;
  const chunks = view.chunks.map((chunk) => ({
    ...chunk,
    get firstRow() {
      reads++;
      return chunk.firstRow;
    },
  }));
  for (let row = 0; row < count; row++) {
    sliceOf(table, { ...view, chunks }, row, 1);
    assert.equal(encodeView({ ...view, chunks }, { from: row, count: 1 }).rows, 1);
  }
  assert.ok(reads < 100 * count, `${reads} reads of chunks`);
});

Deno.test("sliceRows() yields no empty piece", () => {
  assert.deepEqual(sizes(numberBatch(0)), []);
  assert.deepEqual(sizes(new arrow.Table(numberBatch(0).schema)), []);
});

Deno.test("sliceRows() cuts rows without columns by their number", () => {
  assert.deepEqual(sizes(batchOf([], 5), { batchMaxRows: 2, batchMaxBytes: 1 }), [2, 2, 1]);
});

Deno.test("sliceRows() yields slices of the rows themselves, and of their slices", () => {
  const table = demoTable(10, 4);
  const [, second] = sliceRows(table, { batchMaxRows: 3 });
  assert.deepEqual(second, {
    schema: table.schema,
    numRows: 1,
    data: { length: 1, children: [] },
    source: table,
    from: 3,
  });
  const [, , third] = sliceRows(table, { batchMaxRows: 3 });
  const [, inner] = sliceRows(third!, { batchMaxRows: 2 });
  assert.deepEqual(inner, {
    schema: table.schema,
    numRows: 1,
    data: { length: 1, children: [] },
    source: table,
    from: 6,
  });
  assert.deepEqual(bodyStrings(encodeRows(inner!)), bodyStrings(encodeRows(table)).slice(6, 7));
});

Deno.test("sliceRows() yields slices that another copy of apache-arrow can read", () => {
  const table = demoTable(10, 4);
  for (const piece of sliceRows(table, { batchMaxRows: 3 })) {
    assert.deepEqual(bodyStrings(encodeRows({ ...piece })), bodyStrings(encodeRows(piece)));
  }
});

Deno.test("sliceRows() refuses limits that are not positive integers, before it yields a piece", () => {
  for (const field of ["batchMaxRows", "batchMaxBytes"] as const) {
    const cases = [
      [0, "config.range"],
      [-1, "config.range"],
      [Infinity, "config.range"],
      [2 ** 53, "config.range"],
      [1.5, "config.type"],
      [NaN, "config.type"],
      ["5", "config.type"],
      [null, "config.type"],
      [true, "config.type"],
    ] as const;
    for (const [value, code] of cases) {
      assert.throws(
        () => sliceRows(numberBatch(1), { [field]: value } as BatchLimits),
        (error) => error instanceof ConfigError && error.code === code && error.field === field,
        `${field} ${value}`,
      );
    }
  }
});

Deno.test("sliceRows() cuts each test file into pieces that concatenate to the original", () => {
  const files = [
    ...fuzzCases().filter(({ lines }) => lines !== undefined),
    ...goldenCases().filter(({ name }) => name !== "generated_duplicate_fieldnames").map(({ name, files }) => ({
      name,
      about: "",
      ipc: readGolden(files[0]!),
    })),
  ];
  for (const { name, about, ipc } of files) {
    for (const { name: library, read } of arrowReaders) {
      const rows = read(ipc);
      if (rows === undefined || isMisread(library, about)) continue;
      const whole = bodyStrings(encodeRows(rows));
      for (const limits of [{ batchMaxRows: 1 }, { batchMaxRows: 7 }, { batchMaxBytes: 500 }]) {
        assert.deepEqual(piecewise(rows, limits), whole, `${name}, ${library}, ${JSON.stringify(limits)}`);
      }
    }
  }
});

Deno.test("sliceRows() cuts any batch by any limits into pieces that concatenate to the original", () => {
  fc.assert(fc.property(anyBatch(), anyLimits, ({ batch, bodies, about }, limits) => {
    assert.deepEqual(piecewise(batch, limits), bodies, about);
  }));
});

Deno.test("sliceRows() fills pieces as far as the limits allow", () => {
  const anyLengths = fc.array(fc.nat(40), { maxLength: 40 });
  fc.assert(fc.property(anyLengths, anyLimits, (lengths, limits) => {
    const { batchMaxRows, batchMaxBytes } = resolveLimits(limits);
    const rows = batchOf([textColumn("a", lengths.map((length) => "x".repeat(length))), intColumn("n", lengths)]);
    const bytes = (from: number, to: number): number =>
      lengths.slice(from, to).reduce((sum, length) => sum + length + 8, 4);
    let from = 0;
    for (const count of sizes(rows, limits)) {
      const to = from + count;
      assert.ok(count === 1 || (count <= batchMaxRows && bytes(from, to) <= batchMaxBytes));
      assert.ok(to === lengths.length || count === batchMaxRows || bytes(from, to + 1) > batchMaxBytes);
      from = to;
    }
    assert.equal(from, lengths.length);
  }));
});

Deno.test("pieceRanges() counts selected rows only, and does not cross chunks", () => {
  const view = viewRows(tableOf(numberBatch(4), numberBatch(4, 4), numberBatch(4, 8)));
  const only = [0, 2, 3, 9, 10, 11];
  assert.deepEqual([...pieceRanges(view, WIDE, only)], [{ from: 0, count: 3 }, { from: 3, count: 3 }]);
  assert.deepEqual([...pieceRanges(view, { ...WIDE, batchMaxRows: 2 }, only)], [
    { from: 0, count: 2 },
    { from: 2, count: 1 },
    { from: 3, count: 2 },
    { from: 5, count: 1 },
  ]);
  assert.deepEqual([...pieceRanges(view, { ...WIDE, batchMaxBytes: 8 }, only)].map(({ count }) => count), [2, 1, 2, 1]);
  assert.deepEqual([...pieceRanges(view, WIDE, [])], []);
});

Deno.test("pieceRanges() cuts a selection as it would cut the selected rows alone", () => {
  const lengths = fc.array(fc.tuple(fc.nat(40), fc.boolean()), { maxLength: 40 });
  fc.assert(fc.property(lengths, anyLimits, (rows, limits) => {
    const all = batchOf([textColumn("a", rows.map(([length]) => "x".repeat(length)))]);
    const selected = rows.filter(([, chosen]) => chosen);
    const alone = batchOf([textColumn("a", selected.map(([length]) => "x".repeat(length)))]);
    const only = rows.flatMap(([, chosen], row) => chosen ? [row] : []);
    const exact = resolveLimits(limits);
    assert.deepEqual([...pieceRanges(viewRows(all), exact, only)], [...pieceRanges(viewRows(alone), exact)]);
  }));
});

Deno.test("pieceRanges() weighs the selected rows and few others", () => {
  const rows = 20_000;
  const view = viewRows(batchOf([textColumn("a", Array.from({ length: rows }, () => "x"))]));
  const [chunk] = view.chunks;
  for (const every of [1, 2, 10, 1000]) {
    let reads = 0;
    const offsets = new Proxy(chunk!.columns[0]!.offsets, {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++;
        return Reflect.get(target, key, target);
      },
    });
    const counting = { ...view, chunks: [{ ...chunk!, columns: [{ ...chunk!.columns[0]!, offsets }] }] };
    const only = Array.from({ length: rows / every }, (_, i) => i * every);
    assert.equal([...pieceRanges(counting, WIDE, only)].length, 1);
    assert.ok(reads <= 6 * only.length, `${reads} reads for ${only.length} rows`);
  }
});
