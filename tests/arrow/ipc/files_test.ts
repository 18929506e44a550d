import * as arrow from "apache-arrow";
import assert from "node:assert/strict";
import { type ArrowSource, readArrow } from "../../../src/arrow/mod.ts";
import { encodeRows } from "../../../src/json/encode.ts";
import { bodies, bodyStrings, renderIntegrationJson } from "../../_support/arrow/mod.ts";
import {
  fuzzCases,
  fuzzCasesIn,
  goldenCases,
  listFiles,
  readBytes,
  readGolden,
  readGoldenJson,
} from "../../_support/testdata.ts";

/** A folder of more files of the same generator, from other seeds. */
const MORE = Deno.env.get("JETROW_FUZZ_FILES");

/** Each row's body as bytes. */
async function bodiesOf(source: ArrowSource): Promise<Uint8Array[]> {
  const all: Uint8Array[] = [];
  for await (const rows of readArrow(source)) all.push(...bodies(encodeRows(rows)));
  return all;
}

/** Each row's body as a string. */
async function bodiesAsStrings(source: ArrowSource): Promise<string[]> {
  const all: string[] = [];
  for await (const rows of readArrow(source)) all.push(...bodyStrings(encodeRows(rows)));
  return all;
}

/** Chunks of a few bytes, so that messages and numbers are split across chunks. */
async function* chunksOf(bytes: Uint8Array, size: number): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += size) yield await Promise.resolve(bytes.subarray(at, at + size));
}

/** The ways to pass bytes. Sources that can only be read in order are used for the stream format alone. */
function sourcesOf(bytes: Uint8Array<ArrayBuffer>, isStream: boolean): Record<string, ArrowSource> {
  const shifted = new Uint8Array(bytes.length + 3).subarray(3);
  shifted.set(bytes);
  const random = { bytes, "bytes at an odd address": shifted, "a blob": new Blob([bytes]) };
  if (!isStream) return random;
  return { ...random, chunks: chunksOf(bytes, 7), "a stream": new Blob([bytes]).stream() };
}

for (const { name, files } of goldenCases()) {
  for (const file of files) {
    Deno.test(`readArrow() reads ${file} as its JSON form says`, async () => {
      const ipc = readGolden(file);
      if (name === "generated_duplicate_fieldnames") {
        await assert.rejects(bodiesAsStrings(ipc), { name: "EncodeError", code: "encode.column_name" });
        return;
      }
      const expected = renderIntegrationJson(await readGoldenJson(name));
      for (const [kind, source] of Object.entries(sourcesOf(ipc, file.endsWith(".stream")))) {
        assert.deepEqual(await bodiesAsStrings(source), expected, kind);
      }
    });
  }
}

for (const one of [...fuzzCases(), ...(MORE === undefined ? [] : fuzzCasesIn(new URL(`file://${MORE}/`)))]) {
  Deno.test(`readArrow() reads the rows of fuzz/${one.name}, or refuses them if they are invalid`, async () => {
    if (one.lines === undefined) {
      await assert.rejects(bodiesOf(one.ipc), { name: "EncodeError" });
      return;
    }
    for (const source of [one.ipc, chunksOf(one.ipc, 1000)]) {
      const actual = await bodiesOf(source);
      assert.equal(actual.length, one.lines.length);
      const differs = actual.findIndex((body, row) => !body.every((byte, i) => byte === one.lines![row]![i]));
      assert.equal(differs, -1);
      assert.deepEqual(actual.map((body) => body.length), one.lines.map((line) => line.length));
    }
  });
}

for (const file of listFiles("inputs").filter((name) => /^pyarrow.*\.(arrows|feather)$/.test(name))) {
  Deno.test(`readArrow() reads ${file} as apache-arrow reads its uncompressed version`, async () => {
    const expected = bodyStrings(encodeRows(arrow.tableFromIPC(readBytes("inputs/pyarrow_plain.arrows"))));
    assert.equal(expected.length, 300);
    assert.deepEqual(await bodiesAsStrings(readBytes(`inputs/${file}`)), expected);
  });
}

Deno.test("readArrow() reads what polars writes, in each format and compression", async () => {
  const [first, ...others] = await Promise.all(
    ["polars.arrow", "polars.arrows", "polars_lz4.arrow"].map((file) => bodiesAsStrings(readBytes(`inputs/${file}`))),
  );
  assert.equal(first!.length, 120);
  for (const bodies of others) assert.deepEqual(bodies, first);
});

Deno.test("readArrow() refuses batches that announce another number of rows than their columns have", async () => {
  const refused = { name: "EncodeError", code: "encode.malformed", batch: 0 };
  await assert.rejects(bodiesAsStrings(readBytes("reports/more_rows_than_values.arrows")), {
    ...refused,
    message: /column "n": it has 3 values and its batch announces 5 rows/,
  });
  await assert.rejects(bodiesAsStrings(readBytes("reports/columns_of_two_lengths.arrows")), {
    ...refused,
    message: /it has 2 values and its batch announces 3 rows/,
  });
});

Deno.test("readArrow() refuses a file that replaces a dictionary", async () => {
  await assert.rejects(bodiesAsStrings(readBytes("reports/replaced_dictionary.arrow")), {
    code: "encode.malformed",
    message: /replaced/,
  });
});

Deno.test("readArrow() reads an uncompressed length of 0 in a file as an empty buffer", async () => {
  assert.equal((await bodiesAsStrings(readBytes("reports/lz4_length_zero.arrows"))).length, 3);
});
