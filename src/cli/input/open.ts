/**
 * Opens the command's inputs: detects their format and reads their rows.
 *
 * @module
 */

import { stat } from "node:fs/promises";
import type { ArrowBatch } from "../../types/mod.ts";
import { bytesOf } from "../bytes.ts";
import { fileFault } from "../file_fault.ts";
import { openSequential } from "../../arrow/ipc/input.ts";
import { ChunkSource } from "../../arrow/ipc/source.ts";
import { InputError } from "./error.ts";
import { ipcBatches, ipcFileBatches, ipcRows } from "./ipc.ts";
import { parquetBatches, parquetRows } from "./parquet/batches.ts";
import { type OpenedFile, openFile } from "./random_access.ts";

/** An input whose format is known and can be read. */
export interface Input {
  /** Its name: a path, or `standard input`. */
  readonly name: string;
  /** Its bytes, if it is a file. */
  readonly size: number | undefined;
  /** The number of its rows, if known in advance. */
  readonly rows: number | undefined;
  /** Its rows, read on demand; can be iterated once. */
  batches(): AsyncIterable<ArrowBatch>;
}

/** Standard input is not read here. */
const NO_BYTES: AsyncIterable<Uint8Array> = (async function* () {})();

/** An opened input and where its rows go. */
export interface OpenSource {
  /** The input. */
  readonly input: Input;
  /** The destination resource. */
  readonly resource: string;
}

/** The first bytes of each format. */
const FORMATS: readonly (readonly [format: string, magic: readonly number[]])[] = [
  ["file", [0x41, 0x52, 0x52, 0x4f, 0x57, 0x31]], // ARROW1
  ["parquet", [0x50, 0x41, 0x52, 0x31]], // PAR1
  ["feather", [0x46, 0x45, 0x41, 0x31]], // FEA1
  ["gzip", [0x1f, 0x8b]],
  ["zstd", [0x28, 0xb5, 0x2f, 0xfd]],
  ["lz4", [0x04, 0x22, 0x4d, 0x18]],
];

const REFUSED: Readonly<Record<string, string>> = {
  feather: "is a Feather file of version 1: write version 2, which is Arrow IPC",
  gzip: "is compressed as a whole: decompress it first (gzip -dc FILE | jetrow publish - ...)",
  zstd: "is compressed as a whole: decompress it first (zstd -dc FILE | jetrow publish - ...)",
  lz4: "is compressed as a whole: decompress it first (lz4 -dc FILE | jetrow publish - ...)",
};

/**
 * Opens a file. A regular file is checked: if its footer is missing, damaged or big-endian, it is refused here, before a
 * row of any input is published.
 *
 * @throws {InputError} if it cannot be read
 */
export async function openPath(path: string): Promise<Input> {
  const found = await stat(path).catch((error) => {
    throw new InputError(`${path} cannot be read: ${fileFault(error)}`);
  });
  if (found.isDirectory()) throw new InputError(`${path} cannot be read: it is a directory`);
  // A named pipe, as the shell makes for <(...), is read once and in order.
  if (!found.isFile()) return openPipe(bytesOf(path, { stdin: NO_BYTES }), path);
  return await withFile(path, async (file): Promise<Input> => {
    const format = formatOf(await file.read(0, 8), path);
    const rows = await rowsOf(file, format, path);
    return { name: path, size: file.size, rows, batches: () => readRows(path, format) };
  });
}

/** Opens bytes that arrive once and in order, which must be in the stream format. Errors use `name` for the input. */
export function openPipe(chunks: AsyncIterable<Uint8Array>, name: string): Input {
  return { name, size: undefined, rows: undefined, batches: () => readPipe(chunks, name) };
}

async function* readPipe(chunks: AsyncIterable<Uint8Array>, name: string): AsyncGenerator<ArrowBatch> {
  const source = new ChunkSource(chunks);
  try {
    const format = formatOf(await source.peek(8), name);
    if (format !== "stream") {
      const kind = format === "file" ? "the Arrow file format" : "Parquet";
      throw new InputError(`${name} is ${kind}, which cannot be read from a pipe: give the file's path`);
    }
    yield* ipcBatches(openSequential(source), name);
  } finally {
    await source.close();
  }
}

async function* readRows(path: string, format: Format): AsyncGenerator<ArrowBatch> {
  const file = await openReadable(path);
  try {
    yield* format === "parquet" ? parquetBatches(file, path) : ipcFileBatches(file, path);
  } finally {
    await file.close();
  }
}

async function withFile<T>(path: string, use: (file: OpenedFile) => Promise<T>): Promise<T> {
  const file = await openReadable(path);
  try {
    return await use(file);
  } finally {
    await file.close();
  }
}

async function openReadable(path: string): Promise<OpenedFile> {
  try {
    return await openFile(path);
  } catch (error) {
    throw new InputError(`${path} cannot be read: ${fileFault(error)}`);
  }
}

async function rowsOf(file: OpenedFile, format: Format, path: string): Promise<number> {
  return format === "parquet" ? await parquetRows(file, path) : await ipcRows(file, path);
}

type Format = "file" | "stream" | "parquet";

function formatOf(head: Uint8Array, name: string): Format {
  const format = FORMATS.find(([, magic]) => magic.every((byte, index) => head[index] === byte))?.[0];
  const refusal = format === undefined ? undefined : REFUSED[format];
  if (refusal !== undefined) throw new InputError(`${name} ${refusal}`);
  if (format !== undefined) return format as Format;
  if (head.length > 0 && !looksLikeStream(head)) {
    throw new InputError(`${name} is neither Arrow IPC nor Parquet: it begins with ${describeHead(head)}`);
  }
  return "stream";
}

/** A continuation marker or, before Arrow 0.15, the length of the schema's metadata. No text file begins with either. */
function looksLikeStream(head: Uint8Array): boolean {
  if (head.length < 4) return false;
  const word = new DataView(head.buffer, head.byteOffset).getInt32(0, true);
  return word === -1 || (word > 0 && word < 0x0100_0000);
}

function describeHead(head: Uint8Array): string {
  const text = new TextDecoder().decode(head);
  return /^[\t\r\n\x20-\x7e]+$/.test(text)
    ? JSON.stringify(text)
    : [...head].map((byte) => byte.toString(16).padStart(2, "0")).join(" ");
}
