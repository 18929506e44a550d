/**
 * Takes the buffers of a batch in order. Each must be inside the body and as large as its column needs, and is
 * decompressed.
 *
 * @module
 */

import { wideAt } from "../access.ts";
import { wordsOf } from "../buffers.ts";
import type { Inflate } from "./compression.ts";
import { damaged } from "./fault.ts";
import { type BatchHead, countAt } from "./message.ts";

/** The maximum padding after the values of a buffer: writers align to 64 bytes, and old ones reserve more. */
const PADDING = 64;

const NONE = new Uint8Array(0);

/** Takes the buffers of one batch in order. */
export class BufferReader {
  readonly #head: BatchHead;
  readonly #body: Uint8Array;
  readonly #inflate: Inflate | undefined;
  #next = 0;
  #nextVariadic = 0;
  /** The end of the last buffer: buffers must not overlap. */
  #end = 0;

  /** Begins with the first buffer. `inflate` decompresses; it is needed if the batch is compressed. */
  constructor(head: BatchHead, body: Uint8Array, inflate: Inflate | undefined) {
    this.#head = head;
    this.#body = body;
    this.#inflate = inflate;
  }

  /** Throws if the batch has more buffers than its schema requires. */
  finish(): void {
    const { buffers, variadic } = this.#head;
    if (this.#next !== buffers.count) {
      damaged(`a batch has ${buffers.count} buffers and its schema asks for ${this.#next}`);
    }
    if (this.#nextVariadic !== variadic.count) {
      damaged(`a batch has ${variadic.count} counts of view buffers and its schema asks for ${this.#nextVariadic}`);
    }
  }

  /** Takes a validity bitmap; undefined if no value is null. */
  validity(length: number, nulls: number): Uint8Array | undefined {
    const bits = this.#take(Math.ceil(length / 8));
    if (bits.length === 0) {
      return nulls > 0 ? damaged(`${nulls} of its values are null and it has no validity bitmap`) : undefined;
    }
    const size = Math.ceil(length / 8);
    if (bits.length < size) damaged(`its validity bitmap has ${bits.length} bytes instead of ${size}`);
    const counted = countZeros(bits, length);
    if (nulls >= 0 && counted !== nulls) {
      damaged(`its validity bitmap has ${counted} nulls and its metadata says ${nulls}`);
    }
    return counted === 0 ? undefined : bits;
  }

