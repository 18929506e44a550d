/**
 * Reads the types of a Parquet file's columns from its footer, and gives the decoder a footer in which INT96 and INTERVAL,
 * the two types that it cannot represent, are plain bytes of the same layout.
 *
 * @module
 */

import { openRandom } from "../../../arrow/ipc/input.ts";
import type { IpcType } from "../../../arrow/ipc/schema.ts";
import { bytesAccess, type RandomAccess } from "../../../arrow/ipc/source.ts";
import { readThrift, type ThriftStruct, ThriftType, type ThriftValue, writeThrift } from "./thrift.ts";

/** The Parquet type of a column, if the decoder's Arrow type does not express it. */
export type LeafMeaning = "int96" | "interval" | "uuid" | "json" | "string" | undefined;

/** A column that holds values. */
export interface Leaf {
  readonly meaning: LeafMeaning;
  /** Its time zone in the file's Arrow schema, if there is one: INT96 itself has none. */
  readonly zone: string | null;
}

/** A file whose footer is read. */
export interface ParquetFooter {
  /** The file in the form that the decoder reads. */
  readonly file: RandomAccess;
  /** The columns with values, including nested ones, in the order of the schema. */
  readonly leaves: readonly Leaf[];
}

/** Ids of fields, types and logical types in parquet.thrift. */
const File = { schema: 2, rowGroups: 4, metadata: 5 } as const;
const Pair = { key: 1, value: 2 } as const;
const Element = { type: 1, typeLength: 2, children: 5, convertedType: 6, logicalType: 10 } as const;
const Physical = { int96: 3n, byteArray: 6n, fixed: 7n } as const;
const Converted = { utf8: 0n, enum: 4n, json: 19n, interval: 21n } as const;
const Logical = { string: 1, enum: 4, json: 12, uuid: 14 } as const;
const RowGroup = { columns: 1 } as const;
const Chunk = { metadata: 3 } as const;
const ChunkMetadata = { type: 1, statistics: 12 } as const;

const MAGIC = "PAR1";
/** The length of the footer, and the magic bytes. */
const TAIL = 8;
/** Bytes of an INT96 and of an INTERVAL. */
const WIDTH = 12n;

/** Reads the footer of a file. Throws a RangeError if there is none, or if it is encrypted. */
export async function readFooter(file: RandomAccess): Promise<ParquetFooter> {
  const tail = await file.read(Math.max(0, file.size - TAIL), TAIL);
  if (tail.length < TAIL || new TextDecoder().decode(tail.subarray(4)) !== MAGIC) throw new RangeError("it has no end");
  const length = new DataView(tail.buffer, tail.byteOffset).getUint32(0, true);
  const start = file.size - TAIL - length;
  if (start < MAGIC.length) throw new RangeError("it is cut");
  const footer = readThrift(await file.read(start, length));
  const elements = structsOf(footer.get(File.schema)).filter(isLeaf);
  const zones = await zonesOf(footer);
  const leaves = elements.map((element, leaf) => ({ meaning: meaningOf(element), zone: zones[leaf] ?? null }));
  const opaque = leaves.map(({ meaning }) => meaning === "int96" || meaning === "interval");
  if (!opaque.includes(true)) return { file, leaves };
  elements.forEach((element, leaf) => opaque[leaf] && makeOpaque(element));
  for (const group of structsOf(footer.get(File.rowGroups))) {
    structsOf(group.get(RowGroup.columns)).forEach((chunk, leaf) => {
      const metadata = chunk.get(Chunk.metadata);
      if (!opaque[leaf] || metadata?.type !== ThriftType.Struct) return;
      metadata.fields.set(ChunkMetadata.type, int32(Physical.fixed));
      metadata.fields.delete(ChunkMetadata.statistics);
    });
  }
  return { file: withFooter(file, start, writeThrift(footer)), leaves };
}

