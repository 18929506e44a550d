/**
 * Reads bytes that arrive in order: standard input, pipes, files.
 *
 * @module
 */

import { constants, createReadStream, openSync } from "node:fs";
import { stat } from "node:fs/promises";
import { Socket } from "node:net";
import { unlessAborted } from "../util/abort.ts";
import { fileFault, systemCode } from "./file_fault.ts";
import { InputError } from "./input/error.ts";

/** Where bytes come from. */
export interface ByteInput {
  /** Standard input. */
  readonly stdin: AsyncIterable<Uint8Array>;
  /** Ends a wait for bytes. */
  readonly signal?: AbortSignal;
}

/** Reads a path, or standard input for `-`. Throws an InputError if it cannot be read, and the reason of an abort. */
export async function* bytesOf(file: string, { stdin, signal }: ByteInput): AsyncGenerator<Uint8Array> {
  try {
    const bytes = file === "-" ? stdin : await openBytes(file);
    yield* signal === undefined ? bytes : untilAborted(bytes, signal);
  } catch (error) {
    if (systemCode(error) === undefined) throw error;
    throw new InputError(`${nameOf(file)} cannot be read: ${fileFault(error)}`);
  }
}

/** Returns the name of an input for messages. */
export function nameOf(file: string): string {
  return file === "-" ? "standard input" : file;
}

/**
 * Yields the items of a source, and throws the signal's reason as soon as the signal aborts. A source that is producing
 * an item at that moment cannot be closed, and is abandoned.
 */
export async function* untilAborted<T>(source: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T, undefined> {
  const iterator = source[Symbol.asyncIterator]();
  let waiting = false;
  try {
    for (;;) {
      waiting = true;
      const next = await unlessAborted(iterator.next(), signal);
      waiting = false;
      if (next.done) return;
      yield next.value;
    }
  } finally {
    const closing = Promise.resolve(iterator.return?.());
    if (waiting) closing.catch(() => {});
    else await closing;
  }
}

/**
 * At its exit Node waits for blocked threads, such as those that open or read a named pipe whose writer is silent. A
 * socket reads without a thread. Bun and Deno do not wait.
 */
async function openBytes(path: string): Promise<AsyncIterable<Uint8Array>> {
  const waitsForThreads = !("Deno" in globalThis) && !("Bun" in globalThis);
  if (!waitsForThreads || !(await stat(path)).isFIFO()) return createReadStream(path);
  const fd = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return new Socket({ fd, readable: true, writable: false });
}
