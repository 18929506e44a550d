import assert from "node:assert/strict";
import fc from "fast-check";
import {
  readThrift,
  type ThriftStruct,
  type ThriftValue,
  writeThrift,
} from "../../../../src/cli/input/parquet/thrift.ts";

/** A value of a type, nested up to `depth`. */
function valueOf(type: number, depth: number): fc.Arbitrary<ThriftValue> {
  const types = fc.constantFrom(...(depth === 0 ? [3, 5, 6, 8] : [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12]));
  switch (type) {
    case 1:
    case 2:
      return fc.constantFrom<ThriftValue>({ type: 1 }, { type: 2 });
    case 3:
      return fc.integer({ min: 0, max: 255 }).map((byte): ThriftValue => ({ type, integer: BigInt(byte) }));
    case 4:
    case 5:
    case 6:
      return fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((integer): ThriftValue => ({ type, integer }));
    case 7:
      return fc.uint8Array({ minLength: 8, maxLength: 8 }).map((bytes): ThriftValue => ({ type, bytes }));
    case 8:
      return fc.uint8Array().map((bytes): ThriftValue => ({ type, bytes }));
    case 9:
    case 10:
      return types.chain((itemType) =>
        fc.array(valueOf(itemType, depth - 1), { maxLength: 20 }).map((items): ThriftValue => ({
          type,
          itemType,
          items,
        }))
      );
    case 11:
      return fc.tuple(types, types).chain(([key, value]) =>
        fc.array(fc.tuple(valueOf(key, depth - 1), valueOf(value, depth - 1)), { minLength: 1, maxLength: 5 }).map(
          (pairs): ThriftValue => ({ type, types: key << 4 | value, items: pairs.flat() }),
        )
      );
    default:
      return structOf(depth - 1).map((fields): ThriftValue => ({ type: 12, fields }));
  }
}

function structOf(depth: number): fc.Arbitrary<ThriftStruct> {
  const types = depth <= 0 ? [1, 3, 5, 8] : [1, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12];
  const field = fc.tuple(
    fc.integer({ min: 1, max: 300 }),
    fc.constantFrom(...types).chain((type) => valueOf(type, depth)),
  );
  return fc.array(field, { maxLength: 6 }).map((fields) => new Map(fields.sort(([a], [b]) => a - b)));
}

Deno.test("readThrift() reads what writeThrift() writes", () => {
  fc.assert(fc.property(structOf(3), (fields) => assert.deepEqual(readThrift(writeThrift(fields)), fields)));
});

Deno.test("readThrift() throws a RangeError for truncated bytes and for bytes that are not a struct", () => {
  fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
    try {
      readThrift(bytes);
    } catch (error) {
      assert.ok(error instanceof RangeError);
    }
  }));
  const cut = writeThrift(new Map<number, ThriftValue>([[1, { type: 8, bytes: new Uint8Array(9) }]])).subarray(0, 5);
  assert.throws(() => readThrift(cut), RangeError);
  assert.throws(() => readThrift(new Uint8Array(1000).fill(0x1c)), /nested too deep/);
});
