/**
 * Memory that encoded rows were in, for the next ones to be encoded into.
 *
 * Fresh memory has to be zeroed, and collected afterwards: each 64 MiB of it make V8 mark its whole heap. Pieces of
 * 8,192 rows of 256 bytes with bodies in memory that is used again: client CPU a row 2.3 us became 1.8 on Deno, 2.6
 * became 2.2 on Bun, 3.6 became 3.0 on Node. What is kept a row beside the body is 14 bytes, 78 with an id. A piece
 * lives long enough for V8 to hold that for old: the process grew by 50 MiB over three million rows before the first
 * whole collection on Deno, and by 10 with that memory used again.
 *
 * @module
 */

/** How many are kept: one piece is encoded while another one is sent. */
const KEPT = 2;

/** The largest that is kept: a publisher that idles holds on to it. */
const LARGEST_KEPT = 1 << 24;

/** Keeps memory that is needed no more. */
export class SpareMemory {
  readonly #kept: Uint8Array<ArrayBuffer>[] = [];
  #closed = false;

  /** Memory whose bytes may be anything; undefined when there is none, or none of so many bytes. */
  take(least = 0): Uint8Array<ArrayBuffer> | undefined {
    const at = this.#kept.findLastIndex(({ length }) => length >= least);
    // Where all are too small one goes: it would keep the place of what is large enough.
    const [memory] = this.#kept.splice(at, 1);
    return at < 0 ? undefined : memory;
  }

  /** Takes all memory below an array. Nobody may read or write it any more. */
  give({ buffer }: { readonly buffer: ArrayBuffer }): void {
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

/** What one piece after another is kept in, each kind apart: they differ in size. */
export class PieceMemory {
  /** For bodies; absent where somebody may hold on to them. */
  readonly bodies: SpareMemory | undefined;
  /** For where each body begins. */
  readonly offsets: SpareMemory = new SpareMemory();
  /** For ids. */
  readonly ids: SpareMemory = new SpareMemory();
  /** For what becomes of each row. */
  readonly fates: SpareMemory = new SpareMemory();

  /** No memory yet. */
  constructor({ bodies = true }: { readonly bodies?: boolean } = {}) {
    this.bodies = bodies ? new SpareMemory() : undefined;
  }

  /** Lets go of all memory, and keeps none that is given later. */
  close(): void {
    for (const spare of [this.bodies, this.offsets, this.ids, this.fates]) spare?.close();
  }
}

/** So many zeros, in spare memory where there is enough. */
export function zeros(size: number, spare: SpareMemory | undefined): Uint8Array<ArrayBuffer> {
  return spare?.take(size)?.subarray(0, size).fill(0) ?? new Uint8Array(size);
}
