/**
 * A library's buffers as typed arrays with the element that a type needs. Every array is a view of the column's own
 * bytes, and never of the memory around them, which holds other columns.
 *
 * Arrow data is little endian, and so is every machine that the supported runtimes run on.
 *
 * @module
 */

import { malformed } from "./fault.ts";

/** Arrays of numbers of at most 32 bits, and of floats. */
export type NumberArray =
  | Int8Array
  | Uint8Array
  | Int16Array
  | Uint16Array
  | Int32Array
  | Uint32Array
  | Float32Array
  | Float64Array;

/** No bytes: replaces a missing buffer, so that reading it is out of range. */
export const NO_BYTES: Uint8Array = new Uint8Array(0);

/** Returns a buffer's bytes; empty if the value is not a view of a buffer. */
export function bytesOf(buffer: unknown): Uint8Array {
  if (!ArrayBuffer.isView(buffer)) return NO_BYTES;
  if (buffer.byteLength === 0) return emptyBytes(buffer);
  if (buffer instanceof Uint8Array) return buffer;
  return new Uint8Array(buffer.buffer, buffer.byteOffset, buffer.byteLength);
}

/** Returns no bytes. Throws a fault if the memory was transferred: an empty validity bitmap would lose nulls. */
function emptyBytes({ buffer }: ArrayBufferView): Uint8Array {
  try {
    new Uint8Array(buffer);
  } catch {
    malformed("its memory was transferred");
  }
  return NO_BYTES;
}

/** Returns a buffer as 32-bit words, whatever its element type; an incomplete last word is omitted. */
export function wordsOf(buffer: unknown): Int32Array {
  const bytes = alignBytes(bytesOf(buffer), 4);
  return new Int32Array(bytes.buffer, bytes.byteOffset, bytes.byteLength >> 2);
}

/** Returns a buffer as numbers of a width. */
export function numbersOf(
  buffer: unknown,
  kind: "int" | "float",
  bits: 8 | 16 | 32 | 64,
  signed: boolean,
): NumberArray {
  const size = bits >> 3;
  const bytes = alignBytes(bytesOf(buffer), size);
  const at = [bytes.buffer, bytes.byteOffset, Math.floor(bytes.byteLength / size)] as const;
  if (kind === "float" && bits > 16) return bits === 32 ? new Float32Array(...at) : new Float64Array(...at);
  switch (bits) {
    case 8:
      return signed ? new Int8Array(...at) : new Uint8Array(...at);
    case 16:
      return signed ? new Int16Array(...at) : new Uint16Array(...at);
    default:
      return signed ? new Int32Array(...at) : new Uint32Array(...at);
  }
}

/**
 * Returns offsets as 32-bit words: one word per offset, or two (low, high) for 64-bit offsets. A Float64Array, to which
 * some readers convert 64-bit offsets, is converted.
 */
export function offsetsOf(buffer: unknown, large: boolean): Int32Array {
  if (Object.prototype.toString.call(buffer) !== "[object Float64Array]") return wordsOf(buffer);
  bytesOf(buffer);
  const whole = BigInt64Array.from(buffer as Float64Array, (x) => Number.isSafeInteger(x) ? BigInt(x) : -1n);
  return large ? wordsOf(whole) : Int32Array.from(whole, (x) => x > 0x7fffffffn ? -1 : Number(x));
}

function alignBytes(bytes: Uint8Array, size: number): Uint8Array {
  return bytes.byteOffset % size === 0 ? bytes : bytes.slice();
}
