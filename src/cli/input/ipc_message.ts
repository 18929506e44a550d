/**
 * The frame of an Arrow IPC message: what has to be known before its body is read.
 *
 * @module
 */

import { InputError } from "./error.ts";
import { type FlatTable, rootTable } from "./flatbuffer.ts";
import { checkBatch, checkSchema } from "./ipc_metadata.ts";

/** How the buffers of a message are compressed. */
export type Compression = "lz4" | "zstd";

/** One message of the IPC format. */
export interface IpcMessage {
  /** What it holds. */
  readonly kind: "schema" | "dictionary" | "batch";
  /** Rows of a batch. */
  readonly rows: number;
  /** How its buffers are compressed, if they are. */
  readonly compression?: Compression;
  /** Prefix and metadata. */
  readonly head: Uint8Array;
  /** The buffers. */
  readonly body: Uint8Array;
}

/** A message's metadata. */
export interface IpcFrame extends Omit<IpcMessage, "head" | "body"> {
  /** Bytes that follow the metadata. */
  readonly bodyLength: number;
}

/** The largest body that one message may have: what a runtime's array and a codec can be expected to hold. */
export const LARGEST_BODY = 2 ** 31 - 1;

const KINDS: Readonly<Record<number, IpcMessage["kind"]>> = { 1: "schema", 2: "dictionary", 3: "batch" };
/** Arrow format, Schema.fbs: MetadataVersion.V5. */
const VERSION_5 = 4;
const CODECS: readonly Compression[] = ["lz4", "zstd"];

/**
 * Reads a message's metadata.
 *
 * Arrow format, Message.fbs: Message { version, header type, header, bodyLength }, Schema { endianness, ... },
 * DictionaryBatch { id, data: RecordBatch }, RecordBatch { length, nodes, buffers, compression { codec } }.
 *
 * @param metadata the flatbuffer
 * @param where names the message in errors
 * @returns what it says
 * @throws {InputError} when it is no message, or one that cannot be read rightly
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * try {
 *   readFrame(new Uint8Array(8), "orders.arrow, byte 0");
 * } catch (error) {
 *   assert.ok(error instanceof Error && error.message.includes("orders.arrow, byte 0"));
 * }
 * ```
 */
export function readFrame(metadata: Uint8Array, where: string): IpcFrame {
  try {
    return frameOf(rootTable(metadata), where);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InputError(`${where}: no Arrow message: its metadata is broken`);
  }
}

function frameOf(message: FlatTable, where: string): IpcFrame {
  const kind = KINDS[message.uint8(1)];
  const header = message.table(2);
  const bodyLength = message.int64(3);
  if (kind === undefined || header === undefined) {
    throw new InputError(`${where}: an Arrow message of type ${message.uint8(1)}: only tables can be read`);
  }
  if (!(bodyLength >= 0 && bodyLength <= LARGEST_BODY)) {
    throw new InputError(`${where}: a message body of ${bodyLength} bytes: at most ${LARGEST_BODY} can be read`);
  }
  if (kind === "schema") {
    assertLittleEndian(header, where);
    // Until version 5 a union had a validity bitmap of its own, which apache-arrow takes for the next buffer.
    if (checkSchema(header) && message.int16(0) < VERSION_5) {
      throw new InputError(`${where}: a union as Arrow wrote it before 1.0: write it anew by a later version`);
    }
    return { kind, rows: 0, bodyLength };
  }
  const batch = kind === "batch" ? header : header.table(1);
  if (batch === undefined) throw new RangeError("a dictionary has no data");
  checkBatch(batch);
  const codec = batch.table(3);
  const compression = codec && compressionOf(codec.uint8(0), where);
  return { kind, rows: batch.int64(0), bodyLength, ...(compression && { compression }) };
}

/**
 * Refuses what apache-arrow would read with its bytes swapped, without an error.
 *
 * @param schema the Schema table
 * @param where names the schema in errors
 * @throws {InputError} when the data is big-endian
 * @example
 * ```ts ignore
 * assertLittleEndian(footer.table(1), "orders.arrow");
 * ```
 */
export function assertLittleEndian(schema: FlatTable, where: string): void {
  if (schema.int16(0) !== 0) {
    throw new InputError(`${where}: the data is big-endian: write it on, or for, a little-endian machine`);
  }
}

function compressionOf(codec: number, where: string): Compression {
  const name = CODECS[codec];
  if (name === undefined) throw new InputError(`${where}: compressed by codec ${codec}: only LZ4 and ZSTD can be read`);
  return name;
}
