/**
 * Reads the schema of Arrow IPC data into the fields that the encoder takes, with their dictionaries.
 *
 * @module
 */

import type { ArrowField, ArrowSchema } from "../../types/mod.ts";
import { resolveColumns } from "../schema.ts";
import { TypeId } from "../type_id.ts";
import { damaged } from "./fault.ts";
import type { FlatTable } from "./flatbuffer.ts";

/** The maximum nesting of fields: the encoder refuses deeper types. */
const DEEPEST = 70;
/** The maximum number of fields, including nested ones. A small buffer can refer to the same field many times. */
const MOST_FIELDS = 100_000;

/** A type with the properties that the encoder reads, in apache-arrow's names. */
export interface IpcType {
  readonly typeId: number;
  readonly bitWidth?: number;
  readonly isSigned?: boolean;
  readonly precision?: number;
  readonly scale?: number;
  readonly unit?: number;
  readonly timezone?: string | null;
  readonly byteWidth?: number;
  readonly listSize?: number;
  readonly mode?: number;
  readonly typeIds?: readonly number[];
  readonly children?: readonly IpcField[];
  /** For a dictionary: the type of its indices, the type of its values, and its id. */
  readonly indices?: IpcType;
  readonly dictionary?: IpcType;
  readonly id?: number;
}

/** A field of a schema. */
export interface IpcField extends ArrowField {
  readonly name: string;
  readonly type: IpcType;
  readonly metadata: ReadonlyMap<string, string>;
}

/** A schema and the types of its dictionaries, by id. */
export interface IpcSchema extends ArrowSchema {
  readonly fields: readonly IpcField[];
  readonly dictionaries: ReadonlyMap<number, IpcType>;
}

interface Walk {
  fields: number;
  readonly dictionaries: Map<number, IpcType>;
}

/** Reads a schema. Refuses types without a JSON form, with the name of their column. */
export function readSchema(table: FlatTable): IpcSchema {
  if (table.int16(0) !== 0) damaged("the data is big-endian. Write it on, or for, a little-endian machine");
  const walk: Walk = { fields: 0, dictionaries: new Map() };
  const fields = table.tables(1).map((field) => readField(field, 0, walk));
  readMetadata(table, 2);
  resolveColumns(fields);
  return { fields, dictionaries: walk.dictionaries };
}

function readField(field: FlatTable, depth: number, walk: Walk): IpcField {
  if (depth > DEEPEST) damaged(`a schema is nested deeper than ${DEEPEST} levels`);
  if (++walk.fields > MOST_FIELDS) damaged(`a schema has more than ${MOST_FIELDS} fields`);
  const name = field.string(0) ?? "";
  const children = field.tables(5).map((child) => readField(child, depth + 1, walk));
  const type = readType(field, children);
  const encoding = field.table(4);
  const metadata = readMetadata(field, 6);
  return { name, metadata, type: encoding === undefined ? type : readDictionary(encoding, type, walk) };
}

function readMetadata(table: FlatTable, slot: number): ReadonlyMap<string, string> {
  return new Map(table.tables(slot).map((pair) => [pair.string(0) ?? "", pair.string(1) ?? ""]));
}

/** Reads a dictionary encoding. Fields with the same id share the dictionary, so their value types must agree. */
function readDictionary(encoding: FlatTable, values: IpcType, walk: Walk): IpcType {
  const id = encoding.int64(0);
  const index = encoding.table(1);
  const indices = index === undefined ? { typeId: TypeId.Int, bitWidth: 32, isSigned: true } : readInt(index);
  if (encoding.int16(3) !== 0) damaged(`dictionary ${id} is of an unknown kind`);
  const known = walk.dictionaries.get(id);
  if (known !== undefined && JSON.stringify(shapeOf(known)) !== JSON.stringify(shapeOf(values))) {
    damaged(`two fields have dictionary ${id} with values of different types`);
  }
  if (known === undefined) walk.dictionaries.set(id, values);
  return { typeId: TypeId.Dictionary, indices, dictionary: known ?? values, id };
}

/** Returns a type without the names and metadata of its children. */
function shapeOf(type: IpcType): unknown {
  return { ...type, children: type.children?.map((child) => shapeOf(child.type)) };
}

function readInt(type: FlatTable): IpcType {
  return { typeId: TypeId.Int, bitWidth: type.int32(0), isSigned: type.bool(1) };
}

/** The number of children of each nested type: a fixed number, or any. */
const CHILDREN: ReadonlyMap<number, number> = new Map([
  [TypeId.List, 1],
  [TypeId.LargeList, 1],
  [TypeId.ListView, 1],
  [TypeId.LargeListView, 1],
  [TypeId.FixedSizeList, 1],
  [TypeId.Map, 1],
  [TypeId.RunEndEncoded, 2],
  [TypeId.Struct, Infinity],
  [TypeId.Union, Infinity],
]);

function readType(field: FlatTable, children: readonly IpcField[]): IpcType {
  const typeId = field.uint8(2);
  const type = field.table(3);
  if (type === undefined) return damaged("a field has no type");
  const expected = CHILDREN.get(typeId) ?? 0;
  if (expected !== Infinity && children.length !== expected) {
    damaged(`a field of type ${typeId} has ${children.length} children instead of ${expected}`);
  }
  switch (typeId) {
    case TypeId.Int:
      return readInt(type);
    case TypeId.Float:
      return { typeId, precision: type.int16(0) };
    case TypeId.Decimal:
      return { typeId, precision: type.int32(0), scale: type.int32(1), bitWidth: type.int32(2, 128) };
    case TypeId.Date:
      return { typeId, unit: type.int16(0, 1) };
    case TypeId.Time:
      return { typeId, unit: type.int16(0, 1), bitWidth: type.int32(1, 32) };
    case TypeId.Timestamp:
      return { typeId, unit: type.int16(0), timezone: type.string(1) ?? null };
    case TypeId.Interval:
      return { typeId, unit: type.int16(0) };
    case TypeId.Duration:
      return { typeId, unit: type.int16(0, 1) };
    case TypeId.FixedSizeBinary:
      return { typeId, byteWidth: type.int32(0) };
    case TypeId.FixedSizeList:
      return { typeId, listSize: type.int32(0), children };
    case TypeId.Union:
      return { typeId, mode: type.int16(0), typeIds: unionCodes(type, children.length), children };
    default:
      return CHILDREN.has(typeId) ? { typeId, children } : { typeId };
  }
}

function unionCodes(type: FlatTable, members: number): readonly number[] {
  const { view, count } = type.structs(1, 4);
  if (count === 0) return Array.from({ length: members }, (_, member) => member);
  if (count !== members) damaged(`a union has ${count} type ids and ${members} members`);
  return Array.from({ length: count }, (_, member) => view.getInt32(4 * member, true));
}
