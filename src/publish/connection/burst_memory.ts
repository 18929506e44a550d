/**
 * Memory that frames are written into. It is reused once the server has read them.
 *
 * Bytes handed to the client belong to the client until they are written, and it does not report when that is. A PONG
 * does: the server sends it after it has read everything before the PING. (An answer to a row would do too, but any
 * user who may publish to the inbox can forge one.) One PING per half a MiB of frames has no measurable cost; a copy of
 * each burst, and its collection, cost 2.5 instead of 2.1 us of client CPU per row of 256 bytes on Node, 2.1 instead of
 * 2.0 on Bun.
 *
 * @module
 */

/** Bytes of one block: a window of 1,024 rows of 256 bytes with their headers. */
export const BLOCK = 1 << 19;

/** The most blocks that are kept for reuse: 16 MiB, as much as may be outstanding by default. */
const KEPT = 32;

/** Lends blocks of memory, and reuses a block once the server has read everything that was sent from it. */
export class BurstMemory {
  readonly #arrived: () => Promise<void>;
  readonly #free: Uint8Array<ArrayBuffer>[] = [];
  #closed = false;

  /** `arrived` resolves when the server has read everything that was sent before, and rejects if that is not known. */
  constructor(arrived: () => Promise<void>) {
    this.#arrived = arrived;
  }

  /** Returns memory for at least this many bytes. */
  take(least: number): Uint8Array<ArrayBuffer> {
    if (least > BLOCK) return new Uint8Array(least);
    return this.#free.pop() ?? new Uint8Array(BLOCK);
  }

  /** Takes back memory whose frames were all handed to the client. It is reused when the frames have arrived. */
  async retire(block: Uint8Array<ArrayBuffer>): Promise<void> {
    if (block.length !== BLOCK) return;
    const free = await this.#arrived().then(() => true, () => false);
    if (free && !this.#closed && this.#free.length < KEPT) this.#free.push(block);
  }

  /** Releases all memory, and keeps none that is retired later. */
  close(): void {
    this.#closed = true;
    this.#free.length = 0;
  }
}
