import { makeVector, RecordBatchStreamWriter, Table, tableFromArrays, tableToIPC, vectorFromArray } from "apache-arrow";
import assert from "node:assert/strict";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { InputError } from "../../src/cli/input/error.ts";
import { openPath, openPipe } from "../../src/cli/input/open.ts";
import { encodeRows } from "../../src/json/encode.ts";
import type { ArrowBatch } from "../../src/types/mod.ts";

const INPUTS = fileURLToPath(new URL("../_testdata/inputs/", import.meta.url));

function table(rows = 10): Table {
  const [batch] = tableFromArrays({
    id: Int32Array.from({ length: rows }, (_, i) => i),
    kind: Array.from({ length: rows }, (_, i) => ["a", "b", "c"][i % 3]!),
  }).batches;
  return new Table([batch!, batch!]);
}

/** A stream of batches that share one dictionary. */
function stream(batches = 3): Uint8Array {
  const kind = vectorFromArray(["a", "b", "a", "c"]);
  const one = new Table({ id: makeVector(Int32Array.of(1, 2, 3, 4)), kind });
  const writer = new RecordBatchStreamWriter();
  for (let i = 0; i < batches; i++) writer.write(one.batches[0]!);
  writer.finish();
  return writer.toUint8Array(true);
}

/** The bytes in chunks whose sizes repeat. */
async function* chunked(bytes: Uint8Array, sizes: readonly number[]): AsyncGenerator<Uint8Array> {
  for (let at = 0, i = 0; at < bytes.length; i++) {
    const size = sizes[i % sizes.length]!;
    await Promise.resolve();
    yield bytes.subarray(at, at + size);
    at += size;
  }
}

async function jsonOf(batches: AsyncIterable<ArrowBatch>): Promise<string[]> {
  const rows: string[] = [];
  for await (const batch of batches) {
    const { bytes, offsets } = encodeRows(batch);
    for (let i = 0; i + 1 < offsets.length; i++) {
      rows.push(new TextDecoder().decode(bytes.subarray(offsets[i], offsets[i + 1])));
    }
  }
  return rows;
}

async function withFile<T>(bytes: Uint8Array, use: (path: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "jetrow-input-"));
  try {
    const path = join(folder, "orders.arrow");
    writeFileSync(path, bytes);
    return await use(path);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

async function refusal(promise: Promise<unknown>, words: RegExp): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof InputError, String(error));
    assert.match(error.message, words);
    return true;
  });
}

const pipe = (bytes: Uint8Array, sizes: readonly number[] = [65536]) =>
  openPipe(chunked(bytes, sizes), "standard input").batches();
const file = (bytes: Uint8Array) => withFile(bytes, async (path) => await jsonOf((await openPath(path)).batches()));

Deno.test("openPipe() reads a stream in chunks of any size", async () => {
  const bytes = stream();
  const expected = await jsonOf(pipe(bytes));
  assert.equal(expected.length, 12);
  assert.equal(expected[1], '{"id":2,"kind":"b"}');
  for (const sizes of [[1], [3, 1, 7], [8], [13, 4096], [bytes.length]]) {
    assert.deepEqual(await jsonOf(pipe(bytes, sizes)), expected);
  }
});

Deno.test("openPipe() yields a batch while the pipe pauses after it", async () => {
  const bytes = stream(2);
  const batches = openPipe(
    (async function* () {
      yield bytes.subarray(0, bytes.length - 8);
      await new Promise(() => {});
    })(),
    "standard input",
  ).batches()[Symbol.asyncIterator]();
  for (let i = 0; i < 2; i++) assert.equal((await batches.next()).value?.numRows, 4);
});

Deno.test("openPath() reads both formats, and knows the number of rows in advance", async () => {
  for (const format of ["stream", "file"] as const) {
    await withFile(tableToIPC(table(), format), async (path) => {
      const input = await openPath(path);
      assert.equal(input.rows, 20);
      const rows = await jsonOf(input.batches());
      assert.deepEqual([rows[0], rows[19]], ['{"id":0,"kind":"a"}', '{"id":9,"kind":"a"}']);
    });
  }
});

