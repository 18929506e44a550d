/**
 * A file that is read where one wants.
 *
 * @module
 */

import { open } from "node:fs/promises";

/** Reads of a file by position. */
export interface RandomAccess {
  /** The file's size when it was opened. */
  readonly size: number;
  /** Reads bytes; fewer where the file ends. */
  read(position: number, length: number): Promise<Uint8Array>;
  /** Lets go of the file. */
  close(): Promise<void>;
}

/** What one read of the operating system returns at most, on every one. */
const LARGEST_READ = 2 ** 30;

/**
 * Opens a file for reading.
 *
 * @param path the file
 * @returns reads by position
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const file = await openFile("/dev/null");
 * assert.ok((await file.read(0, 10)).length === 0);
 * await file.close();
 * ```
 */
export async function openFile(path: string): Promise<RandomAccess> {
  const handle = await open(path, "r");
  const { size } = await handle.stat();
  return {
    size,
    async read(position: number, length: number): Promise<Uint8Array> {
      const bytes = new Uint8Array(Math.max(0, Math.min(length, size - position)));
      let filled = 0;
      while (filled < bytes.length) {
        const part = Math.min(bytes.length - filled, LARGEST_READ);
        const { bytesRead } = await handle.read(bytes, filled, part, position + filled);
        if (bytesRead === 0) break;
        filled += bytesRead;
      }
      return bytes.subarray(0, filled);
    },
    close: () => handle.close(),
  };
}

/**
 * The file from its beginning, in chunks.
 *
 * @param file the file
 * @param chunk bytes a chunk
 * @returns the chunks
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const file = await openFile("/dev/null");
 * assert.ok((await Array.fromAsync(chunksOf(file))).length === 0);
 * await file.close();
 * ```
 */
export async function* chunksOf(file: RandomAccess, chunk: number = 1024 * 1024): AsyncGenerator<Uint8Array> {
  for (let position = 0;;) {
    const bytes = await file.read(position, chunk);
    if (bytes.length === 0) return;
    position += bytes.length;
    yield bytes;
  }
}
