/**
 * Reads the metadata of Arrow IPC messages.
 *
 * @module
 */

import { damaged } from "./fault.ts";
import { type FlatTable, rootTable, safeInt64 } from "./flatbuffer.ts";
import { type IpcSchema, readSchema } from "./schema.ts";

/** The compression of a message's buffers. */
export type Codec = "lz4" | "zstd";

/** The metadata of a record batch: lengths of its columns and positions of its buffers, in the order of the schema. */
export interface BatchHead {
  readonly rows: number;
  readonly codec: Codec | undefined;
  /** Structs `{ length: int64, null_count: int64 }`. */
  readonly nodes: { readonly view: DataView; readonly count: number };
  /** Structs `{ offset: int64, length: int64 }`. */
  readonly buffers: { readonly view: DataView; readonly count: number };
  /** The number of data buffers of each view column, as int64. */
  readonly variadic: { readonly view: DataView; readonly count: number };
  /** Whether unions have a validity bitmap of their own, as before Arrow 1.0. */
  readonly oldUnions: boolean;
}

/** The metadata of a message. */
export type MessageHead =
  & { readonly bodyLength: number }
  & (
    | { readonly kind: "schema"; readonly schema: IpcSchema }
    | { readonly kind: "dictionary"; readonly id: number; readonly isDelta: boolean; readonly data: BatchHead }
    | { readonly kind: "batch"; readonly data: BatchHead }
  );

/** The maximum size of a message's body: the limit of the runtimes' arrays. */
export const LARGEST_BODY = 2 ** 31 - 1;
/** The maximum size of a message's metadata. */
export const LARGEST_METADATA = 2 ** 28;

/** Sizes of the structs FieldNode and Buffer (Message.fbs). */
const NODE_SIZE = 16;
const BUFFER_SIZE = 16;
/** The maximum padding after the last buffer of a body: writers align to 8 or 64 bytes. */
const PADDING = 64;
/** MetadataVersion.V4 and V5 (Schema.fbs): older formats have another layout. */
const [VERSION_4, VERSION_5] = [3, 4];
const CODECS: readonly Codec[] = ["lz4", "zstd"];

/** Reads a message's metadata. */
export function readMessage(metadata: Uint8Array): MessageHead {
  const message = rootTable(metadata);
  const version = message.int16(0);
  if (version !== VERSION_4 && version !== VERSION_5) {
    damaged(`a message has metadata version ${version + 1}: only versions 4 and 5 can be read`);
  }
  const bodyLength = message.int64(3);
  if (bodyLength < 0 || bodyLength > LARGEST_BODY) {
    damaged(`a message has a body of ${bodyLength} bytes: the limit is ${LARGEST_BODY}`);
  }
  message.tables(4);
  const header = message.table(2);
  if (header === undefined) return damaged("a message has no header");
  switch (message.uint8(1)) {
    case 1:
      if (bodyLength > 0) damaged(`a schema message has a body of ${bodyLength} bytes`);
      return { kind: "schema", bodyLength, schema: readSchema(header) };
    case 2: {
      const data = header.table(1);
      if (data === undefined) return damaged("a dictionary has no data");
      const head = readBatch(data, bodyLength, version < VERSION_5);
      return { kind: "dictionary", bodyLength, id: header.int64(0), isDelta: header.bool(2), data: head };
    }
    case 3:
      return { kind: "batch", bodyLength, data: readBatch(header, bodyLength, version < VERSION_5) };
    default:
      return damaged(`a message is of type ${message.uint8(1)}: only schemas, dictionaries and batches can be read`);
  }
}

/** Returns whether bytes, which may be anything, are the metadata of a dictionary or of a record batch. */
export function holdsRows(bytes: Uint8Array): boolean {
  try {
    return readMessage(bytes).kind !== "schema";
  } catch {
    return false;
  }
}

function readBatch(batch: FlatTable, bodyLength: number, oldUnions: boolean): BatchHead {
  const rows = batch.int64(0);
  if (rows < 0) damaged(`a batch announces ${rows} rows`);
  const compression = batch.table(3);
  const buffers = batch.structs(2, BUFFER_SIZE);
  checkBodyLength(buffers, bodyLength);
  return {
    rows,
    codec: compression && readCodec(compression),
    nodes: batch.structs(1, NODE_SIZE),
    buffers,
    variadic: batch.structs(4, 8),
    oldUnions,
  };
}

/** A body must end with its last buffer: a longer one would include the messages that follow, and their rows. */
function checkBodyLength({ view, count }: BatchHead["buffers"], bodyLength: number): void {
  let end = 0;
  for (let at = 0; at < BUFFER_SIZE * count; at += BUFFER_SIZE) {
    end = Math.max(end, countAt(view, at, "the offset of a buffer") + countAt(view, at + 8, "the length of a buffer"));
  }
  if (bodyLength - end < PADDING) return;
  damaged(`a message has a body of ${bodyLength} bytes and its last buffer ends at byte ${end}`);
}

function readCodec(compression: FlatTable): Codec {
  const codec = CODECS[compression.uint8(0)];
  if (codec === undefined) return damaged(`codec ${compression.uint8(0)} is unknown: only LZ4 and ZSTD can be read`);
  if (compression.uint8(1) !== 0) damaged(`compression method ${compression.uint8(1)} is unknown`);
  return codec;
}

/** Reads a length or a count from a struct. */
export function countAt(view: DataView, at: number, what: string): number {
  const count = safeInt64(view, at);
  return count >= 0 ? count : damaged(`${what} is ${count}`);
}
