/**
 * Appends the values of a delta to a dictionary. Small chunks are merged into larger ones: a stream that extends its
 * dictionary before each batch would otherwise have as many chunks as batches, and each batch reads all of them.
 *
 * @module
 */

import { wordsOf } from "../buffers.ts";
import { TypeId } from "../type_id.ts";
import { type IpcData, widthOf } from "./columns.ts";

/** A chunk is merged with the previous one unless that one has more than this many times its values. */
const FACTOR = 2;

/** Returns the chunks of `known`, followed by `added`. Does not change `known`, which earlier batches keep. */
export function appendValues(known: readonly IpcData[], added: IpcData): readonly IpcData[] {
  const chunks = [...known];
  let last = added;
  for (let before = chunks.at(-1); before !== undefined; before = chunks.at(-1)) {
    if (before.length > FACTOR * last.length) break;
    const merged = merge(before, last);
    if (merged === undefined) break;
    chunks.pop();
    last = merged;
  }
  chunks.push(last);
  return chunks;
}

/** Merges two chunks of one type; undefined for nested types, and for wrong offsets, which the encoder refuses. */
function merge(a: IpcData, b: IpcData): IpcData | undefined {
  const values = isSpans(a) ? mergeSpans(a, b) : mergeFixed(a, b);
  if (values === undefined) return undefined;
  const length = a.length + b.length;
  const nullBitmap = mergeBits(a, b);
  return { type: a.type, length, ...(nullBitmap && { nullBitmap }), ...values };
}

function isSpans({ type }: IpcData): boolean {
  return type.typeId === TypeId.Utf8 || type.typeId === TypeId.Binary;
}

function mergeFixed(a: IpcData, b: IpcData): Pick<IpcData, "values"> | undefined {
  const width = widthOf(a.type);
  if (width === undefined || a.type.typeId === TypeId.Dictionary) return undefined;
  const [left, right] = [a, b].map(({ values, length }) => (values as Uint8Array).subarray(0, length * width));
  return { values: joinBytes(left!, right!) };
}

function mergeSpans(a: IpcData, b: IpcData): Pick<IpcData, "values" | "valueOffsets"> | undefined {
  const [left, right] = [spansOf(a), spansOf(b)];
  if (left === undefined || right === undefined) return undefined;
  const shift = left.bytes.length;
  if (shift + right.bytes.length > 0x7fffffff) return undefined;
  const offsets = new Int32Array(a.length + b.length + 1);
  offsets.set(left.offsets);
  for (let slot = 0; slot <= b.length; slot++) offsets[a.length + slot] = shift + right.offsets[slot]!;
  return { valueOffsets: new Uint8Array(offsets.buffer), values: joinBytes(left.bytes, right.bytes) };
}

/** Returns offsets, which begin with 0, and the bytes that they refer to; undefined if the offsets are not valid. */
function spansOf({ valueOffsets, values, length }: IpcData) {
  const offsets = wordsOf(valueOffsets).subarray(0, length + 1);
  if (offsets[0] !== 0) return undefined;
  for (let slot = 0; slot < length; slot++) if (offsets[slot + 1]! < offsets[slot]!) return undefined;
  const end = offsets[length]!;
  const bytes = values as Uint8Array;
  return end > bytes.length ? undefined : { offsets, bytes: bytes.subarray(0, end) };
}

function mergeBits(a: IpcData, b: IpcData): Uint8Array | undefined {
  if (a.nullBitmap === undefined && b.nullBitmap === undefined) return undefined;
  const bits = new Uint8Array(Math.ceil((a.length + b.length) / 8));
  let at = 0;
  for (const { nullBitmap, length } of [a, b]) {
    const own = nullBitmap as Uint8Array | undefined;
    for (let slot = 0; slot < length; slot++, at++) {
      if (own === undefined || (own[slot >> 3]! >> (slot & 7) & 1) === 1) bits[at >> 3]! |= 1 << (at & 7);
    }
  }
  return bits;
}

function joinBytes(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}