  /** Skips the validity bitmap of a union (before Arrow 1.0), which must be empty. */
  skipValidity(): void {
    if (this.#take(0).length > 0) damaged("it is a union of a format before Arrow 1.0. Write it with a later version");
  }

  /** Takes a buffer of at least `size` bytes. */
  fixed(size: number): Uint8Array {
    const bytes = this.#take(size);
    return bytes.length >= size ? bytes : damaged(`a buffer has ${bytes.length} bytes instead of ${size}`);
  }

  /** Takes the offsets of `length` values, of which there is one more. Without values they may be absent. */
  offsets(length: number, width: 4 | 8): Uint8Array {
    if (length > 0) return this.fixed((length + 1) * width);
    const bytes = this.#take(width);
    return bytes.length >= width ? bytes : new Uint8Array(width);
  }

  /** Takes the offsets and the bytes of strings or binary values. */
  spans(length: number, width: 4 | 8): { readonly valueOffsets: Uint8Array; readonly values: Uint8Array } {
    const valueOffsets = this.offsets(length, width);
    const words = wordsOf(valueOffsets);
    const [begin, end] = width === 8 ? [wideAt(words, 0), wideAt(words, length)] : [words[0]!, words[length]!];
    if (!(begin >= 0 && begin <= end && Number.isSafeInteger(end))) damaged(`its offsets are ${begin} to ${end}`);
    const values = this.#take(end, true);
    // A slice whose values are all empty keeps its offsets and has no bytes.
    if (begin < end && values.length < end) damaged(`its bytes are ${values.length} instead of ${end}`);
    return { valueOffsets, values };
  }

  /** Takes the 16-byte views of strings or binary values, and the buffers that they point into. */
  views(length: number): { readonly values: Uint8Array; readonly variadicBuffers: readonly Uint8Array[] } {
    const values = this.fixed(length * 16);
    const needed = extentsOf(wordsOf(values), length, this.#variadicCount());
    return { values, variadicBuffers: needed.map((size) => this.#take(size, true)) };
  }

  /** Returns the number of buffers of the next view column. */
  #variadicCount(): number {
    const { variadic, buffers } = this.#head;
    if (this.#nextVariadic >= variadic.count) damaged("the batch has no count of its view buffers");
    const count = countAt(variadic.view, 8 * this.#nextVariadic++, "the number of view buffers");
    const left = buffers.count - this.#next;
    return count <= left ? count : damaged(`it announces ${count} view buffers and the batch has ${left} buffers left`);
  }

  /**
   * Takes the next buffer, of which `needed` bytes are read. They limit decompression: a `sliced` buffer may hold more
   * than its column refers to, and is then decompressed in part.
   */
  #take(needed: number, sliced = false): Uint8Array {
    const { view, count } = this.#head.buffers;
    if (this.#next >= count) damaged(`the batch has only ${count} buffers`);
    const at = 16 * this.#next++;
    const offset = countAt(view, at, "the offset of a buffer");
    const length = countAt(view, at + 8, "the length of a buffer");
    if (length === 0) return NONE;
    if (offset < this.#end || offset % 8 !== 0) {
      damaged(`a buffer begins at ${offset}, inside another one or unaligned`);
    }
    if (offset + length > this.#body.length) {
      damaged(`a buffer ends at byte ${offset + length} of a body of ${this.#body.length} bytes`);
    }
    this.#end = offset + length;
    const bytes = this.#body.subarray(offset, offset + length);
    return this.#head.codec === undefined ? bytes : this.#decompress(bytes, needed, sliced);
  }

  /** A compressed buffer begins with its uncompressed length: -1 if it is stored uncompressed, 0 if it is empty. */
  #decompress(bytes: Uint8Array, needed: number, sliced: boolean): Uint8Array {
    if (bytes.length < 8) return damaged(`a compressed buffer has ${bytes.length} bytes: its length alone needs 8`);
    const length = Number(new DataView(bytes.buffer, bytes.byteOffset, 8).getBigInt64(0, true));
    if (length === 0) return NONE;
    const data = bytes.subarray(8);
    if (length === -1) return data;
    const limit = 2 * (needed + PADDING);
    if (length < 0 || (!sliced && length > limit)) {
      return damaged(`a compressed buffer announces ${length} bytes and its column needs ${needed}`);
    }
    return this.#inflate!(data, length, Math.min(length, limit));
  }
}

/** Counts the zeros among the first `length` bits. */
function countZeros(bits: Uint8Array, length: number): number {
  let ones = 0;
  const whole = length >> 3;
  let at = 0;
  const words = bits.byteOffset % 4 === 0 ? new Uint32Array(bits.buffer, bits.byteOffset, whole >> 2) : undefined;
  if (words !== undefined) {
    for (let word = 0; word < words.length; word++) ones += onesOf(words[word]!);
    at = words.length * 4;
  }
  for (; at < whole; at++) ones += onesOf(bits[at]!);
  if (length % 8 > 0) ones += onesOf(bits[whole]! & ((1 << length % 8) - 1));
  return length - ones;
}

/** Counts the ones of a 32-bit word (Hacker's Delight, figure 5-2). */
function onesOf(word: number): number {
  let n = word - ((word >>> 1) & 0x55555555);
  n = (n & 0x33333333) + ((n >>> 2) & 0x33333333);
  return Math.imul((n + (n >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24;
}

/** Returns how many bytes of each buffer the views of a column refer to. References outside are found later. */
function extentsOf(words: Int32Array, length: number, buffers: number): readonly number[] {
  const extents = new Array<number>(buffers).fill(0);
  for (let slot = 0; slot < length; slot++) {
    const size = words[4 * slot]!;
    if (size <= 12) continue;
    const buffer = words[4 * slot + 2]!;
    const end = words[4 * slot + 3]! + size;
    if (buffer >= 0 && buffer < buffers && end > extents[buffer]!) extents[buffer] = end;
  }
  return extents;
}
