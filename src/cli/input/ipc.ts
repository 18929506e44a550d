/**
 * Reads the command's Arrow IPC input by the library's reader, and adds the input's name to its errors.
 *
 * @module
 */

import type { NativeZstd } from "../../arrow/ipc/compression.ts";
import { IpcFault } from "../../arrow/ipc/fault.ts";
import { type ArrowInput, openRandom } from "../../arrow/ipc/input.ts";
import { countRows, type IpcBatch, readBatches } from "../../arrow/ipc/read_batches.ts";
import type { RandomAccess } from "../../arrow/ipc/source.ts";
import { EncodeError } from "../../errors/mod.ts";
import type { ArrowBatch } from "../../types/mod.ts";
import { InputError } from "./error.ts";

/** Returns the number of rows of a file in either format. Reads all messages, so that truncation is found first. */
export async function ipcRows(file: RandomAccess, name: string): Promise<number> {
  try {
    return await countRows(await openRandom(file, true));
  } catch (error) {
    throw inputError(error, name);
  }
}

/** Reads the batches of a file in either format. */
export async function* ipcFileBatches(file: RandomAccess, name: string): AsyncGenerator<ArrowBatch> {
  let input: ArrowInput;
  try {
    input = await openRandom(file);
  } catch (error) {
    throw inputError(error, name);
  }
  yield* ipcBatches(input, name);
}

/** Reads the batches of opened data. */
export async function* ipcBatches(input: ArrowInput, name: string): AsyncGenerator<IpcBatch> {
  const batches = readBatches(input, { zstd: await nativeZstd() });
  try {
    for (;;) {
      const { done, value } = await batches.next().catch((error) => {
        throw inputError(error, name);
      });
      if (done) return;
      yield value;
    }
  } finally {
    await batches.return(undefined);
  }
}

/** The ZSTD decoder of Node 22.15, Deno and Bun; older runtimes use the portable one. */
async function nativeZstd(): Promise<NativeZstd | undefined> {
  const { zstdDecompressSync } = await import("node:zlib");
  if (zstdDecompressSync === undefined) return undefined;
  return (data, maxLength) => zstdDecompressSync(data, { maxOutputLength: Math.max(1, maxLength) });
}

function inputError(error: unknown, name: string): unknown {
  if (error instanceof IpcFault) {
    const batch = error.batch === undefined ? "" : ` (record batch ${error.batch})`;
    return new InputError(`${name} cannot be read: ${error.problem}${batch}`);
  }
  return error instanceof EncodeError ? new InputError(`${name} cannot be read: ${error.message}`) : error;
}
