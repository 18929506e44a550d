import assert from "node:assert/strict";
import { sliceRows } from "../../src/arrow/slice.ts";
import { encodeRows } from "../../src/json/encode.ts";
import type { ArrowBatch } from "../../src/types/mod.ts";
import { bodyStrings } from "../_support/arrow/mod.ts";

const TYPES = { Binary: 4, Utf8: 5, LargeBinary: 19, LargeUtf8: 20, BinaryView: 23, Utf8View: 24 } as const;
type Name = keyof typeof TYPES;

const VALUES = ["x", "", "yz"];

/** The buffers of a column of a type. */
function buffersOf(name: Name): object {
  const bytes = new TextEncoder().encode(VALUES.join(""));
  if (name.endsWith("View")) {
    const words = new Uint8Array(16 * VALUES.length);
    VALUES.forEach((value, at) => {
      words[16 * at] = value.length;
      words.set(new TextEncoder().encode(value), 16 * at + 4);
    });
    return { values: words, variadicBuffers: [] };
  }
  const offsets = [0, 1, 1, 3];
  return {
    values: bytes,
    valueOffsets: name.startsWith("Large") ? BigInt64Array.from(offsets, BigInt) : Int32Array.from(offsets),
  };
}

/** A batch with a schema of one type and data of another: in a column, a struct's field and a dictionary. */
function batchOf(said: Name, held: Name): ArrowBatch {
  const data = { type: { typeId: TYPES[held] }, length: 3, nullCount: 0, ...buffersOf(held) };
  const saidType = { typeId: TYPES[said] };
  const struct = (type: object) => ({ typeId: 13, children: [{ name: "f", type }] });
  const dictionary = (type: object) => ({
    typeId: -1,
    indices: { typeId: 2, bitWidth: 8, isSigned: true },
    dictionary: type,
  });
  return {
    schema: {
      fields: [
        { name: "a", type: saidType },
        { name: "s", type: struct(saidType) },
        { name: "d", type: dictionary(saidType) },
      ],
    },
    numRows: 3,
    data: {
      length: 3,
      children: [
        data,
        { type: struct(data.type), length: 3, nullCount: 0, children: [data] },
        {
          type: dictionary(data.type),
          length: 3,
          nullCount: 0,
          values: Int8Array.of(0, 1, 2),
          dictionary: { data: [data] },
        },
      ],
    },
  } as ArrowBatch;
}

for (const family of [["Utf8", "LargeUtf8", "Utf8View"], ["Binary", "LargeBinary", "BinaryView"]] as const) {
  Deno.test(`a column whose schema says ${family.join(", ")} is read by the layout of its data`, () => {
    const text = family[0] === "Utf8" ? VALUES : VALUES.map(btoa);
    const expected = text.map((value) => JSON.stringify({ a: value, s: { f: value }, d: value }));
    for (const said of family) {
      for (const held of family) {
        const rows = batchOf(said, held);
        assert.deepEqual(bodyStrings(encodeRows(rows)), expected, `${said} and ${held}`);
        const pieces = [...sliceRows(rows, { batchMaxBytes: 40 })];
        assert.deepEqual(pieces.flatMap((piece) => bodyStrings(encodeRows(piece))), expected);
      }
    }
  });
}

Deno.test("a column whose schema says string and whose data is binary is refused, and the other way round", () => {
  for (const [said, held] of [["Utf8", "Binary"], ["LargeBinary", "LargeUtf8"]] as const) {
    assert.throws(() => encodeRows(batchOf(said, held)), { code: "encode.malformed", message: /the schema says/ });
  }
});
