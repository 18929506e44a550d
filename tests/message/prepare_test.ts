import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { ConfigError, EncodeError } from "../../src/errors/mod.ts";
import { messageId } from "../../src/hash/message_id.ts";
import { PieceMemory, type SpareMemory } from "../../src/json/memory/spare.ts";
import { batchHeaderBytes } from "../../src/message/batch_headers.ts";
import { operationOf } from "../../src/message/operations.ts";
import { prepareRows } from "../../src/message/prepare.ts";
import { MessageTarget, type TargetFields } from "../../src/message/target.ts";
import { resolveOptions } from "../../src/options/publisher.ts";
import { openBatch } from "../../src/publish/prepare_batch.ts";
import type { Options, RowBatch } from "../../src/types/mod.ts";
import { batchOf, intColumn, makeColumn, tableOf, textColumn } from "../_support/arrow/mod.ts";

const scope = {
  tenant: "t",
  pipeline: "p",
  sinkConnection: "s",
  stream: "ORDERS",
  subject: "orders.eu",
  resource: "eu",
};

function targetOf(fields: Partial<TargetFields> = {}): MessageTarget {
  return new MessageTarget({
    resource: "eu",
    stream: "ORDERS",
    subject: "orders.eu",
    maxMessageBytes: 1_048_576,
    limitedBy: "the connection's max_payload",
    maxInFlightBytes: 16_777_216,
    replyBytes: 40,
    scope,
    expectedStream: true,
    headers: [],
    ...fields,
  });
}

function prepared(
  batch: Partial<RowBatch> & Pick<RowBatch, "rows">,
  options: Partial<Options> = {},
  target = targetOf(),
  memory?: PieceMemory,
) {
  const source = openBatch(
    { resource: "eu", ...batch },
    resolveOptions({ stream: "ORDERS", subject: "orders.eu", ...options }),
  );
  return prepareRows(source, { from: 0, count: source.selected }, target, false, memory);
}

const floats = batchOf([{ name: "f", data: makeColumn(new arrow.Float64(), [0.5], { values: Float64Array.of(0.5) }) }]);
const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

function blockText(rows: ReturnType<typeof prepared>, index: number): string {
  const bytes = new Uint8Array(rows.headerBytes(index));
  assert.equal(rows.writeHeaders(index, bytes, 0), bytes.length);
  return textOf(bytes);
}

Deno.test("prepareRows() gives each row its operation and its id", () => {
  const rows = batchOf([textColumn("_filament_event_id", ["a", null, "", "d"]), intColumn("n", [1, 2, 3, 4])]);
  const made = prepared({ rows, operations: ["insert", "update", "delete", "insert"] });
  const head = (operation: string) =>
    `NATS/1.0\r\nContent-Type: application/json\r\nFilament-Operation: ${operation}\r\nNats-Expected-Stream: ORDERS\r\n`;
  assert.equal(blockText(made, 0), `${head("insert")}Nats-Msg-Id: ${messageId(scope, "a")}\r\n\r\n`);
  assert.equal(blockText(made, 1), `${head("update")}\r\n`);
  assert.equal(blockText(made, 2), `${head("delete")}\r\n`);
  assert.equal(blockText(made, 3), `${head("insert")}Nats-Msg-Id: ${messageId(scope, "d")}\r\n\r\n`);
  assert.deepEqual([0, 1, 2, 3].map((i) => made.hasId(i)), [true, false, false, true]);
});

Deno.test("prepareRows() into memory of earlier pieces returns the same rows, and end() returns the memory", () => {
  const ids = fc.array(fc.option(fc.string({ unit: "grapheme-ascii", maxLength: 9 })), { maxLength: 20 });
  fc.assert(fc.property(fc.array(ids, { minLength: 2, maxLength: 5 }), (pieces) => {
    const memory = new PieceMemory();
    for (const piece of pieces) {
      const column = textColumn("_filament_event_id", piece.map((id, row) => id && `${row} ${id}`));
      const batch = { rows: batchOf([column], piece.length) };
      const plain = prepared(batch);
      const rows = prepared(batch, {}, undefined, memory);
      assert.deepEqual([rows.bytes, rows.offsets, rows.bodyBytes], [plain.bytes, plain.offsets, plain.bodyBytes]);
      for (let i = 0; i < rows.count; i++) assert.equal(blockText(rows, i), blockText(plain, i));
      rows.free();
      rows.free();
      assert.deepEqual([rows.count, rows.crc32c, rows.hasIds], [piece.length, plain.crc32c, false]);
      for (const spare of [memory.bodies!, memory.offsets, memory.ids]) dirty(spare);
    }
  }));
});

