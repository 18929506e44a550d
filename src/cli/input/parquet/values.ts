/**
 * Converts INT96 and INTERVAL, of 12 bytes each, to Arrow's timestamps and intervals. Nothing wraps: a value that the
 * Arrow type cannot hold is refused.
 *
 * @module
 */

import type { IpcData } from "../../../arrow/ipc/columns.ts";
import type { IpcType } from "../../../arrow/ipc/schema.ts";
import { TypeId } from "../../../arrow/type_id.ts";

const WIDTH = 12;
/** The Julian day of 1970-01-01. */
const EPOCH = 2440588;
const NS_PER_DAY = 86_400_000_000_000n;
const MS_TO_NS = 1_000_000n;
const INT32_MOST = 0x7fffffff;
/** Units per second in the order of Arrow's units: seconds, milliseconds, microseconds, nanoseconds. */
const UNITS = [1_000_000_000n, 1_000_000n, 1000n, 1n] as const;
/** The values next to the extremes, which mean infinity. */
const LEAST = -(2n ** 63n) + 2n;
const MOST = 2n ** 63n - 2n;

/** A converted column. */
interface Converted {
  readonly type: IpcType;
  readonly data: IpcData;
}

/** Converts months, days and milliseconds. */
export function intervals(data: IpcData): Converted {
  const { view, length } = slotsOf(data);
  const words = new Int32Array(4 * length);
  const nanoseconds = new BigInt64Array(words.buffer);
  for (let slot = 0; slot < length; slot++) {
    if (isNull(data, slot)) continue;
    for (const part of [0, 1]) {
      const count = view.getUint32(WIDTH * slot + 4 * part, true);
      if (count > INT32_MOST) {
        throw new RangeError(`an interval of ${count} ${part === 0 ? "months" : "days"} is too long`);
      }
      words[4 * slot + part] = count;
    }
    nanoseconds[2 * slot + 1] = BigInt(view.getUint32(WIDTH * slot + 8, true)) * MS_TO_NS;
  }
  return convertColumn({ typeId: TypeId.Interval, unit: 2 }, data, words);
}

/** Converts Julian days and nanoseconds of the day, to the finest unit that can hold every instant of the batch. */
export function timestamps(data: IpcData, timezone: string | null): Converted {
  const { view, length } = slotsOf(data);
  const instants = Array.from({ length }, (_, slot) => isNull(data, slot) ? 0n : instantAt(view, WIDTH * slot));
  for (let unit = UNITS.length - 1; unit >= 0; unit--) {
    const size = UNITS[unit]!;
    if (!instants.every((ns) => ns % size === 0n && ns / size >= LEAST && ns / size <= MOST)) continue;
    const values = BigInt64Array.from(instants, (ns) => ns / size);
    return convertColumn({ typeId: TypeId.Timestamp, unit, timezone }, data, values);
  }
  throw new RangeError("its INT96 timestamps have nanoseconds and years that no Arrow timestamp holds together");
}

function instantAt(view: DataView, at: number): bigint {
  return BigInt(view.getInt32(at + 8, true) - EPOCH) * NS_PER_DAY + view.getBigInt64(at, true);
}

function convertColumn(type: IpcType, data: IpcData, values: ArrayBufferView): Converted {
  return { type, data: { ...data, type, values } };
}

function slotsOf(data: IpcData): { readonly view: DataView; readonly length: number } {
  if (data.type.typeId !== TypeId.FixedSizeBinary || data.type.byteWidth !== WIDTH) {
    throw new RangeError(`it was decoded as type ${data.type.typeId} instead of ${WIDTH} bytes`);
  }
  const bytes = data.values as Uint8Array;
  return { view: new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength), length: data.length };
}

function isNull({ nullBitmap, offset = 0 }: IpcData, slot: number): boolean {
  if (nullBitmap === undefined) return false;
  const bit = Number(offset) + slot;
  return ((nullBitmap as Uint8Array)[bit >> 3]! >> (bit & 7) & 1) === 0;
}
