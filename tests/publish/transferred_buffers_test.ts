import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import fc from "fast-check";
import { openRun, Publisher } from "../../mod.ts";
import { encodeSteps } from "../../src/json/encode.ts";
import { viewRows } from "../../src/arrow/view.ts";
import type { PreparedRows } from "../../src/message/prepared_rows.ts";
import { prepareSteps } from "../../src/message/prepare.ts";
import { resolveOptions } from "../../src/options/publisher.ts";
import { openBatch } from "../../src/publish/prepare_batch.ts";
import { type Steps, toEnd } from "../../src/util/steps.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { onVirtualClock } from "../_support/clock.ts";
import { targetOf } from "../message/_target.ts";

const OPTIONS = { stream: "ORDERS", subject: "orders.{resource}", maxInFlight: 64 };

/** A table with buffers of its own, in chunks: the IPC reader shares one buffer for a batch. */
function table(rows: number, chunks: number): { table: arrow.Table; buffers: Set<ArrayBuffer> } {
  const batches = Array.from({ length: chunks }, (_, chunk) => {
    const at = (row: number): number => chunk * rows + row;
    const index = Array.from({ length: rows }, (_, row) => row);
    return arrow.tableFromArrays({
      _filament_event_id: index.map((row) => `event-${at(row)}`),
      n: Float64Array.from(index, at),
      i: Int32Array.from(index, at),
      b: BigInt64Array.from(index, (row) => BigInt(at(row))),
      bool: index.map((row) => row % 3 === 0),
      list: index.map((row) => [row, null]),
      text: index.map((row) => row % 5 === 0 ? null : `text ${row}`.repeat(4)),
      at: index.map((row) => new Date(1.7e12 + row)),
    });
  });
  const { schema } = batches[0]!;
  const whole = new arrow.Table(schema, batches.map((one) => new arrow.RecordBatch(schema, one.batches[0]!.data)));
  const buffers = new Set<ArrayBuffer>();
  const collect = (data: arrow.Data): void => {
    for (const buffer of [data.values, data.valueOffsets, data.nullBitmap, data.typeIds]) {
      if (ArrayBuffer.isView(buffer) && buffer.byteLength > 0) buffers.add(buffer.buffer as ArrayBuffer);
    }
    data.children.forEach(collect);
    data.dictionary?.data.forEach(collect);
  };
  for (const { data } of whole.batches) collect(data);
  return { table: whole, buffers };
}

const detach = (buffer: ArrayBuffer): void => void structuredClone(buffer, { transfer: [buffer] });

for (const frames of [false, true]) {
  Deno.test(
    `a buffer transferred right after publish() leads to encode.malformed, and nothing is sent (frames: ${frames})`,
    onVirtualClock(async () => {
      const { buffers: all } = table(20, 1);
      for (let which = 0; which < all.size; which++) {
        const fake = fakeConnection({ frames });
        const publisher = await Publisher.open(fake.nc, OPTIONS);
        const { table: rows, buffers } = table(20, 1);
        const call = publisher.publish({ resource: "eu", rows });
        detach([...buffers][which]!);
        await assert.rejects(call, { name: "EncodeError", code: "encode.malformed" }, `buffer ${which}`);
        assert.equal(fake.published.length, 0);
        await publisher.publish({ resource: "eu", rows: table(3, 1).table });
        await publisher.close();
      }
    }),
  );
}

Deno.test(
  "a buffer transferred at any time of a publish leads to encode.malformed or to valid JSON",
  onVirtualClock(async () => {
    await fc.assert(
      fc.asyncProperty(fc.nat(), fc.nat({ max: 40 }), fc.boolean(), async (which, turns, sequence) => {
        const bodies: string[] = [];
        const fake = fakeConnection({
          answers: ({ data, index }) => {
            bodies.push(new TextDecoder().decode(data));
            return { body: { stream: "ORDERS", seq: index + 1 } };
          },
        });
        const { table: rows, buffers } = table(1500, 3);
        const run = await openRun(fake.nc, OPTIONS);
        const batch = { resource: "eu", rows };
        const call = sequence ? run.applyAll([batch], { batchMaxRows: 700 }) : run.apply(batch);
        const ended = call.then(() => undefined, (error) => error);
        for (let turn = 0; turn < turns; turn++) {
          await (turn % 2 === 0 ? new Promise((resolve) => setTimeout(resolve, 0)) : Promise.resolve());
        }
        detach([...buffers][which % buffers.size]!);
        const error = await ended;
        if (error !== undefined) assert.equal(error.code, "encode.malformed", String(error));
        bodies.forEach((body) => {
          const { n, i, b, bool, text, list, at } = JSON.parse(body);
          const row = n % 1500;
          const words = row % 5 === 0 ? null : `text ${row}`.repeat(4);
          assert.deepEqual([i, b, bool, text, list], [n, n, row % 3 === 0, words, [row, null]]);
          assert.equal(Date.parse(`${at}Z`), 1.7e12 + row);
        });
        await run.abort();
      }),
      { numRuns: 60 },
    );
  }),
);