/** Overwrites all spare memory, so that rows cannot depend on its content. */
function dirty(spare: SpareMemory): void {
  const all = [spare.take(), spare.take()];
  assert.ok(spare.take() === undefined);
  for (const bytes of all) if (bytes !== undefined) spare.give(bytes.fill(0xee));
}

Deno.test("prepareRows() counts the exact bytes of header block, payload and subject", () => {
  const rows = batchOf([textColumn("_filament_event_id", ["a", null]), textColumn("t", ["é", "xyz"])]);
  const made = prepared({ rows }, {}, targetOf({ subject: "orders.é" }));
  for (const index of [0, 1]) {
    const body = made.bytes.subarray(made.offsets[index], made.offsets[index + 1]);
    const subject = new TextEncoder().encode("orders.é");
    assert.equal(made.sizeOf(index), made.headerBytes(index) + body.length + subject.length);
  }
});

Deno.test("prepareRows() keeps row numbers under a selection, across a table's batches", () => {
  const table = tableOf(batchOf([intColumn("n", [0, 1, 2])]), batchOf([intColumn("n", [3, 4])]));
  const made = prepared({
    rows: table,
    only: [1, 3, 4],
    operations: ["insert", "insert", "insert", "delete", "update"],
  });
  assert.deepEqual([0, 1, 2].map((i) => made.rowNumber(i)), [1, 3, 4]);
  assert.equal(textOf(made.bytes), '{"n":1}{"n":3}{"n":4}');
  assert.deepEqual([0, 1, 2].map((i) => /Operation: (\w+)/.exec(blockText(made, i))?.[1]), [
    "insert",
    "delete",
    "update",
  ]);
});

const REFUSALS: readonly (readonly [
  what: string,
  batch: () => Partial<RowBatch> & Pick<RowBatch, "rows">,
  options: Partial<Options>,
  expected: { name: string; code: string; row?: number; column?: string; field?: string },
  message: RegExp,
])[] = [
  ["another length of operations", () => ({ rows: numbers(3), operations: ["insert", "insert"] }), {}, {
    name: "EncodeError",
    code: "encode.operations",
  }, /3 rows.*received 2/],
  ["another word as operation", () => ({ rows: numbers(2), operations: ["insert", "upsert" as never] }), {}, {
    name: "EncodeError",
    code: "encode.operations",
    row: 1,
  }, /operations\[1\].*"upsert"/],
  ["another word for all rows", () => ({ rows: numbers(2), operations: "INSERT" as never }), {}, {
    name: "EncodeError",
    code: "encode.operations",
  }, /"INSERT"/],
  ["a named id column that is missing", () => ({ rows: numbers(1) }), { eventIdColumn: "id" }, {
    name: "EncodeError",
    code: "encode.no_id_column",
  }, /"id".*"n"/],
  ["an id column of a type without ids", () => ({ rows: floats }), { eventIdColumn: "f" }, {
    name: "EncodeError",
    code: "encode.id",
  }, /"f".*Float64/],
  ["one id with two bodies", () => ({ rows: withIds(["a", "b", "a"], [1, 2, 3]) }), {}, {
    name: "EncodeError",
    code: "encode.duplicate_id",
    row: 2,
    column: "_filament_event_id",
  }, /row 2.*row 0.*"a"/],
  ["one id with two operations", () => ({ rows: withIds(["a", "a"], [1, 1]), operations: ["insert", "delete"] }), {}, {
    name: "EncodeError",
    code: "encode.duplicate_id",
    row: 1,
  }, /row 1.*row 0.*another operation/],
  ["a selection that does not ascend", () => ({ rows: numbers(3), only: [1, 1] }), {}, {
    name: "ConfigError",
    code: "config.range",
    field: "only",
  }, /only must be ascending row numbers below 3: received 1 at index 1/],
  ["a selection beyond the rows", () => ({ rows: numbers(3), only: [3] }), {}, {
    name: "ConfigError",
    code: "config.range",
    field: "only",
  }, /received 3/],
  ["a selection of no whole numbers", () => ({ rows: numbers(3), only: [0.5] }), {}, {
    name: "ConfigError",
    code: "config.range",
    field: "only",
  }, /received 0.5/],
  ["a selection that is not an array", () => ({ rows: numbers(3), only: "all" as never }), {}, {
    name: "ConfigError",
    code: "config.type",
    field: "only",
  }, /"all"/],
  ["a resource that is not a string", () => ({ rows: numbers(1), resource: 7 as never }), {}, {
    name: "ConfigError",
    code: "config.type",
    field: "resource",
  }, /received 7/],
];

