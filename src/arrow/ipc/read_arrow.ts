/**
 * Reads Arrow IPC data from any source of bytes.
 *
 * @module
 */

import { ConfigError } from "../../errors/mod.ts";
import type { ArrowRows, ArrowSchema } from "../../types/mod.ts";
import { deferred } from "../../util/deferred.ts";
import { describe } from "../../util/describe.ts";
import { unlessAborted } from "../../util/abort.ts";
import { readError } from "./fault.ts";
import { type ArrowInput, openRandom, openSequential } from "./input.ts";
import { readBatches } from "./read_batches.ts";
import { blobAccess, bytesAccess, ChunkSource } from "./source.ts";

/**
 * A source of Arrow IPC data. Bytes and blobs may be in the stream or in the file format; a source that can only be read
 * in order must be in the stream format.
 *
 * @example
 * ```ts
 * import type { ArrowSource } from "@jetrow/jetrow/arrow";
 * import assert from "node:assert/strict";
 *
 * const sources: ArrowSource[] = [new Uint8Array(8), new Blob(), new ReadableStream<Uint8Array>()];
 * assert.equal(sources.length, 3);
 * ```
 */
export type ArrowSource = Uint8Array | Blob | ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>;

/**
 * Options of {@linkcode readArrow}.
 *
 * @example
 * ```ts
 * import type { ReadArrowOptions } from "@jetrow/jetrow/arrow";
 * import assert from "node:assert/strict";
 *
 * const options: ReadArrowOptions = { signal: AbortSignal.timeout(60_000) };
 * assert.equal(options.signal?.aborted, false);
 * ```
 */
export interface ReadArrowOptions {
  /** Ends reading: the iterator rejects with the signal's reason. */
  readonly signal?: AbortSignal;
}

/**
 * The record batches of Arrow IPC data and their schema.
 *
 * @example
 * ```ts
 * import { type ArrowBatches, readArrow } from "@jetrow/jetrow/arrow";
 * import { tableFromArrays, tableToIPC } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const batches: ArrowBatches = readArrow(tableToIPC(tableFromArrays({ id: [1, 2] })));
 * for await (const { numRows } of batches) assert.equal(numRows, 2);
 * assert.deepEqual((await batches.schema).fields.map(({ name }) => name), ["id"]);
 * ```
 */
export interface ArrowBatches extends AsyncIterable<ArrowRows> {
  /** The schema, once it is read. Reading begins with the first batch that is requested, or with this promise. */
  readonly schema: Promise<ArrowSchema>;
}

/**
 * Reads Arrow IPC data, batch by batch: the stream format or, from bytes and blobs, the file format; LZ4 and ZSTD
 * included. Every length, offset and count of the data is checked, so that damaged data is refused. Memory follows the
 * largest record batch, not the size of the source. The batches can be iterated once.
 *
 * Dictionaries may be nested, extended and, in streams, replaced. ZSTD needs the package `fzstd`.
 *
 * @throws {EncodeError} While iterating: `encode.malformed` for damaged or truncated data, `encode.type` for a column
 * whose type has no JSON form.
 * @throws {ConfigError} `config.type` if the source is not a valid source.
 *
 * @example
 * ```ts
 * import { readArrow } from "@jetrow/jetrow/arrow";
 * import { encodeRows } from "@jetrow/jetrow/json";
 * import { tableFromArrays, tableToIPC } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const file = tableToIPC(tableFromArrays({ id: Int32Array.of(1, 2) }), "file");
 * for await (const rows of readArrow(file)) {
 *   assert.equal(new TextDecoder().decode(encodeRows(rows).bytes), '{"id":1}{"id":2}');
 * }
 * ```
 */
export function readArrow(source: ArrowSource, options: ReadArrowOptions = {}): ArrowBatches {
  const { signal } = options;
  const schema = deferred<ArrowSchema>();
  const rows = readRows(openSource(source), schema.resolve);
  const next = async (): Promise<IteratorResult<ArrowRows>> => {
    try {
      return await unlessAborted(rows.next(), signal);
    } catch (error) {
      rows.return(undefined).catch(() => {}); // closes the source; the first error is the one to report
      schema.reject(error);
      throw error;
    }
  };
  let first: Promise<IteratorResult<ArrowRows>> | undefined;
  const begin = (): Promise<IteratorResult<ArrowRows>> => {
    if (first === undefined) {
      first = next();
      first.catch(() => {}); // reported by the iterator and by the schema
    }
    return first;
  };
  let isFirst = true;
  const iterator: AsyncIterator<ArrowRows> = {
    next: () => {
      if (!isFirst) return next();
      isFirst = false;
      return begin();
    },
    return: async () => {
      await rows.return(undefined);
      return { done: true, value: undefined };
    },
  };
  return {
    get schema() {
      begin();
      return schema.promise;
    },
    [Symbol.asyncIterator]: () => iterator,
  };
}

async function* readRows(
  open: () => Promise<ArrowInput>,
  onSchema: (schema: ArrowSchema) => void,
): AsyncGenerator<ArrowRows, undefined> {
  try {
    yield* readBatches(await open(), { onSchema });
    return undefined;
  } catch (error) {
    throw readError(error);
  }
}

function openSource(source: ArrowSource): () => Promise<ArrowInput> {
  if (source instanceof Uint8Array) return () => openRandom(bytesAccess(source));
  if (isBlob(source)) return () => openRandom(blobAccess(source));
  const chunks = chunksOf(source);
  return () => Promise.resolve(openSequential(new ChunkSource(chunks)));
}

function isBlob(source: ArrowSource): source is Blob {
  return typeof Blob !== "undefined" && source instanceof Blob;
}

function chunksOf(source: Exclude<ArrowSource, Uint8Array | Blob>): AsyncIterable<Uint8Array> {
  if (typeof source === "object" && source !== null) {
    if (Symbol.asyncIterator in source) return source;
    if ("getReader" in source) return readerChunks(source);
  }
  throw new ConfigError("config.type", {
    field: "source",
    rule: "must be a Uint8Array, a Blob, a ReadableStream or an async iterable of bytes",
    received: describe(source),
  });
}

/** Iterates over the chunks of a stream on runtimes whose streams are not iterable (Safari). */
async function* readerChunks(stream: ReadableStream<Uint8Array>): AsyncGenerator<Uint8Array> {
  const reader = stream.getReader();
  try {
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      yield value;
    }
  } finally {
    await reader.cancel();
  }
}
