import assert from "node:assert/strict";
import fc from "fast-check";
import type { IpcData } from "../../../../src/arrow/ipc/columns.ts";
import { TypeId } from "../../../../src/arrow/type_id.ts";
import { timestamps } from "../../../../src/cli/input/parquet/values.ts";

const NS_PER_DAY = 86_400_000_000_000n;

/** A decoded column of instants; undefined is a null whose slot holds an invalid instant. */
function column(instants: readonly (bigint | undefined)[]): IpcData {
  const values = new Uint8Array(12 * instants.length).fill(0xff);
  const view = new DataView(values.buffer);
  const nullBitmap = new Uint8Array(Math.ceil(instants.length / 8));
  instants.forEach((ns, slot) => {
    if (ns === undefined) return;
    nullBitmap[slot >> 3]! |= 1 << (slot & 7);
    const days = (ns - (ns % NS_PER_DAY + NS_PER_DAY) % NS_PER_DAY) / NS_PER_DAY;
    view.setBigInt64(12 * slot, ns - days * NS_PER_DAY, true);
    view.setInt32(12 * slot + 8, Number(days) + 2440588, true);
  });
  const type = { typeId: TypeId.FixedSizeBinary, byteWidth: 12 };
  return { type, length: instants.length, values, nullBitmap };
}

const SIZES = [1_000_000_000n, 1_000_000n, 1000n, 1n];

Deno.test("timestamps() keeps every instant, in the finest unit that can hold all of them", () => {
  const most = 2_000_000_000n * NS_PER_DAY;
  const anyInstant = fc.tuple(fc.constantFrom(...SIZES), fc.bigInt({ min: -most, max: most })).map(([size, ns]) =>
    ns - ns % size
  );
  const near = fc.bigInt({ min: -(10n ** 17n), max: 10n ** 17n });
  fc.assert(
    fc.property(fc.array(fc.option(fc.oneof(anyInstant, near), { nil: undefined }), { maxLength: 4 }), (instants) => {
      const fits = (size: bigint) =>
        instants.every((ns = 0n) => ns % size === 0n && ns / size > -(2n ** 63n) + 1n && ns / size < 2n ** 63n - 1n);
      const unit = SIZES.findLastIndex(fits);
      if (unit < 0) {
        assert.throws(() => timestamps(column(instants), null), /no Arrow timestamp holds together/);
        return;
      }
      const { type, data } = timestamps(column(instants), null);
      assert.equal(type.unit, unit);
      const expected = instants.map((ns = 0n) => ns / SIZES[unit]!);
      assert.deepEqual(Array.from(data.values as BigInt64Array), expected);
    }),
  );
});

Deno.test("timestamps() refuses a column with both nanoseconds and years outside their range", () => {
  const far = -(350_000n * NS_PER_DAY);
  assert.throws(() => timestamps(column([1n, far]), null), RangeError);
  assert.equal(timestamps(column([1000n, far]), null).type.unit, 2);
});