Deno.test("prepareRows() of a piece reads only the operations of its own rows", () => {
  const rows = 4096;
  const source = openBatch(
    { resource: "eu", rows: numbers(rows), operations: Array.from({ length: rows }, () => "update" as const) },
    resolveOptions({ stream: "ORDERS", subject: "orders.eu" }),
  );
  let reads = 0;
  const operations = (row: number): number => {
    reads++;
    return operationOf(source.operations, row);
  };
  for (let from = 0; from < rows; from += 256) {
    const piece = prepareRows({ ...source, operations }, { from, count: 256 }, targetOf(), false);
    assert.match(blockText(piece, 0), /Filament-Operation: update/);
  }
  assert.equal(reads, rows, "one read per row");
});

Deno.test("prepareRows() encodes rows that must fit the window together at most twice, however few fit", () => {
  const rows = 1000;
  for (const size of [0, 30, 300, 30_000]) {
    const source = openBatch(
      { resource: "eu", rows: batchOf([textColumn("a", Array.from({ length: rows }, () => "x".repeat(size)))]) },
      resolveOptions({ stream: "ORDERS", subject: "orders.eu", publishMode: "atomic" }),
    );
    const [chunk] = source.view.chunks;
    let reads = 0;
    const offsets = new Proxy(chunk!.columns[0]!.offsets, {
      get(target, key) {
        if (typeof key === "string" && /^\d+$/.test(key)) reads++;
        return Reflect.get(target, key, target);
      },
    });
    const view = { ...source.view, chunks: [{ ...chunk!, columns: [{ ...chunk!.columns[0]!, offsets }] }] };
    const body = { view, raw: false };
    const target = targetOf({ maxInFlightBytes: 65_536, batchHeaderBytes });
    let from = 0;
    while (from < rows) {
      const piece = prepareRows({ ...source, view, body }, { from, count: rows - from }, target, true);
      assert.ok(piece.totalSize <= 65_536);
      const next = from + piece.count;
      if (next < rows) assert.ok(piece.totalSize + piece.sizeOf(0) > 65_000, "as many as fit");
      from = next;
    }
    // A row's value is located by two offsets.
    assert.ok(reads <= 2 * 2.1 * rows, `${reads / 2 / rows} encodings per row of ${size} bytes`);
  }
});

Deno.test("PreparedRows sums its rows' sizes once", () => {
  const rows = prepared({ rows: numbers(10) });
  assert.equal(rows.totalSize, rows.sizeOfRange(0, 10));
  rows.sizeOf = () => assert.fail("summed up again");
  assert.ok(rows.totalSize > 0);
});

function numbers(rows: number): arrow.RecordBatch {
  return batchOf([intColumn("n", Array.from({ length: rows }, (_, i) => i))]);
}

function withIds(ids: readonly (string | null)[], values: readonly number[]): arrow.RecordBatch {
  return batchOf([textColumn("_filament_event_id", ids), intColumn("n", values)]);
}

for (const [what, batch, options, expected, message] of REFUSALS) {
  Deno.test(`prepareRows() throws ${expected.code} for ${what}`, () => {
    assert.throws(() => prepared(batch(), options), (error: Error) => {
      assert.ok(error instanceof EncodeError || error instanceof ConfigError);
      for (const [key, value] of Object.entries(expected)) assert.equal(error[key as keyof typeof error], value);
      assert.match(error.message, message);
      return true;
    });
  });
}

Deno.test("prepareRows() accepts two rows with the same id and body: the server drops the second", () => {
  assert.equal(prepared({ rows: withIds(["a", "a"], [1, 1]) }).count, 2);
});

Deno.test("prepareRows() refuses an id that is not valid UTF-8, with its row", () => {
  const bytes = Uint8Array.of(0x61, 0xff, 0x62);
  const data = arrow.makeData({
    type: new arrow.Utf8(),
    length: 2,
    nullCount: 0,
    valueOffsets: Int32Array.of(0, 1, 3),
    data: bytes,
  });
  const rows = batchOf([{ name: "_filament_event_id", data }]);
  assert.throws(() => prepared({ rows }), {
    name: "EncodeError",
    code: "encode.id",
    row: 1,
    column: "_filament_event_id",
  });
});

Deno.test("prepareRows() of the same rows again does not report them as repeated ids", () => {
  const source = openBatch(
    { resource: "eu", rows: withIds(["a", "b", "a"], [1, 2, 1]) },
    resolveOptions({ stream: "ORDERS", subject: "orders.eu" }),
  );
  const ids = [0, 1].map(() => {
    const rows = prepareRows(source, { from: 0, count: 3 }, targetOf(), true);
    return [0, 1, 2].map((index) => rows.idText(index));
  });
  assert.deepEqual(ids[1], ids[0]);
});

