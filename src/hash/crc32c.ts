/**
 * CRC32C (Castagnoli), the checksum of receipts: RFC 3720 appendix B.4, as in iSCSI, ext4 and object stores.
 *
 * @module
 */

/** The Castagnoli polynomial, bits reversed. */
const POLYNOMIAL = 0x82f63b78;

/** Entry `256 * k + b`: what byte `b` does to the checksum with `k` bytes after it. */
const TABLE = makeTable();

function makeTable(): Int32Array {
  const table = new Int32Array(16 * 256);
  for (let byte = 0; byte < 256; byte++) {
    let crc = byte;
    for (let bit = 0; bit < 8; bit++) crc = (crc >>> 1) ^ (-(crc & 1) & POLYNOMIAL);
    table[byte] = crc;
  }
  for (let entry = 256; entry < table.length; entry++) {
    const before = table[entry - 256]!;
    table[entry] = (before >>> 8) ^ table[before & 0xff]!;
  }
  return table;
}

/**
 * Returns the CRC32C of bytes, an integer from 0 to 2^32 - 1. `seed` is the checksum of the bytes before them: the
 * checksum of two parts is `crc32c(second, crc32c(first))`.
 *
 * @example
 * ```ts
 * import assert from "node:assert/strict";
 * import { crc32c } from "@jetrow/jetrow/json";
 *
 * const bytes = new TextEncoder().encode("123456789");
 * assert(crc32c(bytes) === 0xe3069283);
 * assert(crc32c(bytes.subarray(4), crc32c(bytes.subarray(0, 4))) === 0xe3069283);
 * ```
 */
export function crc32c(bytes: Uint8Array, seed = 0): number {
  const t = TABLE;
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const whole = bytes.length - (bytes.length % 16);
  let crc = ~seed;
  let at = 0;
  // Sixteen bytes per turn, with sixteen tables: 2.4 GB/s; one byte per turn: 0.5.
  for (; at < whole; at += 16) {
    const a = crc ^ view.getInt32(at, true);
    const b = view.getInt32(at + 4, true);
    const c = view.getInt32(at + 8, true);
    const d = view.getInt32(at + 12, true);
    crc = t[3840 + (a & 0xff)]! ^ t[3584 + ((a >>> 8) & 0xff)]! ^ t[3328 + ((a >>> 16) & 0xff)]! ^
      t[3072 + (a >>> 24)]! ^
      t[2816 + (b & 0xff)]! ^ t[2560 + ((b >>> 8) & 0xff)]! ^ t[2304 + ((b >>> 16) & 0xff)]! ^ t[2048 + (b >>> 24)]! ^
      t[1792 + (c & 0xff)]! ^ t[1536 + ((c >>> 8) & 0xff)]! ^ t[1280 + ((c >>> 16) & 0xff)]! ^ t[1024 + (c >>> 24)]! ^
      t[768 + (d & 0xff)]! ^ t[512 + ((d >>> 8) & 0xff)]! ^ t[256 + ((d >>> 16) & 0xff)]! ^ t[d >>> 24]!;
  }
  for (; at < bytes.length; at++) crc = (crc >>> 8) ^ t[(crc ^ bytes[at]!) & 0xff]!;
  return ~crc >>> 0;
}
