/**
 * Converts the columns of decoded batches to the types that the Parquet file declares.
 *
 * @module
 */

import type { IpcData } from "../../../arrow/ipc/columns.ts";
import type { IpcBatch } from "../../../arrow/ipc/read_batches.ts";
import type { IpcField, IpcType } from "../../../arrow/ipc/schema.ts";
import { TypeId } from "../../../arrow/type_id.ts";
import type { Leaf } from "./footer.ts";
import { intervals, timestamps } from "./values.ts";

/** A type, its values, and the extension in its field's metadata. */
interface Column {
  readonly type: IpcType;
  readonly data: IpcData;
  readonly extension?: string;
}

/** The string types, by the binary type with the same layout. */
const TEXT: ReadonlyMap<number, number> = new Map([
  [TypeId.Binary, TypeId.Utf8],
  [TypeId.LargeBinary, TypeId.LargeUtf8],
  [TypeId.BinaryView, TypeId.Utf8View],
]);

/**
 * Returns a batch with the types of the file's columns. Arrow's leaf types and Parquet's leaf columns are in the same
 * order, however they are grouped. Throws a RangeError that names the column if its values cannot have the type.
 */
export function withMeanings(batch: IpcBatch, leaves: readonly Leaf[]): IpcBatch {
  const walk = { leaves, next: 0 };
  const columns = batch.schema.fields.map((field, at) => {
    try {
      return applyField(field, batch.data.children[at] as IpcData, walk);
    } catch (error) {
      throw new RangeError(`column ${JSON.stringify(field.name)}: ${(error as Error).message}`);
    }
  });
  if (walk.next !== leaves.length) {
    throw new RangeError(`its ${leaves.length} columns were decoded as ${walk.next} types`);
  }
  const schema = { ...batch.schema, fields: columns.map(({ field }) => field) };
  return { ...batch, schema, data: { ...batch.data, children: columns.map(({ data }) => data) } };
}

interface Walk {
  readonly leaves: readonly Leaf[];
  next: number;
}

function applyField(field: IpcField, data: IpcData, walk: Walk): { readonly field: IpcField; readonly data: IpcData } {
  const column = applyType(field.type, data, walk);
  const metadata = column.extension === undefined
    ? field.metadata
    : new Map([...field.metadata, ["ARROW:extension:name", column.extension]]);
  return { field: { ...field, type: column.type, metadata }, data: column.data };
}

function applyType(type: IpcType, data: IpcData, walk: Walk): Column {
  if (type.children !== undefined) {
    const children = type.children.map((child, at) => applyField(child, childAt(data, at), walk));
    const nested = { ...type, children: children.map(({ field }) => field) };
    return { type: nested, data: { ...data, type: nested, children: children.map((child) => child.data) } };
  }
  return applyLeaf(type, data, walk.leaves[walk.next++]);
}

function childAt(data: IpcData, at: number): IpcData {
  return (data.children as readonly IpcData[])[at]!;
}

function applyLeaf(type: IpcType, data: IpcData, leaf: Leaf | undefined): Column {
  if (leaf?.meaning === undefined) return { type, data };
  if (type.typeId === TypeId.Dictionary) return applyDictionary(type, data, leaf);
  switch (leaf.meaning) {
    case "uuid":
      return { type, data, extension: "arrow.uuid" };
    case "json":
      return { ...asText(type, data), extension: "arrow.json" };
    case "string":
      return asText(type, data);
    case "interval":
      return intervals(data);
    case "int96":
      return timestamps(data, leaf.zone);
  }
}

function asText(type: IpcType, data: IpcData): Column {
  const typeId = TEXT.get(type.typeId);
  if (typeId === undefined) return { type, data };
  const text = { ...type, typeId };
  return { type: text, data: { ...data, type: text } };
}

function applyDictionary(type: IpcType, data: IpcData, leaf: Leaf): Column {
  const { meaning } = leaf;
  if (meaning === "interval" || meaning === "int96") {
    throw new RangeError(`a dictionary of ${meaning} is not supported`);
  }
  const chunks = (data.dictionary?.data ?? []) as readonly IpcData[];
  const columns = chunks.map((chunk) => applyLeaf(type.dictionary!, chunk, leaf));
  const values = applyLeaf(type.dictionary!, { type: type.dictionary!, length: 0 }, leaf);
  const encoded = { ...type, dictionary: values.type };
  const dictionary = { data: columns.map((column) => ({ ...column.data, type: values.type })) };
  return { ...values, type: encoded, data: { ...data, type: encoded, dictionary } };
}
