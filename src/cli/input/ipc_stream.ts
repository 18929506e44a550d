/**
 * The IPC stream format: messages one after another, an end-of-stream marker behind the last.
 *
 * @module
 */

import { InputError } from "./error.ts";
import { type IpcMessage, LARGEST_BODY, readFrame } from "./ipc_message.ts";

/** Where messages come from. */
export interface MessageSource {
  /** How many bytes were taken. */
  readonly position: number;
  /** Takes that many bytes; fewer where the source ends. */
  take(length: number): Promise<Uint8Array>;
  /** Takes a message's body, or passes over it; `length` is how much of it there was. */
  body(length: number): Promise<{ readonly length: number; readonly bytes: Uint8Array }>;
}

/** Marks a message since Arrow 0.15; before, a message began with its length. */
const CONTINUATION = 0xffffffff;

/**
 * The messages of a stream, up to its end. A stream that is cut, ends without the marker or goes on after it is
 * refused: its writer may have died, and what came is not what there is.
 *
 * @param source the bytes
 * @param name names the input in errors
 * @returns the messages
 * @throws {InputError} when the stream is not whole
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { ByteSource } from "./byte_source.ts";
 *
 * const source = new ByteSource((async function* () {})());
 * const outcome = await Array.fromAsync(streamMessages(source, "standard input")).catch((error) => error.message);
 * assert.ok(outcome.startsWith("standard input is empty"));
 * ```
 */
export async function* streamMessages(source: MessageSource, name: string): AsyncGenerator<IpcMessage> {
  let schemas = 0;
  for (;;) {
    const where = `${name}, byte ${source.position}`;
    const prefix = await readPrefix(source, name);
    if (prefix.metadataLength === 0) break;
    const message = await readMessage(source, prefix, where);
    schemas += message.kind === "schema" ? 1 : 0;
    if (schemas !== 1) throw new InputError(`${where}: a stream has one schema, as its first message`);
    yield message;
  }
  if (schemas === 0) throw new InputError(`${name} has an end-of-stream marker, but no schema before it`);
  const end = source.position;
  if ((await source.take(1)).length > 0) {
    throw new InputError(
      `${name} goes on after the end-of-stream marker at byte ${end}: ` +
        "one stream at a time; give several as files",
    );
  }
}

interface Prefix {
  readonly bytes: Uint8Array;
  readonly metadataLength: number;
}

async function readPrefix(source: MessageSource, name: string): Promise<Prefix> {
  const at = source.position;
  const first = await source.take(4);
  if (first.length === 0) {
    throw new InputError(
      at === 0
        ? `${name} is empty: not even a schema`
        : `${name} ends at byte ${at} without the end-of-stream marker: its writer may have failed, ` +
          "rows may be missing",
    );
  }
  if (first.length === 4 && uint32(first) !== CONTINUATION) return { bytes: first, metadataLength: uint32(first) };
  const second = await source.take(4);
  if (first.length < 4 || second.length < 4) throw cut(name, source.position);
  return { bytes: join(first, second), metadataLength: uint32(second) };
}

async function readMessage(source: MessageSource, prefix: Prefix, where: string): Promise<IpcMessage> {
  if (prefix.metadataLength > LARGEST_BODY) {
    throw new InputError(`${where}: no Arrow message: it would have ${prefix.metadataLength} bytes of metadata`);
  }
  const metadata = await source.take(prefix.metadataLength);
  if (metadata.length < prefix.metadataLength) throw cut(where, source.position);
  const { bodyLength, ...frame } = readFrame(metadata, where);
  const body = await source.body(bodyLength);
  if (body.length < bodyLength) throw cut(where, source.position);
  return { ...frame, head: join(prefix.bytes, metadata), body: body.bytes };
}

function cut(where: string, end: number): InputError {
  return new InputError(`${where}: cut within a message: the input ends at byte ${end}, rows are missing`);
}

function uint32(bytes: Uint8Array): number {
  return new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(a.length + b.length);
  bytes.set(a);
  bytes.set(b, a.length);
  return bytes;
}
