import assert from "node:assert/strict";
import * as flechette from "@uwdata/flechette";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { viewRows } from "../../src/arrow/view.ts";
import type { ColumnView } from "../../src/arrow/column.ts";
import { addWeights } from "../../src/arrow/row_bytes.ts";
import { pieceWeight } from "../../src/arrow/type_bytes.ts";
import type { ArrowRows } from "../../src/types/mod.ts";
import { allMakers, anyBatch, batchOf, madeBatch, makeColumn, textColumn } from "../_support/arrow/mod.ts";
import { readGolden } from "../_support/testdata.ts";

/** The weights of the rows of a batch with one column. */
function weightsOf(rows: ArrowRows): number[] {
  const [chunk] = viewRows(rows).chunks;
  const weights = new Float64Array(chunk!.rowCount);
  addWeights(chunk!.columns[0]!, chunk!.starts[0]!, weights);
  return [...weights];
}

function oneColumn(data: arrow.Data): arrow.RecordBatch {
  return batchOf([{ name: "a", data }]);
}

/** The bytes of the slots `[from, from + count)` of an apache-arrow Data, computed slot by slot. */
function slowWeight(data: arrow.Data, from: number, count: number): number {
  let sum = 0;
  for (let slot = from; slot < from + count; slot++) sum += slotWeight(data, slot);
  return sum;
}

// deno-lint-ignore no-explicit-any
function slotWeight(data: any, slot: number): number {
  const { type } = data;
  const children: arrow.Data[] = data.children;
  switch (type.typeId) {
    case arrow.Type.Null:
      return 0;
    case arrow.Type.Bool:
      return 1 / 8;
    case arrow.Type.Dictionary:
      return type.indices.bitWidth / 8;
    case arrow.Type.Utf8:
    case arrow.Type.Binary:
    case arrow.Type.LargeUtf8:
    case arrow.Type.LargeBinary:
      return data.valueOffsets.BYTES_PER_ELEMENT + Number(data.valueOffsets[slot + 1]) -
        Number(data.valueOffsets[slot]);
    case arrow.Type.Utf8View:
    case arrow.Type.BinaryView: {
      const size = new DataView(data.values.buffer, data.values.byteOffset).getInt32(16 * slot, true);
      return 16 + (size > 12 && data.getValid(slot) ? size : 0);
    }
    case arrow.Type.List:
    case arrow.Type.LargeList:
    case arrow.Type.Map: {
      const start = Number(data.valueOffsets[slot]);
      return data.valueOffsets.BYTES_PER_ELEMENT +
        slowWeight(children[0]!, start, Number(data.valueOffsets[slot + 1]) - start);
    }
    case arrow.Type.FixedSizeList:
      return slowWeight(children[0]!, slot * type.listSize, type.listSize);
    case arrow.Type.Struct:
      return children.reduce((sum, child) => sum + slotWeight(child, slot), 0);
    case arrow.Type.Union: {
      if (type.mode === arrow.UnionMode.Sparse) {
        return 1 + children.reduce((sum, child) => sum + slotWeight(child, slot), 0);
      }
      return 5 + slotWeight(children[type.typeIdToChildIndex[data.typeIds[slot]]]!, data.valueOffsets[slot]);
    }
    default:
      return data.values.BYTES_PER_ELEMENT * data.stride;
  }
}

Deno.test("addWeights() counts fixed widths, offsets and string bytes", () => {
  assert.deepEqual(weightsOf(batchOf([textColumn("a", ["", "abc", null])])), [4, 7, 4]);
  assert.deepEqual(weightsOf(oneColumn(arrow.vectorFromArray([1n, 2n], new arrow.Int64()).data[0]!)), [8, 8]);
  assert.deepEqual(
    weightsOf(
      oneColumn(
        arrow.vectorFromArray([[1, 2], []], new arrow.List(new arrow.Field("item", new arrow.Int32()))).data[0]!,
      ),
    ),
    [12, 4],
  );
});

