import fc from "fast-check";
import assert from "node:assert/strict";
import { readArrow } from "../../../src/arrow/mod.ts";
import { bodyStrings } from "../../_support/arrow/mod.ts";
import { encodeRows } from "../../../src/json/encode.ts";
import { type Batch, batch, concat, dictionary, field, int32s, schema, stream, types } from "./_messages.ts";

const NONE = new Uint8Array(0);

/** A field with a dictionary of a type, and 32-bit indices. */
const coded = (type: typeof types.utf8 | typeof types.int32) =>
  schema([field("d", type, [], { 4: ["table", { 0: ["i64", 1] }] })]);

function bitmap(values: readonly unknown[]): Uint8Array {
  const bits = new Uint8Array(Math.ceil(values.length / 8));
  values.forEach((value, slot) => value !== null && (bits[slot >> 3]! |= 1 << (slot & 7)));
  return bits;
}

function column(values: readonly unknown[], ...buffers: readonly Uint8Array[]): Batch {
  const nulls = values.filter((value) => value === null).length;
  return {
    rows: values.length,
    nodes: [[values.length, nulls]],
    buffers: [nulls === 0 ? NONE : bitmap(values), ...buffers],
  };
}

function strings(values: readonly (string | null)[]): Batch {
  const bytes = values.map((value) => new TextEncoder().encode(value ?? ""));
  let end = 0;
  return column(values, int32s(0, ...bytes.map(({ length }) => end += length)), concat(...bytes));
}

const numbers = (values: readonly (number | null)[]): Batch =>
  column(values, int32s(...values.map((value) => value ?? 7)));

/** A stream that extends its dictionary before each batch; each batch refers to every value sent so far. */
function growing<T>(head: Uint8Array, parts: readonly (readonly T[])[], of: (values: readonly T[]) => Batch) {
  let known = 0;
  return stream(
    head,
    ...parts.flatMap((part, index) => {
      known += part.length;
      const indices = Array.from({ length: known }, (_, at) => at);
      return [dictionary(1, index > 0, of(part)), batch(column(indices, int32s(...indices)))];
    }),
  );
}

function partsOf<T>(value: fc.Arbitrary<T>): fc.Arbitrary<(T | null)[][]> {
  return fc.array(fc.array(fc.option(value), { maxLength: 12 }), { minLength: 1, maxLength: 12 });
}

async function assertGrows<T>(head: Uint8Array, parts: readonly (readonly T[])[], of: (values: readonly T[]) => Batch) {
  const batches = await Array.fromAsync(readArrow(growing(head, parts, of)));
  // Encoded after all deltas are read: a later delta must not change what an earlier batch refers to.
  const bodies = batches.map((rows) => bodyStrings(encodeRows(rows)));
  const expected = parts.map((_, index) => parts.slice(0, index + 1).flat().map((d) => JSON.stringify({ d })));
  assert.deepEqual(bodies, expected);
}

Deno.test("a dictionary of strings that grows by deltas has all values in each batch", async () => {
  const property = fc.asyncProperty(
    partsOf(fc.string({ unit: "binary" })),
    (parts) =>
      assertGrows(coded(types.utf8), parts.map((part) => part.map((text) => text?.toWellFormed() ?? null)), strings),
  );
  await fc.assert(property);
});

Deno.test("a dictionary of integers that grows by deltas has all values in each batch", async () => {
  const property = fc.asyncProperty(partsOf(fc.integer()), (parts) => assertGrows(coded(types.int32), parts, numbers));
  await fc.assert(property);
});

Deno.test("a dictionary that grows by 1,000 deltas has few chunks", async () => {
  const parts = Array.from({ length: 1000 }, (_, index) => [`value ${index}`]);
  let last: unknown;
  for await (const rows of readArrow(growing(coded(types.utf8), parts, strings))) last = rows;
  const chunks =
    (last as { data: { children: { dictionary: { data: unknown[] } }[] } }).data.children[0]!.dictionary.data;
  assert.ok(chunks.length <= 10, `${chunks.length} chunks`);
});

Deno.test("readArrow() refuses a delta with wrong offsets and does not merge it with earlier values", async () => {
  const wrong: Batch = { ...strings(["a", "b"]), buffers: [NONE, int32s(0, -1, 2), new TextEncoder().encode("ab")] };
  const indices = [0, 1, 2, 3];
  const ipc = stream(
    coded(types.utf8),
    dictionary(1, false, strings(["x", "y"])),
    dictionary(1, true, wrong),
    batch(column(indices, int32s(...indices))),
  );
  const [rows] = await Array.fromAsync(readArrow(ipc));
  assert.throws(() => encodeRows(rows!), { code: "encode.malformed", column: "d", row: 2 });
});
