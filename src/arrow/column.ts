/**
 * One column's buffers, from apache-arrow's Data or flechette's Batch: both have the same parts under different names.
 *
 * The rule for both: slot i of a column is `values[i * stride]`, `offsets[i]`, `codes[i]` or slot i of a child, without
 * any offset; its validity bit (and the bit of a Bool) is at `bitOffset + i`.
 *
 * @module
 */

import { bytesOf, NO_BYTES, type NumberArray, numbersOf, offsetsOf, wordsOf } from "./buffers.ts";
import { malformed } from "./fault.ts";
import { type FieldType, sameLayout } from "./field_type.ts";
import { resolveType } from "./schema.ts";
import { type LooseType, typeName } from "./type_id.ts";

/** A column of one chunk, or a child of one. Buffers that the type does not have are empty. */
export interface ColumnView {
  readonly type: FieldType;
  /** The number of slots that the column announces. */
  readonly length: number;
  /** The validity bitmap; undefined if nothing is null. */
  readonly bits: Uint8Array | undefined;
  /** The index of slot 0's bit; also for a Bool's values, and for the runs of a run-end encoded column. */
  readonly bitOffset: number;
  /** The number of slots that the validity bitmap covers. */
  readonly covered: number;
  /** The number of slots that the column's own buffers hold; children have their own. */
  readonly readable: number;
  /** Integers up to 32 bits, floats, indices and run ends up to 32 bits. */
  readonly numbers: NumberArray;
  /** 64-bit values, decimals, intervals and views, as 32-bit words. */
  readonly words: Int32Array;
  /** Bytes of strings, binary and Bool. */
  readonly bytes: Uint8Array;
  /** Offsets: one word each, or two for 64-bit offsets. */
  readonly offsets: Int32Array;
  /** Sizes of list views, like offsets. */
  readonly sizes: Int32Array;
  /** A union's type ids. */
  readonly codes: Int8Array;
  /** The buffers that the views of strings and binary point into. */
  readonly buffers: readonly Uint8Array[];
  /** Items, fields, members, key and value, or a run-end encoded column's ends and values. */
  readonly children: readonly ColumnView[];
  /** A dictionary's chunks. */
  readonly dictionary: readonly ColumnView[];
  /** The number of elements of its own buffers when it was viewed; see intact.ts. */
  readonly elements: number;
}

/** The parts of both libraries' column data; any of them may be missing or wrong. */
export interface LooseData {
  readonly type?: LooseType;
  readonly length?: unknown;
  readonly offset?: unknown;
  readonly nullCount?: unknown;
  readonly nullBitmap?: unknown;
  readonly validity?: unknown;
  readonly values?: unknown;
  readonly valueOffsets?: unknown;
  readonly offsets?: unknown;
  readonly sizes?: unknown;
  readonly typeIds?: unknown;
  readonly variadicBuffers?: unknown;
  readonly data?: unknown;
  readonly children?: unknown;
  readonly dictionary?: { readonly data?: unknown } | null;
}

type Buffers = Omit<ColumnView, "type" | "length" | "bits" | "bitOffset" | "covered" | "elements">;

const NONE: Buffers = {
  readable: Infinity,
  numbers: NO_BYTES,
  words: new Int32Array(0),
  bytes: NO_BYTES,
  offsets: new Int32Array(0),
  sizes: new Int32Array(0),
  codes: new Int8Array(0),
  buffers: [],
  children: [],
  dictionary: [],
};

const EMPTY: LooseData = { length: 0 };

/** Columns already viewed, by data object, since the batches of a table share dictionaries. */
export type ColumnCache = Map<unknown, ColumnView>;

