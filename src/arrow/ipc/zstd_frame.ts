/**
 * Checks a ZSTD frame before the portable decoder reads it. That decoder allocates the window that a frame requests, up
 * to 2 GiB, and moves all of it for each block: 20 bytes cost gigabytes, and many small blocks minutes.
 *
 * Source: RFC 8878, sections 3.1.1 and 3.1.1.2.
 *
 * @module
 */

import { bytesOf } from "../buffers.ts";
import { damaged } from "./fault.ts";
import { checkWeights } from "./zstd_weights.ts";

const MAGIC = 0xfd2fb528;
/** The size of the content size field, by the two highest bits of the descriptor. */
const SIZE_BYTES = [0, 2, 4, 8] as const;
/** Kinds of blocks. */
const [REPEATED, COMPRESSED] = [1, 2];
/** The largest block of any frame. */
const LARGEST_BLOCK = 1 << 17;
/** Bytes of window that may be moved for a frame, and for each byte of its content: a window of 32 MiB needs 256. */
const LEAST_MOVED = 2 ** 31;
const MOVED_PER_BYTE = 256;

/**
 * Returns a frame with the same content, and a window no larger than is needed for its first `needed` bytes. `length` is
 * the announced length of its content.
 */
export function boundedFrame(data: Uint8Array, length: number, needed: number): Uint8Array {
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const { end, hasChecksum, window } = readHeader(view, length);
  const blocks = countBlocks(view, end, hasChecksum);
  const exponent = windowExponent(Math.min(window, length, needed + LARGEST_BLOCK));
  if (blocks * 2 ** (10 + exponent) > LEAST_MOVED + MOVED_PER_BYTE * length) {
    damaged(`a ZSTD frame of ${length} bytes has ${blocks} blocks and a window of ${window} bytes`);
  }
  const frame = new Uint8Array(6 + data.length - end);
  new DataView(frame.buffer).setUint32(0, MAGIC, true);
  frame[4] = hasChecksum ? 4 : 0;
  frame[5] = exponent << 3;
  frame.set(data.subarray(end), 6);
  return frame;
}

/** Returns the exponent of the smallest window of at least `size` bytes, counted from 1 KiB. */
function windowExponent(size: number): number {
  return Math.max(0, Math.ceil(Math.log2(Math.max(1, size))) - 10);
}

function readHeader(view: DataView, length: number) {
  if (view.byteLength < 9 || view.getUint32(0, true) !== MAGIC) damaged("a buffer is not a ZSTD frame");
  const descriptor = view.getUint8(4);
  const isSingle = (descriptor & 0x20) !== 0;
  if ((descriptor & 0x0b) !== 0) damaged("a ZSTD frame needs a dictionary, or has a reserved bit");
  const sizeAt = isSingle ? 5 : 6;
  const sizeBytes = isSingle && descriptor >> 6 === 0 ? 1 : SIZE_BYTES[(descriptor >> 6) as 0 | 1 | 2 | 3];
  if (sizeAt + sizeBytes > view.byteLength) damaged("a ZSTD frame is cut");
  const size = sizeBytes === 0 ? length : contentSize(view, sizeAt, sizeBytes);
  if (size !== length) damaged(`a ZSTD frame of ${size} bytes is announced as ${length}`);
  const window = isSingle ? size : 2 ** (10 + (view.getUint8(5) >> 3)) * (1 + (view.getUint8(5) & 7) / 8);
  return { end: sizeAt + sizeBytes, hasChecksum: (descriptor & 4) !== 0, window };
}

function contentSize(view: DataView, at: number, bytes: 1 | 2 | 4 | 8): number {
  switch (bytes) {
    case 1:
      return view.getUint8(at);
    case 2:
      return view.getUint16(at, true) + 256;
    case 4:
      return view.getUint32(at, true);
    case 8:
      return Number(view.getBigUint64(at, true));
  }
}

/** Counts the blocks of a frame, after which the data must end. */
function countBlocks(view: DataView, start: number, hasChecksum: boolean): number {
  let blocks = 0;
  for (let at = start, isLast = false;;) {
    if (isLast) {
      if (at + (hasChecksum ? 4 : 0) !== view.byteLength) damaged("a ZSTD frame is cut, or something follows it");
      return blocks;
    }
    if (at + 3 > view.byteLength) return damaged("a ZSTD frame is cut");
    const header = view.getUint16(at, true) | view.getUint8(at + 2) << 16;
    const kind = header >> 1 & 3;
    const size = kind === REPEATED ? 1 : header >> 3;
    if (kind === COMPRESSED) checkWeights(bytesOf(view).subarray(at + 3, at + 3 + size));
    at += 3 + size;
    isLast = (header & 1) === 1;
    blocks++;
  }
}
