/**
 * LZ4 frames, as Arrow's LZ4_FRAME compression has them. Decompression alone.
 *
 * Source: "LZ4 Frame Format Description" 1.6.4 and "LZ4 Block Format Description". Checksums are not verified: Arrow's
 * C++ library writes none, and what is wrong with the data is found by the bounds.
 *
 * Packages of npm that were looked at, and why none is used: lz4js 0.2.0 checks no bounds: what is cut, or repeats
 * bytes before the beginning, comes out as other bytes without an error. \@foxglove/wasm-lz4 1.0.2 must be told the
 * size beforehand, and after one broken frame refuses whole ones. lz4-napi 2.10.0 is machine code, one package a
 * platform. lz4-wasm 0.9.2 is made for bundlers: neither Deno nor Bun loads it.
 *
 * @module
 */

const MAGIC = 0x184d2204;
/** The highest bit of a block's size: it is stored as it is. */
const STORED = 0x80000000;
/** The largest blocks that a frame announces, by its number for them. */
const LARGEST_BLOCKS: Readonly<Record<number, number>> = { 4: 2 ** 16, 5: 2 ** 18, 6: 2 ** 20, 7: 2 ** 22 };
/** A byte of a length stands for so many bytes of content at most. */
const LARGEST_RATIO = 255;
/** The shortest match; lengths count from it. */
const SHORTEST_MATCH = 4;
/** Longer runs are copied by the runtime. */
const LONG = 64;
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
  const { largestBlock, hasBlockChecksum, size, end } = readDescriptor(view);
  const most = frame.length * LARGEST_RATIO;
  // Room for the last block, whose size is known when it is read.
  let content = roomFor(new Uint8Array(0), 0, Math.min(size ?? frame.length * 4, most) + Math.min(largestBlock, most));
  let length = 0;
  for (let at = end;;) {
    const word = view.getUint32(at, true);
    at += 4;
    if (word === 0) break;
    const block = frame.subarray(at, at + (word & ~STORED));
    if (block.length < (word & ~STORED)) throw new RangeError("a block is cut");
    if (word & STORED) {
      content = roomFor(content, length, block.length);
      content.set(block, length);
      length += block.length;
    } else {
      const room = Math.min(largestBlock, block.length * LARGEST_RATIO);
      content = roomFor(content, length, room);
      length = readBlock(block, content, length, length + room);
    }
    at += block.length + (hasBlockChecksum ? 4 : 0);
  }
  if (length !== (size ?? length)) throw new Error(`an LZ4 frame holds ${length} bytes: it announces ${size}`);
  return content.subarray(0, length);
}

/** Flags, block size, content size, header checksum. */
function readDescriptor(view: DataView) {
  if (view.getUint32(0, true) !== MAGIC) throw new Error("no LZ4 frame: its magic number is missing");
  const flags = view.getUint8(4);
  if (flags >> 6 !== 1 || flags & 0x01) throw new Error("an LZ4 frame of an unknown version, or with a dictionary");
  const largestBlock = LARGEST_BLOCKS[view.getUint8(5) >> 4];
  if (largestBlock === undefined) throw new RangeError("its blocks have no size");
  const size = flags & 0x08 ? Number(view.getBigUint64(6, true)) : undefined;
  return { largestBlock, hasBlockChecksum: (flags & 0x10) !== 0, size, end: size === undefined ? 7 : 15 };
}

/**
 * Sequences: a token, literals, a match at a distance, which may reach back into blocks before; the last one has
 * literals alone. Short runs are copied by loops here: 100 MB of rows as text take 0.7 s on Deno, and 1.3 s with a call
 * a byte and a `set` a run.
 *
 * @returns where the content ends now
 */
function readBlock(block: Uint8Array, content: Uint8Array, start: number, limit: number): number {
  let at = 0;
  let to = start;
  while (at < block.length) {
    const token = block[at++]!;
    let literals = token >> 4;
    if (literals === 15) { for (let more = 255; more === 255; literals += more) more = byteAt(block, at++); }
    if (at + literals > block.length || to + literals > limit) throw new RangeError("literals are cut");
    if (literals < LONG) { for (const end = to + literals; to < end;) content[to++] = block[at++]!; }
    else {
      content.set(block.subarray(at, at + literals), to);
      at += literals;
      to += literals;
    }
    if (at === block.length) return to;
    const distance = byteAt(block, at++) | byteAt(block, at++) << 8;
    let length = (token & 15) + SHORTEST_MATCH;
    if ((token & 15) === 15) { for (let more = 255; more === 255; length += more) more = byteAt(block, at++); }
    if (distance === 0 || distance > to || to + length > limit) throw new RangeError("a match leads outside");
    // A match may overlap what it writes: then its beginning is repeated.
    if (length < LONG || distance < length) {
      for (const end = to + length; to < end; to++) content[to] = content[to - distance]!;
    } else {
      content.copyWithin(to, to - distance, to - distance + length);
      to += length;
    }
  }
  return to;
}

function byteAt(block: Uint8Array, at: number): number {
  const byte = block[at];
  if (byte === undefined) throw new RangeError("a block is cut");
  return byte;
}

/** The same bytes, with room for more behind them. */
function roomFor(content: Uint8Array, length: number, more: number): Uint8Array {
  const needed = length + more;
  if (needed <= content.length) return content;
  if (needed > LARGEST) throw new Error("an LZ4 frame is larger than what can be read");
  const grown = new Uint8Array(Math.min(Math.max(needed, content.length * 2), LARGEST));
  grown.set(content.subarray(0, length));
  return grown;
}