/** Returns the view of a column's data. Reads nothing yet: `readable` shows a missing or short buffer. */
export function viewColumn(
  declared: FieldType,
  data: LooseData | null | undefined,
  cache: ColumnCache = new Map(),
): ColumnView {
  const given = data ?? EMPTY;
  const seen = cache.get(given);
  if (seen?.type === declared) return seen;
  const type = heldType(declared, given.type);
  const bitOffset = whole(given.offset ?? 0, "offset");
  const bits = validityOf(type, given);
  const parts = buffersOf(type, given, bitOffset, cache);
  // One literal, so that all views have the same hidden class: the cells of all types read them.
  const view: ColumnView = {
    type,
    length: whole(given.length, "length"),
    bits,
    bitOffset,
    covered: bits === undefined ? Infinity : Math.max(0, bits.length * 8 - bitOffset),
    readable: parts.readable,
    numbers: parts.numbers,
    words: parts.words,
    bytes: parts.bytes,
    offsets: parts.offsets,
    sizes: parts.sizes,
    codes: parts.codes,
    buffers: parts.buffers,
    children: parts.children,
    dictionary: parts.dictionary,
    elements: elementsOf({ bits, ...parts }),
  };
  if (given !== EMPTY) cache.set(given, view);
  return view;
}

/**
 * Returns the current number of elements of a column's own buffers, without those that views point into, of which there
 * may be thousands: each view is checked against its buffer.
 */
export function elementsOf(
  { bits, numbers, words, bytes, offsets, sizes, codes }: Omit<Buffers, "readable"> & Pick<ColumnView, "bits">,
): number {
  return (bits?.length ?? 0) + numbers.length + words.length + bytes.length + offsets.length + sizes.length +
    codes.length;
}

/** Returns whether a slot is null in its own bitmap. */
export function isNull(column: ColumnView, slot: number): boolean {
  const { bits, bitOffset } = column;
  if (bits === undefined) return column.type.kind === "null";
  const at = bitOffset + slot;
  return (bits[at >> 3]! >> (at & 7) & 1) === 0;
}

function whole(value: unknown, what: string): number {
  if (!Number.isSafeInteger(value) || (value as number) < 0) malformed(`its ${what} is ${String(value)}`);
  return value as number;
}

/**
 * Returns a column's type by its schema, with the layout of its data. Strings may have any string layout: some readers
 * convert LargeUtf8 to Utf8 and keep the schema.
 */
function heldType(type: FieldType, source: LooseType | undefined): FieldType {
  if (source === undefined || source === type.source) return type;
  const held = resolveType(source);
  if (held !== undefined && sameLayout(type, held)) return type;
  if (type.kind === "text" && held?.kind === "text") return { ...type, layout: held.layout };
  if (type.kind === "binary" && held?.kind === "binary") return { ...type, layout: held.layout };
  return malformed(`the schema says ${type.label}, its data is ${typeName(source)}`);
}

function validityOf(type: FieldType, data: LooseData): Uint8Array | undefined {
  if (type.kind === "null" || type.kind === "union" || type.kind === "runs") return undefined;
  if (data.nullCount === 0) return undefined;
  const bits = bytesOf(data.nullBitmap ?? data.validity);
  return bits.length === 0 ? undefined : bits;
}

function childrenOf(data: LooseData): readonly (LooseData | undefined)[] {
  return Array.isArray(data.children) ? data.children : [];
}

