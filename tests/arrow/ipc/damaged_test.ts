import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import { zstdCompressSync } from "node:zlib";
import type { EncodeErrorCode } from "../../../src/errors/mod.ts";
import { readBytes } from "../../_support/testdata.ts";
import { readBodies, watchArrays } from "./_mutations.ts";
import { type Batch, batch, concat, field, int32s, message, schema, stream, type Table, types } from "./_messages.ts";

const NONE = new Uint8Array(0);
const MIB = 1 << 20;
const ids = schema([field("id", types.int32)]);
const names = schema([field("name", types.utf8)]);
const views = schema([field("view", types.utf8View)]);
const three: Batch = { rows: 3, nodes: [[3, 0]], buffers: [NONE, int32s(1, 2, 3)] };
const view: Batch = { rows: 1, nodes: [[1, 0]], buffers: [NONE, int32s(1, 97, 0, 0)], variadic: [0] };

/** Asserts that data is refused, and that no large array was allocated for it. */
async function assertRefused(ipc: Uint8Array<ArrayBuffer>, pattern: RegExp, more: object = {}): Promise<void> {
  const code: EncodeErrorCode = "encode.malformed";
  const watch = watchArrays();
  try {
    await assert.rejects(readBodies(ipc), { name: "EncodeError", code, message: pattern, ...more });
  } finally {
    watch.end();
  }
  assert.ok(watch.largest() <= 2 * MIB, `an array of ${watch.largest()} bytes was allocated`);
}

Deno.test("readArrow() reads what the writers of these tests write when nothing is damaged", async () => {
  assert.deepEqual(
    await readBodies(stream(ids, batch(three), batch(three))),
    [1, 2, 3, 1, 2, 3].map((id) => `{"id":${id}}`),
  );
  const text: Batch = { rows: 2, nodes: [[2, 0]], buffers: [NONE, int32s(0, 1, 3), new TextEncoder().encode("abc")] };
  assert.deepEqual(await readBodies(stream(names, batch(text))), ['{"name":"a"}', '{"name":"bc"}']);
  assert.deepEqual(await readBodies(stream(views, batch(view))), ['{"view":"a"}']);
  assert.deepEqual(await readBodies(stream(ids)), []);
});

const list = field("l", types.list, [field("item", types.int32)]);
const pair = field("s", types.structs, [field("a", types.int32), field("b", types.int32)]);

/** What is wrong, the data, and what the error message says. */
const cases: readonly (readonly [string, Uint8Array<ArrayBuffer>, RegExp, object?])[] = [
  ["more rows than values", stream(ids, batch(three), batch({ ...three, rows: 5 })), /"id": it has 3 values.* 5 rows/, {
    batch: 1,
    column: "id",
  }],
  ["fewer rows than values", stream(ids, batch({ ...three, rows: 2 })), /"id": it has 3 values.* 2 rows/, { batch: 0 }],
  ["a negative number of rows", stream(ids, batch({ ...three, rows: -1 })), /-1 rows/],
  ["too few values", stream(ids, batch({ ...three, rows: 4, nodes: [[4, 0]] })), /12 bytes instead of 16/],
  ["more nulls than values", stream(ids, batch({ ...three, nodes: [[3, 4]] })), /4 of its 3 values are null/],
  ["nulls without a bitmap", stream(ids, batch({ ...three, nodes: [[3, 1]] })), /no validity bitmap/],
  ["too few nodes", stream(ids, batch({ ...three, nodes: [] })), /only 0 nodes/],
  ["too many nodes", stream(ids, batch({ ...three, nodes: [[3, 0], [3, 0]] })), /2 nodes .* asks for 1/],
  ["too few buffers", stream(ids, batch({ ...three, buffers: [NONE] })), /only 1 buffers/],
  ["too many buffers", stream(ids, batch({ ...three, buffers: [NONE, int32s(1, 2, 3), NONE] })), /3 buffers.* for 2/],
  ["a buffer behind the body", stream(ids, batch({ ...three, positions: [[0, 0], [8, 12]] })), /body of 16 bytes/],
  ["a buffer before the body", stream(ids, batch({ ...three, positions: [[0, 0], [-8, 12]] })), /offset .* is -8/],
  ["a buffer of 2^40 bytes", stream(ids, batch({ ...three, positions: [[0, 0], [0, 2 ** 40]] })), /body of 16 bytes/],
  [
    "a body longer than its buffers",
    stream(
      ids,
      message(3, {
        0: ["i64", 3],
        1: ["pairs", [[3, 0]]],
        2: ["pairs", [[0, 0], [0, 12]]],
      }, new Uint8Array(512)),
    ),
    /body of 512 bytes and its last buffer ends at byte 12/,
  ],
  [
    "children shorter than their struct",
    stream(
      schema([pair]),
      batch({
        rows: 2,
        nodes: [[2, 0], [2, 0], [1, 0]],
        buffers: [NONE, NONE, int32s(1, 2), NONE, int32s(1)],
      }),
    ),
    /child "b" has 1 values instead of 2/,
  ],
  [
    "items beyond a list's child",
    stream(
      schema([list]),
      batch({
        rows: 1,
        nodes: [[1, 0], [1, 0]],
        buffers: [NONE, int32s(0, 2), NONE, int32s(1)],
      }),
    ),
    /"l"/,
  ],
  ["2^30 view buffers", stream(views, batch({ ...view, variadic: [2 ** 30] })), /1073741824 view buffers/],
  ["no count of view buffers", stream(views, batch({ ...view, variadic: [] })), /no count of its view buffers/],
  ["a count of view buffers without views", stream(ids, batch({ ...three, variadic: [0] })), /counts of view buffers/],
  ["a second schema", stream(ids, ids), /one schema/],
  ["no schema", stream(batch(three)), /one schema/],
  [
    "a dictionary of no field",
    stream(ids, message(2, { 0: ["i64", 7], 1: ["table", {}] })),
    /no field has dictionary 7/,
  ],
  [
    "a dictionary that is not sent",
    stream(
      schema([field("d", types.utf8, [], { 4: ["table", { 0: ["i64", 7] }] })]),
      batch(three),
    ),
    /dictionary 7 was not sent/,
    { column: "d", batch: 0 },
  ],
  ["big-endian data", stream(schema([field("id", types.int32)], { 0: ["i16", 1] })), /big-endian/],
  ["a type nested 1,000 levels deep", stream(schema([deep(1000)])), /nested deeper/],
  ["a field without a type", stream(schema([{ 0: ["string", "x"] }])), /no type/],
  [
    "one long string that is referred to 20,000 times",
    stream(schema([field("id", types.int32)], {
      2: ["tables", new Array<Table>(20_000).fill({ 0: ["string", "k".repeat(50_000)] })],
    })),
    /same bytes too often/,
  ],
];

