import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { bytesAccess } from "../../../../src/arrow/ipc/source.ts";
import { parquetBatches, parquetRows } from "../../../../src/cli/input/parquet/batches.ts";
import { isMemoryFailure, Panic } from "../../../../src/cli/input/parquet/panic.ts";
import { encodeRows } from "../../../../src/json/encode.ts";
import { bodyStrings } from "../../../_support/arrow/mod.ts";

const FOLDER = new URL("../../../_testdata/parquet/", import.meta.url);

async function jsonOf(bytes: Uint8Array): Promise<string[]> {
  const rows: string[] = [];
  for await (const batch of parquetBatches(bytesAccess(bytes), "a.parquet")) {
    rows.push(...bodyStrings(encodeRows(batch)));
  }
  return rows;
}

for (const name of readdirSync(FOLDER).filter((name) => name.endsWith(".parquet"))) {
  Deno.test(`parquetBatches() yields batches with the types of ${name}`, async () => {
    const bytes = Uint8Array.from(readFileSync(new URL(name, FOLDER)));
    const expected = readFileSync(new URL(name.replace(".parquet", ".ndjson"), FOLDER), "utf8").trimEnd().split("\n");
    assert.deepEqual(await jsonOf(bytes), expected);
    assert.equal(await parquetRows(bytesAccess(bytes), name), expected.length);
  });
}

Deno.test("parquetBatches() refuses an INTERVAL that Arrow cannot hold, and names the column", async () => {
  const duration = Uint8Array.from(readFileSync(new URL("duckdb.parquet", FOLDER)));
  const months = new TextDecoder("latin1").decode(duration).indexOf("\x0e\0\0\0\x03\0\0\0\xf4\x01\0\0");
  assert.ok(months > 0);
  duration[months + 3] = 0xff;
  await assert.rejects(jsonOf(duration), /column "i": an interval of 4278190094 months is too long$/);
});

Deno.test("parquetBatches() refuses a footer that is damaged at any byte", async () => {
  const bytes = Uint8Array.from(readFileSync(new URL("parquet_go.parquet", FOLDER)));
  const expected = await jsonOf(bytes);
  const length = new DataView(bytes.buffer).getUint32(bytes.length - 8, true);
  for (let at = bytes.length - 8 - length; at < bytes.length; at += 3) {
    const damaged = bytes.slice();
    damaged[at] = damaged[at]! ^ 0x55;
    const rows = await jsonOf(damaged).catch((error) => {
      assert.ok(error.name === "InputError" || error.name === "EncodeError", error.stack);
      return expected;
    });
    assert.equal(rows.length <= expected.length, true);
  }
});

Deno.test("isMemoryFailure() distinguishes a lack of memory from damaged data", () => {
  assert.ok(!isMemoryFailure(new Panic(), 100e6));
  assert.ok(isMemoryFailure(new Panic(), 3e9));
  assert.ok(isMemoryFailure(new RangeError("Array buffer allocation failed"), 1));
  assert.ok(!isMemoryFailure(new Error("Invalid thrift"), 3e9));
});