Deno.test(
  "each step of an encoding checks the memory that it reads",
  onVirtualClock(() => {
    const { table: rows, buffers } = table(500, 1);
    const steps = encodeSteps(viewRows(rows), {}, 1000);
    steps.next();
    steps.next();
    detach([...buffers][1]!);
    assert.throws(() => steps.next(), { code: "encode.malformed" });
  }),
);

/** 5000 rows that are made into messages, their number of steps unknown, and the buffers of their columns. */
function messageSteps(): { steps: Steps<PreparedRows>; buffers: ArrayBuffer[] } {
  const settings = resolveOptions({
    ...OPTIONS,
    subject: "orders.{row.kind|none}",
    headers: { "X-N": "{row.n}" },
    operationColumn: "operation",
    bodyColumns: { pick: ["n"] },
  });
  const target = targetOf(settings);
  const index = Array.from({ length: 5000 }, (_, row) => row);
  const rows = arrow.tableFromArrays({
    n: Int32Array.from(index),
    kind: index.map((row) => row % 5 === 0 ? null : `kind-${row % 7}`),
    operation: index.map((row) => row % 2 === 0 ? "insert" : "delete"),
  });
  const buffers = rows.batches[0]!.data.children.flatMap(({ values, nullBitmap, dictionary }) => {
    const words = dictionary?.data[0];
    return [values, nullBitmap, words?.values, words?.valueOffsets].filter((view) => view?.byteLength > 0)
      .map(({ buffer }) => buffer);
  });
  const source = openBatch({ resource: "eu", rows }, settings);
  return { buffers, steps: prepareSteps(source, { from: 0, count: 5000 }, target, false) };
}

/** Runs the steps, and detaches a buffer before one of them. Returns the code of the error, and how many steps there were. */
function detachedAt(at: number, which: number): { code?: string; length: number } {
  const { steps, buffers } = messageSteps();
  for (let length = 0;; length++) {
    if (length === at) detach(buffers[which]!);
    try {
      const { done, value: rows } = steps.next();
      if (!done) continue;
      for (let row = 0; row < rows.count; row++) checkMessage(rows, row);
      return { length };
    } catch (error) {
      return { code: (error as { code: string }).code, length };
    }
  }
}

function checkMessage(rows: PreparedRows, row: number): void {
  assert.equal(rows.subjectOf(row), `orders.${row % 5 === 0 ? "none" : `kind-${row % 7}`}`);
  const headers = new Uint8Array(rows.headerBytes(row));
  rows.writeHeaders(row, headers, 0);
  const expected = `Filament-Operation: ${
    row % 2 === 0 ? "insert" : "delete"
  }\r\nNats-Expected-Stream: ORDERS\r\nX-N: ${row}`;
  assert.ok(new TextDecoder().decode(headers).includes(`\r\n${expected}\r\n`));
}

Deno.test("each step that makes messages checks the memory of the columns that it reads", () => {
  const { length } = detachedAt(Infinity, 0);
  const { buffers } = messageSteps();
  for (let at = 1; at < length; at++) {
    for (let which = 0; which < buffers.length; which++) {
      const { code } = detachedAt(at, which);
      assert.ok(code === undefined || code === "encode.malformed", `buffer ${which} before step ${at}: ${code}`);
    }
  }
});

Deno.test("the memory of an earlier row with the same id is checked before the ids are compared", () => {
  const strings = (values: readonly (string | null)[]) => arrow.vectorFromArray(values, new arrow.Utf8());
  const chunk = (ids: readonly (string | null)[], first: number) => {
    const n = Int32Array.from(ids, (_, row) => first + row);
    return new arrow.Table({ _filament_event_id: strings(ids), n: arrow.makeVector(n) });
  };
  for (const isDetached of [false, true]) {
    const first = chunk(Array.from({ length: 1024 }, (_, row) => row === 0 ? "twice" : row === 1 ? null : `${row}`), 0);
    const rows = first.concat(chunk(["twice"], 1024));
    const settings = resolveOptions(OPTIONS);
    const source = openBatch({ resource: "eu", rows }, settings);
    const steps = prepareSteps(source, { from: 0, count: 1025 }, targetOf(settings), false);
    // The first pause is between the operations of the chunks, the second between their ids.
    for (let pause = 0; pause < 2; pause++) assert.equal(steps.next().done, false);
    if (isDetached) detach(first.batches[0]!.data.children[0]!.nullBitmap.buffer as ArrayBuffer);
    assert.throws(() => toEnd(steps), { code: isDetached ? "encode.malformed" : "encode.duplicate_id" });
  }
});
