/**
 * LZ4 frames, as Arrow's LZ4_FRAME compression has them. Decompression alone.
 *
 * Source: "LZ4 Frame Format Description" 1.6.4 and "LZ4 Block Format Description". Checksums are not verified: Arrow's
 * C++ library writes none, and what is wrong with the data is found by the bounds.
 *
 * @module
 */

const MAGIC = 0x184d2204;
/** The highest bit of a block's size: it is stored as it is. */
const STORED = 0x80000000;
/** The shortest match; lengths count from it. */
const SHORTEST_MATCH = 4;
/** More than any buffer that can be read. */
const LARGEST = 2 ** 31 - 1;

/**
 * Decompresses a frame.
 *
 * @param frame the frame
 * @returns the content
 * @throws {Error} when it is broken
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 *
 * // "aaaaaaaaaaaa": one literal, a match of ten at a distance of one, one literal.
 * const block = [0x16, 0x61, 1, 0, 0x10, 0x61];
 * const frame = Uint8Array.of(4, 0x22, 0x4d, 0x18, 0x60, 0x40, 0x82, block.length, 0, 0, 0, ...block, 0, 0, 0, 0);
 * assert.equal(new TextDecoder().decode(decompressLz4(frame)), "a".repeat(12));
 * ```
 */
export function decompressLz4(frame: Uint8Array): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  try {
    return readFrame(frame, view);
  } catch (error) {
    if (error instanceof RangeError) throw new Error("an LZ4 frame is cut or broken");
    throw error;
  }
}

function readFrame(frame: Uint8Array, view: DataView): Uint8Array {
  if (view.getUint32(0, true) !== MAGIC) throw new Error("no LZ4 frame: its magic number is missing");
  const flags = view.getUint8(4);
  const [hasBlockChecksum, hasContentSize, hasDictionary] = [flags & 0x10, flags & 0x08, flags & 0x01];
  if (flags >> 6 !== 1 || hasDictionary) throw new Error("an LZ4 frame of an unknown version, or with a dictionary");
  const size = hasContentSize ? Number(view.getBigUint64(6, true)) : frame.length * 4;
  const out = new Output(size);
  // Descriptor: flags, block size, content size, header checksum.
  let at = 6 + (hasContentSize ? 8 : 0) + 1;
  for (;;) {
    const word = view.getUint32(at, true);
    at += 4;
    if (word === 0) return out.content();
    const length = word & ~STORED;
    const block = frame.subarray(at, at + length);
    if (block.length < length) throw new RangeError("a block is cut");
    if (word & STORED) out.copyFrom(block, 0, block.length);
    else readBlock(block, out);
    at += length + (hasBlockChecksum ? 4 : 0);
  }
}

/** Sequences: a token, literals, a match at a distance; the last one has literals alone. */
function readBlock(block: Uint8Array, out: Output): void {
  let at = 0;
  const byte = (): number => {
    if (at >= block.length) throw new RangeError("a block is cut");
    return block[at++]!;
  };
  const longer = (length: number): number => {
    if (length < 15) return length;
    for (let more = 255; more === 255;) length += more = byte();
    return length;
  };
  while (at < block.length) {
    const token = byte();
    const literals = longer(token >> 4);
    if (at + literals > block.length) throw new RangeError("literals are cut");
    out.copyFrom(block, at, at + literals);
    at += literals;
    if (at === block.length) return;
    const distance = byte() | byte() << 8;
    out.repeat(distance, longer(token & 15) + SHORTEST_MATCH);
  }
}

/** Bytes that grow; matches reach back into them, across blocks too. */
class Output {
  #bytes: Uint8Array;
  #length = 0;

  constructor(expected: number) {
    this.#bytes = new Uint8Array(Math.min(Math.max(expected, 64), LARGEST));
  }

  content(): Uint8Array {
    return this.#bytes.subarray(0, this.#length);
  }

  copyFrom(source: Uint8Array, start: number, end: number): void {
    this.#reserve(end - start);
    this.#bytes.set(source.subarray(start, end), this.#length);
    this.#length += end - start;
  }

  /** A match may overlap what it writes: then its beginning is repeated. */
  repeat(distance: number, length: number): void {
    if (distance === 0 || distance > this.#length) throw new RangeError("a match reaches before the beginning");
    this.#reserve(length);
    const bytes = this.#bytes;
    const from = this.#length - distance;
    if (distance >= length) bytes.copyWithin(this.#length, from, from + length);
    else for (let i = 0; i < length; i++) bytes[this.#length + i] = bytes[from + i]!;
    this.#length += length;
  }

  #reserve(more: number): void {
    const needed = this.#length + more;
    if (needed <= this.#bytes.length) return;
    if (needed > LARGEST) throw new Error("an LZ4 frame is larger than what can be read");
    const grown = new Uint8Array(Math.min(Math.max(needed, this.#bytes.length * 2), LARGEST));
    grown.set(this.#bytes.subarray(0, this.#length));
    this.#bytes = grown;
  }
}