function deep(levels: number): Table {
  let type = field("item", types.int32);
  for (let level = 0; level < levels; level++) type = field("list", types.list, [type]);
  return type;
}

for (const [what, ipc, pattern, more] of cases) {
  Deno.test(`readArrow() refuses ${what}`, () => assertRefused(ipc, pattern, more));
}

Deno.test("readArrow() refuses a vtable of any size that does not fit", async () => {
  const whole = readBytes("ipc/plain.arrows");
  const data = new DataView(whole.buffer);
  const batchAt = 8 + data.getInt32(4, true);
  const root = batchAt + 8 + data.getUint32(batchAt + 8, true);
  const vtable = root - data.getInt32(root, true);
  for (const size of [0, 1, 2, 3, 5, 13, 0x7fff, 0x8000, 0x8004, 0xfffe, 0xffff]) {
    const damaged = whole.slice();
    new DataView(damaged.buffer).setUint16(vtable, size, true);
    await assertRefused(damaged, /vtable/);
  }
});

/** A compressed buffer: the length that it announces, and its data. */
function compressed(length: number, data: Uint8Array): Uint8Array {
  const prefix = new Uint8Array(8);
  new DataView(prefix.buffer).setBigInt64(0, BigInt(length), true);
  return concat(prefix, data);
}

const zeros = zstdCompressSync(Buffer.alloc(64 * MIB));
const stored = Uint8Array.of(4, 0x22, 0x4d, 0x18, 0x40, 0x40, 0, 12, 0, 0, 0x80, ...int32s(1, 2, 3), 0, 0, 0, 0);

for (const length of [64 * MIB, 2 ** 30, 2 ** 40, -2]) {
  Deno.test(`readArrow() does not decompress ${length} bytes for a column of 12 bytes`, async () => {
    for (const [codec, data] of [["zstd", zeros], ["lz4", stored]] as const) {
      const ipc = stream(ids, batch({ ...three, codec, buffers: [NONE, compressed(length, data)] }));
      await assertRefused(ipc, /announces -?\d+ bytes and its column needs 12/, { column: "id" });
    }
  });
}

Deno.test("readArrow() refuses an LZ4 frame that is too short for its offsets and announced length", async () => {
  const offsets = compressed(-1, int32s(0, 0, 0, 2 ** 30));
  const ipc = stream(names, batch({ ...three, codec: "lz4", buffers: [NONE, offsets, compressed(2 ** 30, stored)] }));
  await assertRefused(ipc, /LZ4 frame of \d+ bytes announces 1073741824/);
});

Deno.test("readArrow() refuses compressed data whose decompressed size differs from the announced one", async () => {
  for (const [codec, data] of [["zstd", zstdCompressSync(int32s(1, 2, 3))], ["lz4", stored]] as const) {
    const of = (length: number) => stream(ids, batch({ ...three, codec, buffers: [NONE, compressed(length, data)] }));
    assert.deepEqual(await readBodies(of(12)), ['{"id":1}', '{"id":2}', '{"id":3}']);
    for (const length of [11, 13, 16]) await assertRefused(of(length), /./, { column: "id" });
  }
});

Deno.test("readArrow() reads an uncompressed length of 0 as an empty buffer, with or without bytes after it", async () => {
  for (const codec of ["zstd", "lz4"] as const) {
    for (const data of [NONE, stored, zstdCompressSync(NONE)]) {
      const buffers = [compressed(0, data), compressed(-1, int32s(0, 0, 0, 0)), compressed(0, data)];
      const bodies = await readBodies(stream(names, batch({ ...three, codec, buffers })));
      assert.deepEqual(bodies, Array(3).fill('{"name":""}'));
    }
  }
});
