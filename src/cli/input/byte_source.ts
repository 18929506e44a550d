/**
 * Bytes that are read once and in order.
 *
 * @module
 */

import type { MessageSource } from "./ipc_stream.ts";

/**
 * Takes bytes off a sequence of chunks. Only the chunk at hand is held.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const source = new ByteSource((async function* () {
 *   yield Uint8Array.of(1, 2);
 *   yield Uint8Array.of(3);
 * })());
 * assert.ok((await source.take(3)).join() === "1,2,3");
 * assert.ok((await source.take(1)).length === 0);
 * ```
 */
export class ByteSource implements MessageSource {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #position = 0;

  /** Reads from chunks, which are asked for one by one. */
  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** How many bytes were taken. */
  get position(): number {
    return this.#position;
  }

  /** Takes that many bytes; fewer where the sequence ends. The result is a copy of its own, aligned to 8 bytes. */
  async take(length: number): Promise<Uint8Array> {
    const bytes = new Uint8Array(length);
    let filled = 0;
    while (filled < length && await this.#fill()) {
      const part = this.#chunk.subarray(0, length - filled);
      bytes.set(part, filled);
      this.#chunk = this.#chunk.subarray(part.length);
      filled += part.length;
    }
    this.#position += filled;
    return filled === length ? bytes : bytes.subarray(0, filled);
  }

  /** Takes a message's body. */
  async body(length: number): Promise<{ readonly length: number; readonly bytes: Uint8Array }> {
    const bytes = await this.take(length);
    return { length: bytes.length, bytes };
  }

  /** Up to that many bytes, which remain to be taken. */
  async peek(length: number): Promise<Uint8Array> {
    const head = await this.take(length);
    this.#position -= head.length;
    const rest = this.#chunk;
    this.#chunk = new Uint8Array(head.length + rest.length);
    this.#chunk.set(head);
    this.#chunk.set(rest, head.length);
    return head;
  }

  /** Ends the sequence early. */
  async close(): Promise<void> {
    this.#chunk = new Uint8Array(0);
    await this.#chunks.return?.();
  }

  /** Whether the chunk at hand has a byte, or could be replaced by one that has. */
  async #fill(): Promise<boolean> {
    while (this.#chunk.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      this.#chunk = value;
    }
    return true;
  }
}
