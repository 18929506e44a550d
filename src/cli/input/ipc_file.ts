/**
 * The IPC file format: the messages of a stream between two magic words, and a footer that says where they are.
 *
 * @module
 */

import { InputError } from "./error.ts";
import { type FlatTable, rootTable } from "./flatbuffer.ts";
import { assertLittleEndian, type IpcMessage, LARGEST_BODY, readFrame } from "./ipc_message.ts";
import type { RandomAccess } from "./random_access.ts";

/** Where a message lies. */
interface Block {
  readonly offset: number;
  readonly bodyLength: number;
}

/** What the footer says. */
export interface IpcFooter {
  /** The schema, as a message of its own. */
  readonly schema: Uint8Array;
  readonly dictionaries: readonly Block[];
  readonly batches: readonly Block[];
}

/** The file's first and last word. */
const MAGIC = "ARROW1";
/** The first word, padded to 8 bytes: where the messages begin. */
const START = 8;
/** Arrow format, File.fbs: struct Block { offset: long; metaDataLength: int; bodyLength: long }. */
const BLOCK_SIZE = 24;

/**
 * Reads the footer.
 *
 * @param file the file
 * @param name names it in errors
 * @returns where the messages are
 * @throws {InputError} when there is none: the file is cut, or was not closed by its writer
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openFile } from "./random_access.ts";
 *
 * const file = await openFile("/dev/null");
 * const outcome = await readFooter(file, "x.arrow").catch((error) => error.message);
 * assert.ok(outcome.includes("x.arrow is cut"));
 * ```
 */
export async function readFooter(file: RandomAccess, name: string): Promise<IpcFooter> {
  const tail = await file.read(Math.max(START, file.size - 10), 10);
  const length = tail.length === 10 ? new DataView(tail.buffer).getInt32(0, true) : 0;
  if (new TextDecoder().decode(tail.subarray(4)) !== MAGIC || length <= 0 || length > file.size - START - 10) {
    throw new InputError(`${name} is cut, or was not closed by its writer: it has no footer, rows may be missing`);
  }
  const bytes = await file.read(file.size - 10 - length, length);
  try {
    return footerOf(bytes, file.size, name);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new InputError(`${name}: its footer is broken`);
  }
}

function footerOf(bytes: Uint8Array, size: number, name: string): IpcFooter {
  const footer = rootTable(bytes);
  const schema = footer.table(1);
  if (schema === undefined) throw new InputError(`${name}: its footer has no schema`);
  assertLittleEndian(schema, name);
  const blocks = (slot: number) =>
    footer.structs(slot, BLOCK_SIZE).map((block) => {
      const offset = Number(block.getBigInt64(0, true));
      const metadataLength = block.getInt32(8, true);
      const bodyLength = Number(block.getBigInt64(16, true));
      const whole = offset >= START && metadataLength > 0 && bodyLength >= 0 &&
        offset + metadataLength + bodyLength <= size;
      if (!whole) throw new InputError(`${name}: its footer leads outside of the file: it is cut, or broken`);
      return { offset, bodyLength };
    });
  return { schema: schemaMessage(bytes, schema, footer.int16(0)), dictionaries: blocks(2), batches: blocks(3) };
}

/**
 * The footer's schema as a message: a Message table is laid before the footer's bytes, and refers into them. The schema
 * at the beginning of the file is left alone: apache-arrow's own writer omits it, polars writes it without its prefix.
 */
function schemaMessage(footer: Uint8Array, schema: FlatTable, version: number): Uint8Array {
  const [PREFIX, ROOT, VTABLE, TABLE, END] = [0, 8, 12, 24, 40];
  const SCHEMA = 1;
  const bytes = new Uint8Array(END + Math.ceil(footer.length / 8) * 8);
  const view = new DataView(bytes.buffer);
  view.setInt32(PREFIX, -1, true);
  view.setInt32(PREFIX + 4, bytes.length - ROOT, true);
  view.setUint32(ROOT, TABLE - ROOT, true);
  // The vtable: its size, the table's size, then where version, header type and header lie in the table.
  [10, 16, 4, 6, 8].forEach((value, index) => view.setUint16(VTABLE + 2 * index, value, true));
  view.setInt32(TABLE, TABLE - VTABLE, true);
  view.setInt16(TABLE + 4, version, true);
  view.setUint8(TABLE + 6, SCHEMA);
  view.setUint32(TABLE + 8, END + schema.position - (TABLE + 8), true);
  bytes.set(footer, END);
  return bytes;
}

/**
 * The messages of a file in the order of a stream: the schema, all dictionaries (which a file may hold anywhere), the
 * batches.
 *
 * @param file the file
 * @param footer its footer
 * @param name names the file in errors
 * @returns the messages
 * @throws {InputError} when one is broken
 * @example
 * ```ts ignore
 * for await (const message of fileMessages(file, await readFooter(file, "orders.arrow"), "orders.arrow")) {
 *   console.log(message.kind, message.rows);
 * }
 * ```
 */
export async function* fileMessages(
  file: RandomAccess,
  footer: IpcFooter,
  name: string,
): AsyncGenerator<IpcMessage> {
  readFrame(footer.schema.subarray(8), `${name}, footer`);
  yield { kind: "schema", rows: 0, head: footer.schema, body: new Uint8Array(0) };
  for (const block of footer.dictionaries) yield await readAt(file, block, "dictionary", name);
  for (const block of footer.batches) yield await readAt(file, block, "batch", name);
}

/**
 * How many rows a file has, by its batches' metadata alone.
 *
 * @param file the file
 * @param footer its footer
 * @param name names the file in errors
 * @returns the rows
 * @example
 * ```ts ignore
 * console.log(await countRows(file, await readFooter(file, "orders.arrow"), "orders.arrow"));
 * ```
 */
export async function countRows(file: RandomAccess, footer: IpcFooter, name: string): Promise<number> {
  let rows = 0;
  for (const { offset } of footer.batches) rows += (await readHead(file, offset, name)).frame.rows;
  return rows;
}

async function readAt(
  file: RandomAccess,
  block: Block,
  kind: IpcMessage["kind"],
  name: string,
): Promise<IpcMessage> {
  const { offset } = block;
  const { head, frame: { bodyLength, ...frame } } = await readHead(file, offset, name);
  if (frame.kind !== kind || block.bodyLength !== bodyLength) {
    throw new InputError(`${name}, byte ${offset}: the footer announces another message than is there`);
  }
  const body = await file.read(offset + head.length, bodyLength);
  if (body.length < bodyLength) throw new InputError(`${name}, byte ${offset}: the file is cut within a message`);
  return { ...frame, head, body };
}

async function readHead(file: RandomAccess, offset: number, name: string) {
  const where = `${name}, byte ${offset}`;
  const prefix = await file.read(offset, 8);
  if (prefix.length < 8) throw new InputError(`${where}: the file is cut within a message`);
  const words = new DataView(prefix.buffer);
  // Before Arrow 0.15 a message began with its length, without the continuation marker.
  const prefixLength = words.getInt32(0, true) === -1 ? 8 : 4;
  const metadataLength = words.getInt32(prefixLength - 4, true);
  if (metadataLength <= 0 || metadataLength > LARGEST_BODY) throw new InputError(`${where}: no Arrow message`);
  const head = await file.read(offset, prefixLength + metadataLength);
  if (head.length < prefixLength + metadataLength) {
    throw new InputError(`${where}: the file is cut within a message`);
  }
  return { head, frame: readFrame(head.subarray(prefixLength), where) };
}
