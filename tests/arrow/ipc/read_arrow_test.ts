import assert from "node:assert/strict";
import { type ArrowSource, readArrow } from "../../../src/arrow/mod.ts";
import { deferred } from "../../../src/util/deferred.ts";
import { listFiles, readBytes } from "../../_support/testdata.ts";
import { readBodies } from "./_mutations.ts";
import { batch, concat, field, int32s, schema, stream, types } from "./_messages.ts";

const ids = schema([field("id", types.int32)]);
const batchOf = (...values: readonly number[]): Uint8Array =>
  batch({ rows: values.length, nodes: [[values.length, 0]], buffers: [new Uint8Array(0), int32s(...values)] });

/** Chunks that count how many were taken, and record whether they were closed. */
function watchedChunks(...chunks: readonly Uint8Array[]) {
  const state = { taken: 0, closed: 0 };
  const iterator = {
    next: () => {
      const value = chunks[state.taken++];
      return Promise.resolve(value === undefined ? { done: true, value } : { done: false, value });
    },
    return: () => {
      state.closed++;
      return Promise.resolve({ done: true, value: undefined });
    },
  } as AsyncIterator<Uint8Array>;
  return { state, source: { [Symbol.asyncIterator]: () => iterator } };
}

Deno.test("readArrow() resolves the schema before a batch is read, and yields all batches after that", async () => {
  const batches = readArrow(stream(ids, batchOf(1), batchOf(2, 3)));
  assert.deepEqual((await batches.schema).fields.map(({ name }) => name), ["id"]);
  const sizes: number[] = [];
  for await (const { numRows } of batches) sizes.push(numRows);
  assert.deepEqual(sizes, [1, 2]);
});

Deno.test("readArrow() resolves the schema of data without batches", async () => {
  assert.equal((await readArrow(stream(ids)).schema).fields.length, 1);
});

Deno.test("readArrow() rejects the schema with what the iterator throws", async () => {
  const cut = stream(ids, batchOf(1)).subarray(0, 20);
  const batches = readArrow(cut);
  await assert.rejects(batches.schema, { code: "encode.malformed" });
  await assert.rejects(batches[Symbol.asyncIterator]().next(), { code: "encode.malformed" });
});

Deno.test("readArrow() refuses a type without a JSON form when it reads the schema, naming column and type", async () => {
  const wide = schema([field("id", types.int32), field("wide", [2, { 0: ["i32", 128], 1: ["u8", 1] }])]);
  const batches = readArrow(stream(wide, batchOf(1)));
  await assert.rejects(batches.schema, { code: "encode.type", column: "wide", message: /"wide".*Int128/ });
  const unknown = schema([field("odd", [99, {}])]);
  await assert.rejects(readArrow(stream(unknown)).schema, { code: "encode.type", column: "odd", message: /99/ });
});

Deno.test("readArrow() reads one batch at a time and takes no chunk ahead", async () => {
  const { state, source } = watchedChunks(ids, batchOf(1), batchOf(2), batchOf(3), stream());
  const taken: number[] = [];
  for await (const _ of readArrow(source)) taken.push(state.taken);
  assert.deepEqual(taken, [2, 3, 4]);
});

Deno.test("readArrow() closes its source when the caller stops early, and after an error", async () => {
  const early = watchedChunks(ids, batchOf(1), batchOf(2), stream());
  for await (const _ of readArrow(early.source)) break;
  assert.equal(early.state.closed, 1);
  const broken = watchedChunks(ids, ids, stream());
  await assert.rejects(readArrow(broken.source)[Symbol.asyncIterator]().next(), { code: "encode.malformed" });
  assert.equal(broken.state.closed, 1);
  let cancelled = 0;
  const chunks = [ids, batchOf(1), batchOf(2)];
  const web = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(chunks.shift()!),
    cancel: () => void cancelled++,
  }, { highWaterMark: 0 });
  for await (const _ of readArrow(web)) break;
  assert.equal(cancelled, 1);
});

Deno.test("readArrow() throws an error of the source unchanged", async () => {
  const failure = new Error("the disk is gone");
  const source = (async function* () {
    yield await Promise.resolve(ids);
    throw failure;
  })();
  await assert.rejects(readArrow(source)[Symbol.asyncIterator]().next(), failure);
});

Deno.test("readArrow() throws the signal's reason when it aborts while the source is silent", async () => {
  const silent = deferred<void>();
  const source = (async function* () {
    yield concat(ids, batchOf(1));
    await silent.promise;
  })();
  const controller = new AbortController();
  const iterator = readArrow(source, { signal: controller.signal })[Symbol.asyncIterator]();
  assert.equal((await iterator.next()).value!.numRows, 1);
  const next = iterator.next();
  const reason = new Error("stop");
  controller.abort(reason);
  await assert.rejects(next, reason);
  silent.resolve();
});

Deno.test("readArrow() reads nothing when the signal is already aborted", async () => {
  const { state, source } = watchedChunks(ids, stream());
  const reason = new Error("stop");
  const iterator = readArrow(source, { signal: AbortSignal.abort(reason) })[Symbol.asyncIterator]();
  await assert.rejects(iterator.next(), reason);
  assert.ok(state.taken <= 1);
});

Deno.test("readArrow() throws a ConfigError when the source is not a valid source", () => {
  for (const source of [undefined, null, 5, "orders.arrow", {}, [1]]) {
    assert.throws(() => readArrow(source as unknown as ArrowSource), { name: "ConfigError", field: "source" });
  }
});

Deno.test("readArrow() refuses the file format from a source that is read in order, and names the fix", async () => {
  const iterator = readArrow(new Blob([readBytes("ipc/plain.arrow")]).stream())[Symbol.asyncIterator]();
  await assert.rejects(iterator.next(), { code: "encode.malformed", message: /file format.*Pass its bytes or a Blob/ });
});

for (const file of listFiles("ipc").filter((name) => /\.arrows?$/.test(name))) {
  Deno.test(`readArrow() refuses ${file} truncated after any byte`, async () => {
    const ipc = readBytes(`ipc/${file}`);
    for (let length = 0; length < ipc.length; length++) {
      await assert.rejects(readBodies(ipc.slice(0, length)), { code: "encode.malformed" }, `${length} bytes`);
    }
  });
}

Deno.test("readArrow() refuses data after the end-of-stream marker", async () => {
  const one = stream(ids, batchOf(1));
  await assert.rejects(readBodies(concat(one, one)), { code: "encode.malformed", message: /after its end-of-stream/ });
});
