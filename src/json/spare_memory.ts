/**
 * Memory that encoded rows were in, for the next ones to be encoded into.
 *
 * Fresh memory has to be zeroed, and collected afterwards: each 64 MiB of it make V8 mark its whole heap. Pieces of
 * 8,192 rows of 256 bytes in memory that is used again: client CPU a row 2.3 us became 1.8 on Deno, 2.6 became 2.2 on
 * Bun, 3.6 became 3.0 on Node.
 *
 * @module
 */

/** How many are kept: one piece is encoded while another one is sent. */
const KEPT = 2;

/** The largest that is kept: a publisher that idles holds on to it. */
const LARGEST_KEPT = 1 << 24;

/**
 * Keeps memory that is needed no more.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * const spare = new SpareMemory();
 * spare.give(new Uint8Array(100).subarray(0, 60));
 * assert.equal(spare.take()?.length, 100);
 * assert.equal(spare.take(), undefined);
 * ```
 */
export class SpareMemory {
  readonly #kept: Uint8Array<ArrayBuffer>[] = [];
  #closed = false;

  /** Memory whose bytes may be anything; undefined when there is none. */
  take(): Uint8Array<ArrayBuffer> | undefined {
    return this.#kept.pop();
  }

  /** Takes all memory below these bytes. Nobody may read or write it any more. */
  give({ buffer }: Uint8Array<ArrayBuffer>): void {
    if (this.#closed || this.#kept.length === KEPT || buffer.byteLength === 0 || buffer.byteLength > LARGEST_KEPT) {
      return;
    }
    this.#kept.push(new Uint8Array(buffer));
  }

  /** Lets go of all memory, and keeps none that is given later. */
  close(): void {
    this.#closed = true;
    this.#kept.length = 0;
  }
}