Deno.test("an input without rows has no batches, whatever its columns", async () => {
  const nothing = tableFromArrays({ id: new Int32Array(0), list: [] });
  assert.deepEqual(await jsonOf(pipe(tableToIPC(nothing, "stream"))), []);
  assert.deepEqual(await file(tableToIPC(nothing, "file")), []);
  const schemaAlone = new Uint8Array([...tableToIPC(new Table(nothing.schema, []), "stream")]);
  assert.deepEqual(await jsonOf(pipe(schemaAlone)), []);
});

Deno.test("a stream truncated at any byte is refused, from a pipe and from a file", async () => {
  const bytes = stream();
  const cuts = new Set([...Array(48).keys()].map((i) => Math.floor((i * bytes.length) / 48)));
  for (const back of [1, 2, 4, 7, 8, 9]) cuts.add(bytes.length - back);
  for (const end of cuts) {
    await refusal(
      jsonOf(pipe(bytes.subarray(0, end))),
      end === 0 ? /is empty/ : /ends (within|at byte)|Arrow/,
    );
    await refusal(
      file(bytes.subarray(0, end)),
      end === 0 ? /is empty/ : /ends (within|at byte)|Arrow/,
    );
  }
});

Deno.test("a stream that ends between two messages without its end marker is refused by name", async () => {
  const bytes = stream();
  await refusal(
    jsonOf(pipe(bytes.subarray(0, bytes.length - 8))),
    /standard input cannot be read: it ends at byte \d+ without the end-of-stream/,
  );
});

Deno.test("a stream that continues after its end marker is refused", async () => {
  const twice = new Uint8Array([...stream(), ...stream()]);
  await refusal(jsonOf(pipe(twice)), /continues after its end-of-stream marker at byte \d+/);
});

Deno.test("a file truncated at any byte is refused before a row is read", async () => {
  const bytes = tableToIPC(table(), "file");
  for (let end = 8; end < bytes.length; end += 41) {
    await withFile(bytes.subarray(0, end), (path) => refusal(openPath(path), /is cut|footer/));
  }
});

