/**
 * IPC messages become record batches, by apache-arrow.
 *
 * @module
 */

import type { ArrowBatch } from "../../types.ts";
import { loadCodec } from "./codecs.ts";
import { InputError } from "./error.ts";
import type { IpcMessage } from "./ipc_message.ts";
import { arrowLibrary } from "./libraries.ts";

/** The marker that ends a stream; apache-arrow waits for it. */
const END_OF_STREAM = Uint8Array.of(255, 255, 255, 255, 0, 0, 0, 0);

/**
 * The record batches of a sequence of messages, one at a time.
 *
 * @param messages the messages, the schema first
 * @param name names the input in errors
 * @returns the batches; none when there is a schema alone
 * @throws {InputError} when apache-arrow cannot read a message
 * @example
 * ```ts ignore
 * for await (const batch of recordBatches(streamMessages(source, "orders.arrows"), "orders.arrows")) {
 *   console.log(batch.numRows);
 * }
 * ```
 */
export async function* recordBatches(messages: AsyncIterable<IpcMessage>, name: string): AsyncGenerator<ArrowBatch> {
  const { RecordBatchReader } = await arrowLibrary();
  const feed = new Feed(messages);
  try {
    const reader = await RecordBatchReader.from(feed.bytes());
    await reader.open();
    for await (const batch of reader) {
      // A schema without batches comes out as one batch that is none.
      if (feed.batches > 0) yield batch;
    }
  } catch (error) {
    if (error instanceof InputError || error === feed.failure) throw error;
    throw new InputError(`${name} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  } finally {
    await feed.close();
  }
}

/** Hands messages to the reader, loads what they need first, and remembers what the source threw. */
class Feed {
  readonly #messages: AsyncIterator<IpcMessage>;
  /** Batches handed over. */
  batches = 0;
  /** What the source threw: not the reader's failure. */
  failure: unknown = Symbol("none");

  constructor(messages: AsyncIterable<IpcMessage>) {
    this.#messages = messages[Symbol.asyncIterator]();
  }

  async *bytes(): AsyncGenerator<Uint8Array> {
    for (let next = await this.#next(); !next.done; next = await this.#next()) {
      const { kind, compression, head, body } = next.value;
      if (compression !== undefined) await loadCodec(compression);
      if (kind === "batch") this.batches++;
      yield head;
      if (body.length > 0) yield body;
    }
    yield END_OF_STREAM;
  }

  async close(): Promise<void> {
    await this.#messages.return?.();
  }

  async #next(): Promise<IteratorResult<IpcMessage>> {
    try {
      return await this.#messages.next();
    } catch (error) {
      this.failure = error;
      throw error;
    }
  }
}
