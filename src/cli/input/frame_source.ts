/**
 * A file as a stream whose bodies are passed over.
 *
 * @module
 */

import type { MessageSource } from "./ipc_stream.ts";
import type { RandomAccess } from "./random_access.ts";

/** Heads are read in one go with what follows them: a message's prefix and most of its metadata. */
const READ_AHEAD = 4096;

/**
 * Takes what is asked for, and skips bodies: a file's frames are read without its rows.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { openFile } from "./random_access.ts";
 *
 * const source = new FrameSource(await openFile("/dev/null"));
 * assert.equal((await source.take(4)).length, 0);
 * ```
 */
export class FrameSource implements MessageSource {
  readonly #file: RandomAccess;
  #position = 0;
  #ahead: { readonly at: number; readonly bytes: Uint8Array } = { at: 0, bytes: new Uint8Array(0) };

  /** Reads frames of a file, from its beginning. */
  constructor(file: RandomAccess) {
    this.#file = file;
  }

  /** How many bytes were taken or passed over. */
  get position(): number {
    return this.#position;
  }

  /** Takes that many bytes; fewer where the file ends. */
  async take(length: number): Promise<Uint8Array> {
    const from = this.#position - this.#ahead.at;
    if (from < 0 || from + length > this.#ahead.bytes.length) {
      const bytes = await this.#file.read(this.#position, Math.max(length, READ_AHEAD));
      this.#ahead = { at: this.#position, bytes };
    }
    const start = this.#position - this.#ahead.at;
    const taken = this.#ahead.bytes.slice(start, start + length);
    this.#position += taken.length;
    return taken;
  }

  /** Passes over a body, and says how much of it there is; nothing is read. */
  body(length: number): Promise<{ readonly length: number; readonly bytes: Uint8Array }> {
    const there = Math.max(0, Math.min(length, this.#file.size - this.#position));
    this.#position += there;
    return Promise.resolve({ length: there, bytes: new Uint8Array(0) });
  }
}