function structsOf(value: ThriftValue | undefined): readonly ThriftStruct[] {
  if (value?.type !== ThriftType.List) return [];
  return value.items.map((item) => item.type === ThriftType.Struct ? item.fields : new Map());
}

/** Some writers also give leaves a number of children. */
function isLeaf(element: ThriftStruct): boolean {
  return element.has(Element.type) && (integerOf(element, Element.children) ?? 0n) === 0n;
}

function int32(integer: bigint): ThriftValue {
  return { type: ThriftType.I32, integer };
}

function integerOf(element: ThriftStruct, id: number): bigint | undefined {
  const value = element.get(id);
  return value !== undefined && "integer" in value ? value.integer : undefined;
}

/** Prefers logical types to the older converted types. */
function meaningOf(element: ThriftStruct): LeafMeaning {
  const physical = integerOf(element, Element.type);
  if (physical === Physical.int96) return "int96";
  const converted = integerOf(element, Element.convertedType);
  const width = integerOf(element, Element.typeLength);
  if (physical === Physical.fixed && width === WIDTH && converted === Converted.interval) return "interval";
  const union = element.get(Element.logicalType);
  const logical = union?.type === ThriftType.Struct ? [...union.fields.keys()][0] : undefined;
  if (physical === Physical.fixed && width === 16n && logical === Logical.uuid) return "uuid";
  if (physical !== Physical.byteArray) return undefined;
  if (logical !== undefined) {
    if (logical === Logical.json) return "json";
    return logical === Logical.string || logical === Logical.enum ? "string" : undefined;
  }
  if (converted === Converted.json) return "json";
  return converted === Converted.utf8 || converted === Converted.enum ? "string" : undefined;
}

/** Returns the time zones of the leaves of the Arrow schema that Arrow's writers add; none if there is no such schema. */
async function zonesOf(footer: ThriftStruct): Promise<readonly (string | null)[]> {
  const pairs = structsOf(footer.get(File.metadata));
  const schema = pairs.find((pair) => stringOf(pair, Pair.key) === "ARROW:schema");
  if (schema === undefined) return [];
  try {
    const bytes = Uint8Array.from(atob(stringOf(schema, Pair.value)), (character) => character.charCodeAt(0));
    for await (const message of (await openRandom(bytesAccess(bytes))).messages) {
      if (message.kind === "schema") return message.schema.fields.flatMap(({ type }) => leafZones(type));
    }
  } catch {
    // The decoder checks the schema; this only looks for zones.
  }
  return [];
}

function leafZones(type: IpcType): readonly (string | null)[] {
  return type.children?.flatMap((child) => leafZones(child.type)) ?? [type.timezone ?? null];
}

function stringOf(pair: ThriftStruct, id: number): string {
  const value = pair.get(id);
  return value?.type === ThriftType.Binary ? new TextDecoder().decode(value.bytes) : "";
}

/** The values of all three types have the same layout, in every encoding that INT96 and INTERVAL have. */
function makeOpaque(element: ThriftStruct): void {
  element.set(Element.type, int32(Physical.fixed));
  element.set(Element.typeLength, int32(WIDTH));
  element.delete(Element.convertedType);
  element.delete(Element.logicalType);
}

/** A file with another footer from `start` on. */
function withFooter(file: RandomAccess, start: number, footer: Uint8Array): RandomAccess {
  const tail = new Uint8Array(footer.length + TAIL);
  tail.set(footer);
  new DataView(tail.buffer).setUint32(footer.length, footer.length, true);
  tail.set(new TextEncoder().encode(MAGIC), footer.length + 4);
  const size = start + tail.length;
  return {
    size,
    async read(position, length) {
      const end = Math.min(size, position + length);
      if (end <= start) return await file.read(position, length);
      if (position >= start) return tail.slice(position - start, end - start);
      const bytes = new Uint8Array(end - position);
      bytes.set(await file.read(position, start - position));
      bytes.set(tail.subarray(0, end - start), start - position);
      return bytes;
    },
  };
}
