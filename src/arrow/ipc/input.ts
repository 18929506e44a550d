/**
 * Opens Arrow IPC data: finds its format and its messages.
 *
 * @module
 */

import { fileMessages, type Message, readFooter, streamMessages } from "./frames.ts";
import { type RandomAccess, RandomSource, type SequentialAccess } from "./source.ts";

/** Opened Arrow IPC data. */
export interface ArrowInput {
  /** Its messages; can be read once. */
  readonly messages: AsyncIterable<Message>;
  /** Whether a dictionary may replace an earlier one: allowed in streams, not in files. */
  readonly replaces: boolean;
}

/** The first bytes of the file format. */
const FILE_MAGIC = [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31]; // ARROW1

/** Returns whether data that begins with `head` is in the file format. */
export function isFileFormat(head: Uint8Array): boolean {
  return FILE_MAGIC.every((byte, index) => head[index] === byte);
}

/** Opens data with random access, in either format. With `skipBodies` only the metadata of messages is read. */
export async function openRandom(access: RandomAccess, skipBodies = false): Promise<ArrowInput> {
  if (!isFileFormat(await access.read(0, 8))) return openSequential(new RandomSource(access, skipBodies));
  return { messages: fileMessages(access, await readFooter(access), skipBodies), replaces: false };
}

/** Opens data that is read in order: the stream format. */
export function openSequential(source: SequentialAccess & { close?(): Promise<void> }): ArrowInput {
  return { messages: closing(source), replaces: true };
}

async function* closing(source: SequentialAccess & { close?(): Promise<void> }): AsyncGenerator<Message> {
  try {
    yield* streamMessages(source);
  } finally {
    await source.close?.();
  }
}
