/**
 * Reads Parquet files by parquet-wasm, one row group at a time and a few thousand rows at a time, so that neither a file
 * nor a row group must fit in memory.
 *
 * @module
 */

import type { ParquetFile, RecordBatch } from "parquet-wasm";
import type { ArrowBatch } from "../../../types/mod.ts";
import { openRandom } from "../../../arrow/ipc/input.ts";
import type { IpcBatch } from "../../../arrow/ipc/read_batches.ts";
import { bytesAccess, type RandomAccess } from "../../../arrow/ipc/source.ts";
import { InputError } from "../error.ts";
import { ipcBatches } from "../ipc.ts";
import { library } from "../libraries.ts";
import { type Leaf, type ParquetFooter, readFooter } from "./footer.ts";
import { withMeanings } from "./meanings.ts";
import { isMemoryFailure, orPanic, Panic } from "./panic.ts";

/** Rows decoded at a time; with the decoder's default of 1024 there would be more schemas and dictionaries. */
const BATCH_ROWS = 8192;

/**
 * Returns the number of rows of a file, by reading its footer only.
 *
 * @throws {InputError} if it is not a Parquet file, or cannot be read
 */
export async function parquetRows(file: RandomAccess, name: string): Promise<number> {
  const decoder = await openDecoder(file, name);
  try {
    return decoder.file.metadata().fileMetadata().numRows();
  } finally {
    free(decoder);
  }
}

/**
 * Yields the record batches of a file.
 *
 * @throws {InputError} if the file cannot be read
 */
export async function* parquetBatches(file: RandomAccess, name: string): AsyncGenerator<ArrowBatch> {
  const decoder = await openDecoder(file, name);
  try {
    const groups = decoder.file.metadata().numRowGroups();
    for (let group = 0; group < groups; group++) yield* groupBatches(decoder, group, `${name}, row group ${group}`);
  } finally {
    free(decoder);
  }
}

/** The decoder of a file. */
interface Decoder {
  readonly file: ParquetFile;
  /** The Parquet types of its columns. */
  readonly leaves: readonly Leaf[];
  /** Its memory. */
  readonly memory: WebAssembly.Memory;
  /** Whether it has crashed on the file. */
  dead: boolean;
}

async function* groupBatches(decoder: Decoder, group: number, where: string): AsyncGenerator<ArrowBatch> {
  const bytes = decoder.file.metadata().rowGroup(group).totalByteSize();
  const decode = <T>(step: () => Promise<T>): Promise<T> =>
    orPanic(step).catch((error) => {
      decoder.dead ||= error instanceof Panic;
      return fail(where, isMemoryFailure(error, bytes + decoder.memory.buffer.byteLength) ? tooLarge(bytes) : error);
    });
  const stream = await decode(() => decoder.file.stream({ rowGroups: [group], batchSize: BATCH_ROWS, concurrency: 1 }));
  const reader = stream.getReader() as ReadableStreamDefaultReader<RecordBatch>;
  try {
    for (;;) {
      const { done, value } = await decode(() => reader.read());
      if (done) return;
      for await (const batch of ipcBatches(await openRandom(bytesAccess(value.intoIPCStream())), where)) {
        yield refineBatch(batch, decoder.leaves, where);
      }
    }
  } finally {
    if (!decoder.dead) await reader.cancel().catch(() => {});
  }
}

function tooLarge(bytes: number): Error {
  const megabytes = Math.ceil(bytes / 1e6);
  return new Error(`there is not enough memory for its ${megabytes} MB. Write the file with smaller row groups`);
}

function refineBatch(batch: IpcBatch, leaves: readonly Leaf[], where: string): ArrowBatch {
  try {
    return withMeanings(batch, leaves);
  } catch (error) {
    return fail(where, error);
  }
}

async function openDecoder(file: RandomAccess, name: string): Promise<Decoder> {
  const { ParquetFile, wasmMemory } = await library("parquet-wasm", "reading Parquet", () => import("parquet-wasm"));
  const footer = await readFooter(file).catch((error): ParquetFooter | RangeError => {
    if (error instanceof RangeError) return error;
    throw error;
  });
  // The decoder's error about a damaged footer is more specific.
  const seen = footer instanceof RangeError ? file : footer.file;
  const open = () => ParquetFile.fromFile(new FileBlob(seen, 0, seen.size));
  const opened = await orPanic(open).catch((error) => fail(name, error));
  if (footer instanceof RangeError) fail(name, new Error(`its footer: ${footer.message}`));
  return { file: opened, leaves: footer.leaves, memory: wasmMemory() as WebAssembly.Memory, dead: false };
}

function free({ file, dead }: Decoder): void {
  if (!dead) file.free();
}

function fail(where: string, error: unknown): never {
  const reason = error instanceof Error ? error.message : String(error);
  throw new InputError(`${where} cannot be read as Parquet: ${reason.split("\n")[0]}`);
}

/** A file in the form that the decoder takes. Some runtimes read their own blobs of files as a whole. */
class FileBlob extends Blob {
  readonly #file: RandomAccess;
  readonly #start: number;
  readonly #end: number;

  constructor(file: RandomAccess, start: number, end: number) {
    super();
    this.#file = file;
    this.#start = start;
    this.#end = end;
  }

  override get size(): number {
    return this.#end - this.#start;
  }

  override slice(from: number = 0, to: number = this.size): Blob {
    return new FileBlob(this.#file, this.#start + from, this.#start + Math.min(to, this.size));
  }

  override async arrayBuffer(): Promise<ArrayBuffer> {
    const bytes = await this.#file.read(this.#start, this.size);
    return bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + bytes.length) as ArrayBuffer;
  }
}
