/**
 * Sources of the bytes of Arrow data: in order, or at any position.
 *
 * @module
 */

/** Reads bytes at any position. */
export interface RandomAccess {
  readonly size: number;
  /** Reads bytes; fewer at the end. The result is aligned to 8 bytes in memory if `position` is. */
  read(position: number, length: number): Promise<Uint8Array>;
}

/** Reads bytes in order. */
export interface SequentialAccess {
  /** The number of bytes taken. */
  readonly position: number;
  /** Takes bytes; fewer at the end. */
  take(length: number): Promise<Uint8Array>;
  /** Takes a message's body, or skips it; undefined if it is truncated. */
  body(length: number): Promise<Uint8Array | undefined>;
}

/** Reads chunks in order. Each result is a copy, aligned to 8 bytes in memory. */
export class ChunkSource implements SequentialAccess {
  readonly #chunks: AsyncIterator<Uint8Array>;
  #chunk: Uint8Array = new Uint8Array(0);
  #position = 0;

  /** Reads from chunks, which are requested one by one. */
  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#chunks = chunks[Symbol.asyncIterator]();
  }

  /** The number of bytes taken. */
  get position(): number {
    return this.#position;
  }

  /** Takes bytes; fewer at the end. Allocates for the bytes that arrive, not for the bytes requested. */
  async take(length: number): Promise<Uint8Array> {
    let bytes = new Uint8Array(Math.min(length, 1 << 20));
    let filled = 0;
    while (filled < length && await this.#fill()) {
      const part = this.#chunk.subarray(0, length - filled);
      if (filled + part.length > bytes.length) bytes = grown(bytes, Math.min(length, 2 * (filled + part.length)));
      bytes.set(part, filled);
      this.#chunk = this.#chunk.subarray(part.length);
      filled += part.length;
    }
    this.#position += filled;
    return filled === bytes.length ? bytes : bytes.subarray(0, filled);
  }

  /** Takes a message's body. */
  async body(length: number): Promise<Uint8Array | undefined> {
    const bytes = await this.take(length);
    return bytes.length === length ? bytes : undefined;
  }

  /** Returns the next bytes without taking them. */
  async peek(length: number): Promise<Uint8Array> {
    const head = await this.take(length);
    this.#position -= head.length;
    const rest = this.#chunk;
    this.#chunk = grown(head, head.length + rest.length);
    this.#chunk.set(rest, head.length);
    return head;
  }

  /** Closes the chunks. */
  async close(): Promise<void> {
    this.#chunk = new Uint8Array(0);
    await this.#chunks.return?.();
  }

  /** Returns whether there is another byte. */
  async #fill(): Promise<boolean> {
    while (this.#chunk.length === 0) {
      const { done, value } = await this.#chunks.next();
      if (done) return false;
      this.#chunk = value;
    }
    return true;
  }
}

function grown(bytes: Uint8Array, length: number): Uint8Array<ArrayBuffer> {
  const larger = new Uint8Array(length);
  larger.set(bytes);
  return larger;
}

/** Reads a source of random access in order, without copies of its own. */
export class RandomSource implements SequentialAccess {
  readonly #file: RandomAccess;
  readonly #skipBodies: boolean;
  #position = 0;
  #ahead: { readonly at: number; readonly bytes: Uint8Array } = { at: 0, bytes: new Uint8Array(0) };

  /** Begins at the start. With `skipBodies` bodies are not read. */
  constructor(file: RandomAccess, skipBodies: boolean) {
    this.#file = file;
    this.#skipBodies = skipBodies;
  }

  /** The number of bytes taken or skipped. */
  get position(): number {
    return this.#position;
  }

  /** Takes bytes; fewer at the end. A message's prefix and most of its metadata are read at once. */
  async take(length: number): Promise<Uint8Array> {
    const from = this.#position - this.#ahead.at;
    if (from < 0 || from + length > this.#ahead.bytes.length) {
      const bytes = await this.#file.read(this.#position, Math.max(length, READ_AHEAD));
      this.#ahead = { at: this.#position, bytes };
    }
    const start = this.#position - this.#ahead.at;
    const taken = this.#ahead.bytes.subarray(start, start + length);
    this.#position += taken.length;
    return taken;
  }

  /** Takes or skips a body. */
  async body(length: number): Promise<Uint8Array | undefined> {
    if (this.#position + length > this.#file.size) {
      this.#position = this.#file.size;
      return undefined;
    }
    const bytes = this.#skipBodies ? NONE : await this.#file.read(this.#position, length);
    this.#position += length;
    return bytes;
  }
}

const READ_AHEAD = 4096;
const NONE = new Uint8Array(0);

/** Random access to bytes in memory, without copies. */
export function bytesAccess(bytes: Uint8Array): RandomAccess {
  return {
    size: bytes.length,
    read: (position, length) => Promise.resolve(bytes.subarray(position, position + length)),
  };
}

/** Random access to a Blob or a File. */
export function blobAccess(blob: Blob): RandomAccess {
  return {
    size: blob.size,
    read: async (position, length) => new Uint8Array(await blob.slice(position, position + length).arrayBuffer()),
  };
}
