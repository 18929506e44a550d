/**
 * A file that can be read at any position.
 *
 * @module
 */

import { open } from "node:fs/promises";
import type { RandomAccess } from "../../arrow/ipc/source.ts";

/** An opened file. */
export interface OpenedFile extends RandomAccess {
  /** Closes the file. */
  close(): Promise<void>;
}

/** The maximum number of bytes that one read returns on every operating system. */
const LARGEST_READ = 2 ** 30;

/** Opens a file for reading. */
export async function openFile(path: string): Promise<OpenedFile> {
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