function buffersOf(type: FieldType, data: LooseData, bitOffset: number, cache: ColumnCache): Buffers {
  const child = (of: FieldType, at: number): ColumnView => viewColumn(of, childrenOf(data)[at], cache);
  switch (type.kind) {
    case "null":
      return NONE;
    case "bool": {
      const bytes = bytesOf(data.values);
      return { ...NONE, bytes, readable: Math.max(0, bytes.length * 8 - bitOffset) };
    }
    case "int":
      return type.bits === 64 ? wide(data, 2) : narrow(data, "int", type.bits, type.signed);
    case "float":
      return { ...narrow(data, "float", type.bits, false), words: wordsOf(data.values) };
    case "decimal":
    case "date":
    case "time":
      return wide(data, type.bits >> 5);
    case "timestamp":
    case "duration":
      return wide(data, 2);
    case "interval":
      return wide(data, [1, 2, 4][type.unit]!);
    case "text":
    case "binary":
      return type.layout === "views" ? spanViews(data) : spans(data, type.layout === "large_offsets");
    case "fixed_binary": {
      const bytes = bytesOf(data.values);
      return { ...NONE, bytes, readable: type.width === 0 ? Infinity : Math.floor(bytes.length / type.width) };
    }
    case "list":
      return { ...lists(type.layout, data), children: [child(type.item, 0)] };
    case "struct":
      return { ...NONE, children: type.fields.map((field, at) => child(field.type, at)) };
    case "map": {
      const pair = childrenOf(data)[0];
      const [key, value] = pair === undefined ? [] : childrenOf(pair);
      return {
        ...lists("offsets", data),
        children: [viewColumn(type.key, key, cache), viewColumn(type.value, value, cache)],
      };
    }
    case "union": {
      const bytes = bytesOf(data.typeIds);
      const codes = new Int8Array(bytes.buffer, bytes.byteOffset, bytes.length);
      const offsets = type.dense ? offsetsOf(data.valueOffsets ?? data.offsets, false) : NONE.offsets;
      const readable = type.dense ? Math.min(codes.length, offsets.length) : codes.length;
      return { ...NONE, codes, offsets, readable, children: type.members.map(child) };
    }
    case "dictionary": {
      const chunks = data.dictionary?.data;
      const dictionary = Array.isArray(chunks) ? chunks.map((chunk) => viewColumn(type.value, chunk, cache)) : [];
      return { ...(type.bits === 64 ? wide(data, 2) : narrow(data, "int", type.bits, type.signed)), dictionary };
    }
    case "runs":
      return { ...NONE, ...runEnds(childrenOf(data)[0], type.bits), children: [child(type.value, 1)] };
  }
}

function narrow(data: LooseData, kind: "int" | "float", bits: 8 | 16 | 32 | 64, signed: boolean): Buffers {
  const numbers = numbersOf(data.values, kind, bits, signed);
  return { ...NONE, numbers, readable: numbers.length };
}

function wide(data: LooseData, stride: number): Buffers {
  const words = wordsOf(data.values);
  return { ...NONE, words, readable: Math.floor(words.length / stride) };
}

function spans(data: LooseData, large: boolean): Buffers {
  const offsets = offsetsOf(data.valueOffsets ?? data.offsets, large);
  return {
    ...NONE,
    offsets,
    bytes: bytesOf(data.values),
    readable: Math.max(0, (large ? offsets.length >> 1 : offsets.length) - 1),
  };
}

function spanViews(data: LooseData): Buffers {
  const given = data.variadicBuffers ?? data.data;
  const buffers = Array.isArray(given) ? given.map(bytesOf) : [];
  const words = wordsOf(data.values);
  return { ...NONE, words, bytes: bytesOf(data.values), buffers, readable: words.length >> 2 };
}

function lists(layout: string, data: LooseData): Buffers {
  if (layout === "fixed") return NONE;
  const large = layout.startsWith("large");
  const offsets = offsetsOf(data.valueOffsets ?? data.offsets, large);
  const slots = large ? offsets.length >> 1 : offsets.length;
  if (!layout.endsWith("views")) return { ...NONE, offsets, readable: Math.max(0, slots - 1) };
  const sizes = offsetsOf(data.sizes, large);
  return { ...NONE, offsets, sizes, readable: Math.min(slots, large ? sizes.length >> 1 : sizes.length) };
}

/** Run ends belong to the column itself here; only the first `length` of them count. */
function runEnds(ends: LooseData | undefined, bits: 16 | 32 | 64): Pick<Buffers, "numbers" | "words"> {
  const count = whole(ends?.length ?? 0, "number of run ends");
  if (bits === 64) return { numbers: NONE.numbers, words: wordsOf(ends?.values).subarray(0, count * 2) };
  return { numbers: numbersOf(ends?.values, "int", bits, true).subarray(0, count), words: NONE.words };
}
