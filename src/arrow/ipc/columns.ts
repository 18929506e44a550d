/**
 * Builds the columns of a record batch from its metadata and its body, after a check of every length: the number of
 * nodes and buffers, the length of each column, and the size of each buffer.
 *
 * @module
 */

import { TypeId } from "../type_id.ts";
import type { LooseData } from "../column.ts";
import { BufferReader } from "./buffers.ts";
import { damaged, IpcFault } from "./fault.ts";
import { type BatchHead, countAt } from "./message.ts";
import type { IpcField, IpcType } from "./schema.ts";
import type { Inflate } from "./compression.ts";

/** The reader's column data, in the form that the encoder takes. */
export interface IpcData extends LooseData {
  readonly type: IpcType;
  readonly length: number;
}

/** The dictionaries known so far: the chunks of their values. */
export type Dictionaries = ReadonlyMap<number, readonly IpcData[]>;

/** Builds the columns of a batch. `fields` are its schema's, or the one field of a dictionary's values. */
export function readColumns(
  fields: readonly Pick<IpcField, "name" | "type">[],
  head: BatchHead,
  body: Uint8Array,
  dictionaries: Dictionaries,
  inflate: Inflate | undefined,
): readonly IpcData[] {
  const reader = new ColumnReader(head, new BufferReader(head, body, inflate), dictionaries);
  const columns = fields.map(({ name, type }) => {
    try {
      const data = reader.read(type);
      if (data.length !== head.rows) damaged(`it has ${data.length} values and its batch announces ${head.rows} rows`);
      return data;
    } catch (error) {
      if (error instanceof IpcFault) error.column = name;
      throw error;
    }
  });
  reader.finish();
  return columns;
}

/** Bytes per value of the types with a fixed width of whole bytes. */
export function widthOf(type: IpcType): number | undefined {
  switch (type.typeId) {
    case TypeId.Int:
    case TypeId.Time:
    case TypeId.Decimal:
      return type.bitWidth! >> 3;
    case TypeId.Float:
      return 2 << type.precision!;
    case TypeId.Date:
      return type.unit === 0 ? 4 : 8;
    case TypeId.Timestamp:
    case TypeId.Duration:
      return 8;
    case TypeId.Interval:
      return 4 << type.unit!;
    case TypeId.FixedSizeBinary:
      return type.byteWidth!;
    case TypeId.Dictionary:
      return type.indices!.bitWidth! >> 3;
    default:
      return undefined;
  }
}

interface Node {
  readonly length: number;
  readonly nulls: number;
}

class ColumnReader {
  readonly #head: BatchHead;
  readonly #buffers: BufferReader;
  readonly #dictionaries: Dictionaries;
  #node = 0;

  constructor(head: BatchHead, buffers: BufferReader, dictionaries: Dictionaries) {
    this.#head = head;
    this.#buffers = buffers;
    this.#dictionaries = dictionaries;
  }

  /** Reads the next column with its children. */
  read(type: IpcType): IpcData {
    const node = this.#nextNode();
    const { length } = node;
    switch (type.typeId) {
      case TypeId.Null:
        return { type, length };
      case TypeId.RunEndEncoded:
        return this.#readRuns(type, length);
      case TypeId.Union:
        return this.#readUnion(type, length);
      default: {
        const nullBitmap = this.#buffers.validity(length, node.nulls);
        return { type, length, ...(nullBitmap && { nullBitmap }), ...this.#readValues(type, length) };
      }
    }
  }

  /** Throws if the batch has more nodes or buffers than its schema requires. */
  finish(): void {
    const { count } = this.#head.nodes;
    if (this.#node !== count) damaged(`a batch has ${count} nodes and its schema asks for ${this.#node}`);
    this.#buffers.finish();
  }

  #nextNode(): Node {
    const { view, count } = this.#head.nodes;
    if (this.#node >= count) damaged(`the batch has only ${count} nodes`);
    const at = 16 * this.#node++;
    const length = countAt(view, at, "the length of a column");
    const nulls = Number(view.getBigInt64(at + 8, true));
    if (nulls < -1 || nulls > length) damaged(`${nulls} of its ${length} values are null`);
    return { length, nulls };
  }

  #readValues(type: IpcType, length: number): Omit<LooseData, "type" | "length"> {
    const buffers = this.#buffers;
    switch (type.typeId) {
      case TypeId.Bool:
        return { values: buffers.fixed(Math.ceil(length / 8)) };
      case TypeId.Utf8:
      case TypeId.Binary:
        return buffers.spans(length, 4);
      case TypeId.LargeUtf8:
      case TypeId.LargeBinary:
        return buffers.spans(length, 8);
      case TypeId.Utf8View:
      case TypeId.BinaryView:
        return buffers.views(length);
      case TypeId.List:
        return this.#readList(type, { valueOffsets: buffers.offsets(length, 4) });
      case TypeId.LargeList:
        return this.#readList(type, { valueOffsets: buffers.offsets(length, 8) });
      case TypeId.ListView:
        return this.#readList(type, { valueOffsets: buffers.fixed(length * 4), sizes: buffers.fixed(length * 4) });
      case TypeId.LargeListView:
        return this.#readList(type, { valueOffsets: buffers.fixed(length * 8), sizes: buffers.fixed(length * 8) });
      case TypeId.Map:
        return this.#readList(type, { valueOffsets: buffers.offsets(length, 4) });
      case TypeId.FixedSizeList:
        return { children: [this.#readChild(type.children![0]!, length * type.listSize!)] };
      case TypeId.Struct:
        return { children: type.children!.map((child) => this.#readChild(child, length)) };
      case TypeId.Dictionary:
        return {
          values: buffers.fixed(length * widthOf(type)!),
          dictionary: { data: this.#dictionaryOf(type, length) },
        };
      default: {
        const width = widthOf(type);
        return width === undefined
          ? damaged(`type ${type.typeId} is unknown`)
          : { values: buffers.fixed(length * width) };
      }
    }
  }

  #readList(type: IpcType, parts: LooseData): Omit<LooseData, "type" | "length"> {
    return { ...parts, children: [this.#readChild(type.children![0]!, 0)] };
  }

  /** Reads a child that has at least as many values as its parent needs. */
  #readChild({ name, type }: IpcField, needed: number): IpcData {
    const child = this.read(type);
    if (child.length < needed) damaged(`its child "${name}" has ${child.length} values instead of ${needed}`);
    return child;
  }

  #readUnion(type: IpcType, length: number): IpcData {
    if (this.#head.oldUnions) this.#buffers.skipValidity();
    const typeIds = this.#buffers.fixed(length);
    const isDense = type.mode === 1;
    const valueOffsets = isDense ? { valueOffsets: this.#buffers.fixed(length * 4) } : {};
    const children = type.children!.map((child) => this.#readChild(child, isDense ? 0 : length));
    return { type, length, typeIds, ...valueOffsets, children };
  }

  #readRuns(type: IpcType, length: number): IpcData {
    const [endsField, valuesField] = type.children as readonly [IpcField, IpcField];
    const ends = this.read(endsField.type);
    if (ends.nullBitmap !== undefined) damaged("its run ends have nulls");
    return { type, length, children: [ends, this.#readChild(valuesField, ends.length)] };
  }

  #dictionaryOf({ id }: IpcType, length: number): readonly IpcData[] {
    const known = this.#dictionaries.get(id!);
    if (known === undefined && length > 0) damaged(`its dictionary ${id} was not sent`);
    return known ?? [];
  }
}
