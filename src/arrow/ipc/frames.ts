/**
 * Finds the messages of Arrow IPC data: in a stream in order, in a file by its footer.
 *
 * @module
 */

import { damaged } from "./fault.ts";
import { rootTable, safeInt64 } from "./flatbuffer.ts";
import { holdsRows, LARGEST_METADATA, type MessageHead, readMessage } from "./message.ts";
import { type IpcSchema, readSchema } from "./schema.ts";
import type { RandomAccess, SequentialAccess } from "./source.ts";

/** A message: its metadata and its body. The body is empty if the source skips bodies. */
export type Message = MessageHead & { readonly body: Uint8Array };

/** Begins a message since Arrow 0.15; before, a message began with its length. */
const CONTINUATION = 0xffffffff;
/** The first and the last bytes of a file, and the first ones padded to 8 bytes. */
const MAGIC = "ARROW1";
const MAGIC_WORD = 0x4f525241; // "ARRO", read as a length
const FILE_START = 8;
/** Size of the struct Block of a footer (File.fbs): offset, metadata length, body length. */
const BLOCK_SIZE = 24;
/** The end-of-stream marker and padding to 64 bytes: less than any message needs. */
const LARGEST_GAP = 8 + 64;
/** The size that a message may have in addition to a schema as in the footer, with padding. */
const LARGEST_FRAME = 4096;

/** Reads the messages of a stream: one schema first, then dictionaries and batches, then the end-of-stream marker. */
export async function* streamMessages(source: SequentialAccess): AsyncGenerator<Message> {
  let schemas = 0;
  for (;;) {
    const metadataLength = await readPrefix(source);
    if (metadataLength === 0) break;
    const message = await readStreamMessage(source, metadataLength);
    schemas += message.kind === "schema" ? 1 : 0;
    if (schemas !== 1) damaged("a stream must have one schema, as its first message");
    yield message;
  }
  if (schemas === 0) damaged("it has an end-of-stream marker and no schema before it");
  const end = source.position;
  if ((await source.take(1)).length > 0) {
    damaged(`it continues after its end-of-stream marker at byte ${end}. Pass one stream at a time`);
  }
}

/** Reads the length of the next message's metadata; 0 at the end-of-stream marker. */
async function readPrefix(source: SequentialAccess): Promise<number> {
  const at = source.position;
  const first = await source.take(4);
  if (first.length === 0) {
    return damaged(
      at === 0
        ? "it is empty, without even a schema"
        : `it ends at byte ${at} without the end-of-stream marker: its writer may have failed, rows may be missing`,
    );
  }
  if (first.length < 4) return cut(source);
  if (uint32(first) !== CONTINUATION) return uint32(first);
  const second = await source.take(4);
  return second.length < 4 ? cut(source) : uint32(second);
}

async function readStreamMessage(source: SequentialAccess, metadataLength: number): Promise<Message> {
  if (metadataLength === MAGIC_WORD) {
    damaged(
      "it is in the file format, which cannot be read in order: its index is at the end. Pass its bytes or a Blob",
    );
  }
  if (metadataLength > LARGEST_METADATA) damaged(`a message announces ${metadataLength} bytes of metadata`);
  const metadata = await source.take(metadataLength);
  if (metadata.length < metadataLength) cut(source);
  const head = readMessage(metadata);
  const body = await source.body(head.bodyLength);
  return body === undefined ? cut(source) : { ...head, body };
}

function cut(source: SequentialAccess): never {
  return damaged(`it ends within a message, at byte ${source.position}: rows are missing`);
}

function uint32(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
}

/** The position of a message in a file. */
interface Block {
  readonly offset: number;
  readonly metadataLength: number;
  readonly bodyLength: number;
}

/** The footer of a file. */
export interface Footer {
  readonly schema: IpcSchema;
  readonly dictionaries: readonly Block[];
  readonly batches: readonly Block[];
}

/** Reads the footer of a file. */
export async function readFooter(file: RandomAccess): Promise<Footer> {
  const tail = await file.read(Math.max(FILE_START, file.size - 10), 10);
  const length = tail.length === 10 ? new DataView(tail.buffer, tail.byteOffset).getInt32(0, true) : 0;
  if (new TextDecoder().decode(tail.subarray(4)) !== MAGIC || length <= 0 || length > file.size - FILE_START - 10) {
    damaged("the file has no footer: it is cut, or its writer did not close it, and rows may be missing");
  }
  const footer = rootTable(await file.read(file.size - 10 - length, length));
  const schema = footer.table(1);
  if (schema === undefined) return damaged("its footer has no schema");
  const end = file.size - 10 - length;
  const blocks = (slot: number): readonly Block[] => {
    const { view, count } = footer.structs(slot, BLOCK_SIZE);
    return Array.from({ length: count }, (_, index) => readBlock(view, index * BLOCK_SIZE, end));
  };
  const found = { schema: readSchema(schema), dictionaries: blocks(2), batches: blocks(3) };
  await checkComplete(file, [...found.dictionaries, ...found.batches], end);
  return found;
}

