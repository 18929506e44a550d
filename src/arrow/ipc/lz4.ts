/**
 * Decompresses LZ4 frames, as in Arrow's LZ4_FRAME compression, with a check of every length and distance.
 *
 * Source: "LZ4 Frame Format Description" 1.6.4 and "LZ4 Block Format Description". Checksums are not verified: Arrow's
 * C++ library writes none.
 *
 * @module
 */

import { damaged } from "./fault.ts";

const MAGIC = 0x184d2204;
/** The highest bit of a block's size: the block is not compressed. */
const STORED = 0x80000000;
/** The largest block of a frame, by the code in its descriptor. */
const LARGEST_BLOCKS: Readonly<Record<number, number>> = { 4: 2 ** 16, 5: 2 ** 18, 6: 2 ** 20, 7: 2 ** 22 };
/** The shortest match, to which the lengths of matches are relative. */
const SHORTEST_MATCH = 4;
/** From this length on the runtime's copy is faster than a loop. */
const LONG = 64;
/** The maximum number of bytes that one byte of a frame, one of a match's length, can stand for. */
const LARGEST_RATIO = 255;

/** Decompresses a frame that announces `length` bytes, and returns the first `needed` of them. */
export function decompressLz4(frame: Uint8Array, length: number, needed: number): Uint8Array {
  const view = new DataView(frame.buffer, frame.byteOffset, frame.byteLength);
  try {
    return readFrame(frame, view, length, needed);
  } catch (error) {
    if (error instanceof RangeError) return damaged("an LZ4 frame is cut or broken");
    throw error;
  }
}

function readFrame(frame: Uint8Array, view: DataView, length: number, needed: number): Uint8Array {
  const { largestBlock, hasBlockChecksum, size, end } = readDescriptor(view);
  if (length > LARGEST_RATIO * frame.length) damaged(`an LZ4 frame of ${frame.length} bytes announces ${length}`);
  if (size !== undefined && size !== length) damaged(`an LZ4 frame of ${size} bytes is announced as ${length}`);
  const content = new Uint8Array(needed);
  let filled = 0;
  for (let at = end;;) {
    const word = view.getUint32(at, true);
    at += 4;
    if (word === 0) break;
    const block = frame.subarray(at, at + (word & ~STORED));
    if (block.length < (word & ~STORED)) throw new RangeError("a block is cut");
    const limit = Math.min(needed, filled + largestBlock);
    const position = word & STORED
      ? copyBlock(block, content, filled, limit)
      : readBlock(block, content, filled, limit);
    if (position < 0) {
      // The content does not fit: the end if fewer bytes are needed than it has, otherwise a damaged frame.
      if (limit === needed && needed < length) return content;
      throw new RangeError("a block is larger than announced");
    }
    filled = position;
    at += block.length + (hasBlockChecksum ? 4 : 0);
  }
  if (filled !== needed || needed !== length) damaged(`an LZ4 frame holds ${filled} bytes and announces ${length}`);
  return content;
}

/** Reads flags, block size and content size. */
function readDescriptor(view: DataView) {
  if (view.getUint32(0, true) !== MAGIC) damaged("a buffer is not an LZ4 frame: its magic number is missing");
  const flags = view.getUint8(4);
  if (flags >> 6 !== 1 || flags & 0x01) damaged("an LZ4 frame has an unknown version, or a dictionary");
  const largestBlock = LARGEST_BLOCKS[view.getUint8(5) >> 4];
  if (largestBlock === undefined) throw new RangeError("the block size is unknown");
  const size = flags & 0x08 ? Number(view.getBigUint64(6, true)) : undefined;
  return { largestBlock, hasBlockChecksum: (flags & 0x10) !== 0, size, end: size === undefined ? 7 : 15 };
}

/** Copies a stored block. Returns the new position, or -1 if it does not fit before `limit` (what fits is copied). */
function copyBlock(block: Uint8Array, content: Uint8Array, start: number, limit: number): number {
  content.set(block.subarray(0, limit - start), start);
  return start + block.length <= limit ? start + block.length : -1;
}

/** Decompresses a block. Returns the new position, or -1 if it does not fit before `limit` (what fits is written). */
function readBlock(block: Uint8Array, content: Uint8Array, start: number, limit: number): number {
  let at = 0;
  let to = start;
  while (at < block.length) {
    const token = block[at++]!;
    let literals = token >> 4;
    if (literals === 15) { for (let more = 255; more === 255; literals += more) more = byteAt(block, at++); }
    if (at + literals > block.length) throw new RangeError("literals are cut");
    if (to + literals > limit) return copyBlock(block.subarray(at, at + literals), content, to, limit);
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
    if (distance === 0 || distance > to) throw new RangeError("a match begins before the content");
    const end = Math.min(to + length, limit);
    // A match may overlap its own output: its beginning is then repeated.
    if (length < LONG || distance < length) { for (let p = to; p < end; p++) content[p] = content[p - distance]!; }
    else content.copyWithin(to, to - distance, to - distance + (end - to));
    if (to + length > limit) return -1;
    to += length;
  }
  return to;
}

function byteAt(block: Uint8Array, at: number): number {
  const byte = block[at];
  if (byte === undefined) throw new RangeError("a block is cut");
  return byte;
}
