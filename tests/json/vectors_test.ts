import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import { crc32c } from "../../src/hash/crc32c.ts";
import { encodeRows } from "../../src/json/encode.ts";
import { batchOf, bodyStrings, makeColumn } from "../_support/arrow/mod.ts";
import { readVectors } from "../_support/testdata.ts";

interface Values {
  readonly timestampMicros: readonly { readonly micros: string; readonly text: string }[];
  readonly decimals: readonly { readonly unscaled: string; readonly scale: number; readonly text: string }[];
  readonly crc32c: readonly { readonly ascii: string; readonly hex: string }[];
}

const values = readVectors<Values>("values");

Deno.test("encodeRows() writes the vectors' timestamps", () => {
  const micros = values.timestampMicros.map((one) => BigInt(one.micros));
  const type = new arrow.Timestamp(arrow.TimeUnit.MICROSECOND);
  const data = makeColumn(type, micros, { values: BigInt64Array.from(micros) });
  const expected = values.timestampMicros.map(({ text }) => `{"t":"${text}"}`);
  assert.deepEqual(bodyStrings(encodeRows(batchOf([{ name: "t", data }]))), expected);
});

Deno.test("encodeRows() writes the vectors' decimals, of 128 and 256 bits", () => {
  for (const { unscaled, scale, text } of values.decimals) {
    for (const bits of [128, 256]) {
      const words = Uint32Array.from({ length: bits / 32 }, (_, i) => {
        return Number(BigInt.asUintN(32, BigInt(unscaled) >> BigInt(32 * i)));
      });
      const data = makeColumn(new arrow.Decimal(scale, 38, bits), [1], { values: words });
      assert.deepEqual(bodyStrings(encodeRows(batchOf([{ name: "d", data }]))), [`{"d":${text}}`]);
    }
  }
});

Deno.test("crc32c() returns the vectors' values", () => {
  for (const { ascii, hex } of values.crc32c) {
    assert.equal(crc32c(new TextEncoder().encode(ascii)).toString(16).padStart(8, "0"), hex);
  }
});