Deno.test("the file format and Parquet are refused from a pipe, and the message says to give a path", async () => {
  await refusal(jsonOf(pipe(tableToIPC(table(), "file"))), /is the Arrow file format, .*: give the file's path/);
  await refusal(jsonOf(pipe(new TextEncoder().encode("PAR1........"))), /is Parquet, .*: give the file's path/);
});

/** Sets the first field of the schema at a table, the endianness, which writers omit for little endian. */
function makeBigEndian(bytes: Uint8Array, root: number, slot: number): Uint8Array {
  const copy = bytes.slice();
  const view = new DataView(copy.buffer);
  const field = (table: number, slot: number) => {
    const entry = table - view.getInt32(table, true) + 4 + 2 * slot;
    return { entry, at: table + view.getUint16(entry, true) };
  };
  const message = root + view.getUint32(root, true);
  const header = field(message, slot).at;
  const schema = header + view.getUint32(header, true);
  const fields = field(schema, 1);
  // At the second field's position there is a number that is not zero.
  view.setUint16(field(schema, 0).entry, fields.at - schema, true);
  return copy;
}

Deno.test("big-endian data is refused, from a pipe and from a file", async () => {
  const bytes = makeBigEndian(stream(), 8, 2);
  await refusal(jsonOf(pipe(bytes)), /standard input cannot be read: the data is big-endian/);
  await refusal(file(bytes), /big-endian/);
  const whole = tableToIPC(table(), "file");
  const footer = whole.length - 10 - new DataView(whole.buffer, whole.byteOffset).getInt32(whole.length - 10, true);
  await refusal(file(makeBigEndian(whole, footer, 1)), /orders\.arrow cannot be read: the data is big-endian/);
});

Deno.test("openPipe() and openPath() refuse other formats, which they recognize by the first bytes", async () => {
  const text = (content: string) => new TextEncoder().encode(content);
  await refusal(jsonOf(pipe(text('{"id":1}\n{"id":2}\n'))), /neither Arrow IPC nor Parquet: it begins with "\{\\"id/);
  await refusal(jsonOf(pipe(text("id,name\n1,a\n"))), /neither Arrow IPC .*"id,name\\n"$/);
  await refusal(jsonOf(pipe(Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0))), /compressed as a whole: .*gzip -dc/);
  await refusal(jsonOf(pipe(text("FEA1....."))), /Feather file of version 1/);
  await refusal(jsonOf(pipe(Uint8Array.of(1, 2))), /neither Arrow IPC/);
  await refusal(file(text("x")), /neither Arrow IPC/);
  await refusal(openPath("/no/such/orders.arrow"), /orders\.arrow cannot be read: no such file/);
  await refusal(openPath(INPUTS), /cannot be read: it is a directory/);
});

Deno.test("random damage to a message's frame is refused or read, and never hangs or crashes", async () => {
  const bytes = stream(2);
  let seed = 1;
  const random = (below: number) => (seed = (seed * 48271) % 0x7fffffff) % below;
  for (let i = 0; i < 300; i++) {
    const copy = bytes.slice();
    for (let j = 0; j < 3; j++) copy[random(400)] = random(256);
    await jsonOf(pipe(copy)).catch((error) => {
      assert.ok(error instanceof InputError || error.name === "EncodeError", error?.stack);
    });
  }
});

Deno.test("openPath() reads what pyarrow writes, compressed or not", async () => {
  const plain = await withBytes("pyarrow_plain.arrows");
  assert.equal(plain.length, 300);
  for (const name of ["pyarrow_lz4.feather", "pyarrow_zstd.feather", "pyarrow_lz4.arrows", "pyarrow_zstd.arrows"]) {
    assert.deepEqual(await withBytes(name), plain, name);
  }
});

Deno.test("openPath() reads Parquet, one row group at a time", async () => {
  const path = join(INPUTS, "pyarrow.parquet");
  const input = await openPath(path);
  assert.equal(input.rows, 300);
  const sizes: number[] = [];
  for await (const { numRows } of input.batches()) sizes.push(numRows);
  assert.deepEqual(sizes, [100, 100, 100]);
  assert.deepEqual(await withBytes("pyarrow.parquet"), await withBytes("pyarrow_plain.arrows"));
  const bytes = readFileSync(path);
  for (const end of [4, 100, bytes.length - 1]) {
    await withFile(
      bytes.subarray(0, end),
      (path) => refusal(openPath(path), /orders\.arrow cannot be read as Parquet: /),
    );
  }
});

Deno.test("openPath() refuses damaged Parquet that makes the decoder panic, and can read the next file", async () => {
  const bytes = readFileSync(join(INPUTS, "pyarrow.parquet"));
  for (const [at, group] of [[4, 0], [3802, 1], [10343, 2]] as const) {
    const damaged = Uint8Array.from(bytes).fill(0xff, at, at + 8);
    const expected = new RegExp(`row group ${group} cannot be read as Parquet: the Parquet decoder crashed`);
    await refusal(file(damaged), expected);
  }
  assert.equal((await withBytes("pyarrow.parquet")).length, 300);
});

Deno.test("openPath() reads what polars writes: views, categoricals, large lists", async () => {
  const plain = await withBytes("polars.arrows");
  assert.equal(plain.length, 120);
  assert.match(plain[1]!, /^\{"id":1,"name":"row 1 ab","kind":"beta","tags":\["t0"\],"raw":"Af4="\}$/);
  for (const name of ["polars.arrow", "polars_lz4.arrow"]) assert.deepEqual(await withBytes(name), plain, name);
});

Deno.test("both formats of Arrow's integration files have the same rows, or are refused by name", async () => {
  const folder = fileURLToPath(new URL("../_testdata/arrow-testing/cpp-21.0.0/", import.meta.url));
  const outcome = async (path: string) =>
    await openPath(path).then((input) => jsonOf(input.batches())).catch((error) => {
      assert.ok(error instanceof InputError || error.name === "EncodeError", error.stack);
      return error.message.replace(path, "").replace(/, byte \d+/, "");
    });
  let read = 0;
  for (const name of readdirSync(folder).filter((name) => name.endsWith(".stream"))) {
    const rows = await outcome(join(folder, name));
    read += Array.isArray(rows) ? 1 : 0;
    const other = join(folder, name.replace(".stream", ".arrow_file"));
    if (existsSync(other)) assert.deepEqual(await outcome(other), rows, name);
  }
  assert.ok(read > 25, `only ${read} files were read`);
});

async function withBytes(name: string): Promise<string[]> {
  return await jsonOf((await openPath(join(INPUTS, name))).batches());
}
