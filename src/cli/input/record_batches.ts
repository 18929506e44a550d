/**
 * IPC messages become record batches, by apache-arrow.
 *
 * @module
 */

import type { ArrowBatch } from "../../types/mod.ts";
import { loadCodec } from "./codecs.ts";
import { InputError } from "./error.ts";
import type { IpcMessage } from "./ipc_message.ts";
import { arrowLibrary } from "./libraries.ts";

/** What each message begins with, and the length that ends a stream. */
const CONTINUATION = Uint8Array.of(255, 255, 255, 255);
const END = new Uint8Array(4);

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

  /**
   * The stream's bytes. apache-arrow hands a batch over when it has read beyond its end, so that the marker of the next
   * message goes out before that message is asked for: rows of a pipe that pauses are published at once.
   */
  async *bytes(): AsyncGenerator<Uint8Array> {
    yield CONTINUATION;
    for (let next = await this.#next(); !next.done; next = await this.#next()) {
      const { kind, compression, head, body } = next.value;
      if (compression !== undefined) await loadCodec(compression);
      if (kind === "batch") this.batches++;
      yield isContinued(head) ? head.subarray(4) : head;
      if (body.length > 0) yield body;
      yield CONTINUATION;
    }
    yield END;
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

/** Before Arrow 0.15 a message began with its length. */
function isContinued(head: Uint8Array): boolean {
  return CONTINUATION.every((byte, index) => head[index] === byte);
}