function readBlock(view: DataView, at: number, end: number): Block {
  const offset = safeInt64(view, at);
  const metadataLength = view.getInt32(at + 8, true);
  const bodyLength = safeInt64(view, at + 16);
  const isInside = offset >= FILE_START && metadataLength > 0 && bodyLength >= 0 &&
    offset + metadataLength + bodyLength <= end;
  if (!isInside) damaged("its footer refers to bytes outside of the file: it is cut, or broken");
  return { offset, metadataLength, bodyLength };
}

/**
 * Messages must not overlap: a batch that the footer lists twice would be published twice. Bytes between them must not be
 * a possible message: a batch that a damaged footer does not list would be lost.
 */
async function checkComplete(file: RandomAccess, blocks: readonly Block[], footerStart: number): Promise<void> {
  const sorted = blocks.toSorted((a, b) => a.offset - b.offset);
  const headEnd = sorted[0]?.offset ?? footerStart;
  await checkHead(file, headEnd, file.size - footerStart);
  let end = headEnd;
  for (const { offset, metadataLength, bodyLength } of sorted) {
    if (offset < end) damaged(`its footer lists the message at byte ${offset} twice, or inside another one`);
    if (offset - end > LARGEST_GAP) unlisted(end, offset);
    end = offset + metadataLength + bodyLength;
  }
  if (sorted.length > 0 && footerStart - end > LARGEST_GAP) unlisted(end, footerStart);
}

/**
 * Before its first block a file repeats the footer's schema: usually as a message, by polars as a bare table, by
 * apache-arrow not at all. Its size is therefore limited, and no batch may be in it.
 */
async function checkHead(file: RandomAccess, end: number, footerLength: number): Promise<void> {
  if (end - FILE_START > 4 * footerLength + LARGEST_FRAME) unlisted(FILE_START, end);
  const head = await file.read(FILE_START, end - FILE_START);
  for (let at = 0; at + 8 <= head.length; at += 8) {
    if (uint32(head.subarray(at)) !== CONTINUATION) continue;
    const metadata = head.subarray(at + 8, at + 8 + uint32(head.subarray(at + 4)));
    if (holdsRows(metadata)) unlisted(FILE_START + at, end);
  }
}

function unlisted(from: number, to: number): never {
  return damaged(`its footer lists no message between byte ${from} and byte ${to}: it is broken, rows may be missing`);
}

/** Reads the messages of a file in the order of its footer: the schema, all dictionaries, then the batches. */
export async function* fileMessages(file: RandomAccess, footer: Footer, skipBodies: boolean): AsyncGenerator<Message> {
  yield { kind: "schema", bodyLength: 0, schema: footer.schema, body: new Uint8Array(0) };
  for (const block of footer.dictionaries) yield await readFileMessage(file, block, "dictionary", skipBodies);
  for (const block of footer.batches) yield await readFileMessage(file, block, "batch", skipBodies);
}

async function readFileMessage(
  file: RandomAccess,
  block: Block,
  kind: Message["kind"],
  skipBodies: boolean,
): Promise<Message> {
  const { offset, metadataLength, bodyLength } = block;
  const bytes = await file.read(offset, skipBodies ? metadataLength : metadataLength + bodyLength);
  if (bytes.length < 8 || bytes.length < metadataLength) damaged(`it ends within the message at byte ${offset}`);
  // Before Arrow 0.15 a message began with its length, without the continuation marker.
  const prefix = uint32(bytes) === CONTINUATION ? 8 : 4;
  const announced = uint32(bytes.subarray(prefix - 4));
  if (announced === 0 || prefix + announced > metadataLength) {
    damaged(`the message at byte ${offset} announces ${announced} bytes of metadata and the footer ${metadataLength}`);
  }
  const head = readMessage(bytes.subarray(prefix, prefix + announced));
  if (head.kind !== kind || head.bodyLength !== bodyLength) {
    damaged(`the message at byte ${offset} is not the one that the footer announces`);
  }
  if (skipBodies) return { ...head, body: new Uint8Array(0) };
  const body = bytes.subarray(metadataLength, metadataLength + bodyLength);
  return body.length < bodyLength ? damaged(`it ends within the message at byte ${offset}`) : { ...head, body };
}