Deno.test("repeated ids are found in any batch and selection, within a piece and across pieces", () => {
  const id = fc.constantFrom("a", "b", "c", "d", "e");
  const operation = fc.constantFrom("insert" as const, "delete" as const);
  fc.assert(fc.property(
    fc.array(fc.tuple(fc.option(id), fc.nat(1), fc.boolean(), operation), { minLength: 1, maxLength: 12 }),
    fc.option(operation),
    fc.integer({ min: 1, max: 12 }),
    fc.boolean(),
    (rows, one, piece, selected) => {
      const seen = new Map<string, string>();
      const only = [...rows.keys()].filter((row) => !selected || rows[row]![2]);
      const firstFault = rows.findIndex(([id, value, isIn, each]) => {
        if (id === null || (selected && !isIn)) return false;
        const known = seen.get(id);
        const message = `${one ?? each} ${value}`;
        if (known === undefined) seen.set(id, message);
        return known !== undefined && known !== message;
      });
      const batch = withIds(rows.map(([id]) => id), rows.map(([, value]) => value));
      const source = openBatch(
        {
          resource: "eu",
          rows: batch,
          operations: one ?? rows.map(([, , , each]) => each),
          ...(selected ? { only } : {}),
        },
        resolveOptions({ stream: "ORDERS", subject: "orders.eu" }),
      );
      let fault = -1;
      try {
        for (let from = 0; from < only.length; from += piece) {
          prepareRows(source, { from, count: Math.min(piece, only.length - from) }, targetOf(), true);
        }
      } catch (error) {
        assert.ok(error instanceof EncodeError && error.code === "encode.duplicate_id");
        fault = error.row!;
      }
      assert.equal(fault, firstFault);
    },
  ));
});

Deno.test("repeated ids are compared without reading the rows between them", () => {
  const rows = 4000;
  const numbers = Array.from({ length: rows }, (_, row) => row % (rows / 2));
  const source = openBatch(
    { resource: "eu", rows: withIds(numbers.map(String), numbers), only: [...numbers.keys()] },
    resolveOptions({ stream: "ORDERS", subject: "orders.eu" }),
  );
  let reads = 0;
  const only = new Proxy(source.only!, {
    get(target, key, receiver) {
      reads++;
      return Reflect.get(target, key, receiver);
    },
  });
  assert.equal(prepareRows({ ...source, only }, { from: 0, count: rows }, targetOf(), false).count, rows);
  assert.ok(reads < 50 * rows, `${reads} reads of the selection`);
});

Deno.test("sizes are exact when rows with and without an id differ", () => {
  const head =
    "NATS/1.0\r\nContent-Type: application/json\r\nFilament-Operation: insert\r\nNats-Expected-Stream: ORDERS\r\n\r\n"
      .length;
  const id = "Nats-Msg-Id: \r\n".length + 64;
  const body = '{"_filament_event_id":"a","n":1}'.length;
  const rows = withIds([null, "a"], [1_000, 1]);
  const limit = head + id + body;
  assert.equal(prepared({ rows }, {}, targetOf({ maxMessageBytes: limit })).count, 2);
  assert.throws(() => prepared({ rows }, {}, targetOf({ maxMessageBytes: limit - 1 })), {
    code: "encode.too_large",
    row: 1,
    size: limit,
    limit: limit - 1,
  });
});

Deno.test("prepareRows() gives rows in other forms the ids of the default forms", () => {
  const rows = withIds(["a", "b", "c"], [1, 2, 3]);
  const plain = prepared({ rows });
  const formed = prepared({ rows }, { json: { nulls: "omit", columns: { n: { int64: "string" } } } });
  for (let index = 0; index < 3; index++) assert.equal(formed.idText(index), plain.idText(index));
});

Deno.test("prepareRows() compares bodies of one id in their forms, also with an earlier piece's", () => {
  const withNull = batchOf([
    textColumn("_filament_event_id", ["a", "b", "a"]),
    textColumn("text", [null, "x", null]),
  ]);
  const options = { stream: "ORDERS", subject: "orders.eu", json: { nulls: "omit" } } as const;
  const source = openBatch({ resource: "eu", rows: withNull }, resolveOptions(options));
  for (const from of [0, 1, 2]) prepareRows(source, { from, count: 1 }, targetOf(), true);
});

Deno.test("openBatch() refuses forms of a column that the rows do not have, also if there are no rows", () => {
  const settings = resolveOptions({ stream: "S", subject: "s", json: { columns: { m: { int64: "string" } } } });
  for (const rows of [numbers(2), numbers(0)]) {
    assert.throws(() => openBatch({ resource: "eu", rows }, settings), { code: "encode.no_column", column: "m" });
  }
});