Deno.test("addWeights() agrees with the slot-by-slot version for every type, whole and sliced", () => {
  for (const maker of allMakers) {
    const column = fc.sample(fc.option(maker.value, { nil: null }), { numRuns: 30, seed: 7 });
    const { batch } = madeBatch(["a"], [maker], column.map((value) => [value]));
    for (const slice of [batch, batch.slice(3, 29), batch.slice(9, 10)]) {
      const data = slice.data.children[0]!;
      const expected = Array.from({ length: slice.numRows }, (_, row) => slotWeight(data, row));
      assert.deepEqual(weightsOf(slice), expected, maker.name);
    }
  }
});

Deno.test("addWeights() agrees with the slot-by-slot version for any nesting", () => {
  fc.assert(fc.property(anyBatch({ maxColumns: 1 }), ({ batch, about }) => {
    if (batch.schema.fields.length === 0 || batch.numRows === 0) return;
    const data = batch.data.children[0]!;
    assert.deepEqual(weightsOf(batch), Array.from({ length: batch.numRows }, (_, row) => slotWeight(data, row)), about);
  }));
});

Deno.test("addWeights() counts only the index of a dictionary value", () => {
  const data = arrow.vectorFromArray(
    ["long text, counted nowhere", "b"],
    new arrow.Dictionary(new arrow.Utf8(), new arrow.Int16()),
  );
  assert.deepEqual(weightsOf(oneColumn(data.data[0]!)), [2, 2]);
});

Deno.test("addWeights() counts offset, size and items of a list view, and no items of a null", () => {
  const table = flechette.tableFromIPC(readGolden("generated_list_view.stream"));
  const column = table.children[0]!;
  const batch = column.data.at(-1)!;
  const rows = viewRows(table as unknown as ArrowRows);
  const chunk = rows.chunks.at(-1)!;
  const weights = new Float64Array(chunk.rowCount);
  addWeights(chunk.columns[0]!, 0, weights);
  assert.ok(batch.nullCount > 0);
  assert.deepEqual(
    [...weights],
    Array.from(batch.sizes as Int32Array, (size, row) => 8 + (batch.isValid(row) ? 4 * Number(size) : 0)),
  );
});

/** A column of strings, and a list view over it whose row `i` has the items `[starts[i], starts[i] + counts[i])`. */
function viewsOf(
  strings: readonly string[],
  starts: readonly number[],
  counts: readonly number[],
): { readonly items: ColumnView; readonly views: ColumnView } {
  const [chunk] = viewRows(batchOf([textColumn("a", strings)])).chunks;
  const items = chunk!.columns[0]!;
  const views: ColumnView = {
    ...items,
    type: { kind: "list", layout: "views", size: 0, item: items.type, label: "ListView", source: undefined },
    length: starts.length,
    readable: starts.length,
    offsets: Int32Array.from(starts),
    sizes: Int32Array.from(counts),
    children: [items],
  };
  return { items, views };
}

/** A column that counts the reads of its offsets. */
function counting(column: ColumnView): { readonly column: ColumnView; readonly reads: () => number } {
  let reads = 0;
  const offsets = new Proxy(column.offsets, {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) reads++;
      return Reflect.get(target, key, target);
    },
  });
  return { column: { ...column, offsets }, reads: () => reads };
}

/** How many elements of Float64Arrays `work` allocates. */
function elementsAllocated(work: () => void): number {
  let elements = 0;
  const Real = globalThis.Float64Array;
  globalThis.Float64Array = new Proxy(Real, {
    construct(target, args) {
      if (typeof args[0] === "number") elements += args[0];
      return Reflect.construct(target, args);
    },
  });
  try {
    work();
  } finally {
    globalThis.Float64Array = Real;
  }
  return elements;
}

Deno.test("addWeights() agrees with the item-by-item version for list views in any order, with gaps and overlaps", () => {
  const strings = Array.from({ length: 3000 }, (_, i) => "x".repeat(i % 7));
  const range = fc.record({ start: fc.nat(3100), count: fc.oneof(fc.nat(5), fc.nat(2500)) });
  fc.assert(
    fc.property(fc.array(range, { maxLength: 30 }), fc.boolean(), (ranges, sorted) => {
      if (sorted) ranges.sort((one, two) => one.start - two.start);
      const { views } = viewsOf(strings, ranges.map(({ start }) => start), ranges.map(({ count }) => count));
      const weights = new Float64Array(ranges.length);
      addWeights(views, 0, weights);
      const expected = ranges.map(({ start, count }) => {
        if (start + count > strings.length) return 8;
        return strings.slice(start, start + count).reduce((sum, text) => sum + 4 + text.length, 8);
      });
      assert.deepEqual([...weights], expected);
    }),
    { numRuns: 200 },
  );
});

Deno.test("addWeights() reads the items of rows that are far apart, and none between them", () => {
  const strings = Array.from({ length: 200_000 }, () => "x");
  const { items, views } = viewsOf(strings, [199_990, 0, 100_000, 2], [10, 3, 2, 4]);
  const { column, reads } = counting(items);
  const weights = new Float64Array(4);
  addWeights({ ...views, children: [column] }, 0, weights);
  assert.deepEqual([...weights], [8 + 50, 8 + 15, 8 + 10, 8 + 20]);
  assert.ok(reads() <= 3 * (10 + 6 + 2), `${reads()} reads of 18 items`);
});

Deno.test("addWeights() reads items once when every row of a block contains them", () => {
  const strings = Array.from({ length: 10_000 }, () => "x");
  const { items, views } = viewsOf(strings, Array(1000).fill(0), Array(1000).fill(10_000));
  const { column, reads } = counting(items);
  const weights = new Float64Array(1000);
  addWeights({ ...views, children: [column] }, 0, weights);
  assert.ok(weights.every((weight) => weight === 8 + 50_000));
  assert.ok(reads() <= 10_000 + 100, `${reads()} reads of 10,000 items`);
});

Deno.test("addWeights() allocates for one block of items, however many items a block of rows has", () => {
  const strings = Array.from({ length: 1 << 18 }, () => "x");
  const { views } = viewsOf(strings, [0, 1 << 17], [1 << 17, 1 << 17]);
  const far = viewsOf(strings, [0, (1 << 18) - 1], [1, 1]).views;
  for (const column of [views, far, { ...views, offsets: Int32Array.of(0, 0), sizes: Int32Array.of(1 << 18, 5) }]) {
    const elements = elementsAllocated(() => addWeights(column, 0, new Float64Array(2)));
    assert.ok(elements <= 4096, `${elements} elements`);
  }
});

Deno.test("addWeights() counts a run at its first row", () => {
  const table = flechette.tableFromIPC(readGolden("generated_run_end_encoded.stream"));
  const chunk = viewRows(table as unknown as ArrowRows).chunks.at(-1)!;
  const weights = new Float64Array(chunk.rowCount);
  addWeights(chunk.columns[0]!, 0, weights);
  const ends = Array.from(table.children[0]!.data.at(-1)!.children![0]!.values as Int16Array).filter((end) => end < 20);
  assert.deepEqual(
    [...weights].map((weight) => weight > 0),
    Array.from({ length: 20 }, (_, row) => row === 0 || ends.includes(row)),
  );
  assert.ok(weights.every((weight) => weight === 0 || weight === 2 + 4));
});

Deno.test("addWeights() counts nothing for references outside of the buffers", () => {
  const wild = makeColumn(new arrow.Utf8(), ["a", "b", "c"], {
    offsets: Int32Array.of(0, 1, 0x7fffffff, -5),
    values: new Uint8Array(3),
  });
  assert.deepEqual(weightsOf(oneColumn(wild)), [5, 4, 4]);
  const list = makeColumn(new arrow.List(new arrow.Field("item", new arrow.Utf8())), [1, 2], {
    offsets: Int32Array.of(0, 1, 0x7ffffff0),
    children: [wild],
  });
  assert.deepEqual(weightsOf(oneColumn(list)), [9, 4]);
});

Deno.test("pieceWeight() counts the last offset of every level", () => {
  const item = new arrow.Field("item", new arrow.Struct([new arrow.Field("t", new arrow.LargeUtf8())]));
  const data = makeColumn(new arrow.List(item), [], { offsets: new Int32Array(1), children: [] });
  const [type] = viewRows(oneColumn(data)).types;
  assert.equal(pieceWeight(type!), 4 + 8);
});
