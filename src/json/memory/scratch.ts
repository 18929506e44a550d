/**
 * The memory that values are written to, and its transfer to the arena of the result when it is full.
 *
 * A writer takes a position and returns the next one. Writers store eight bytes at a time: bytes after the returned
 * position are garbage, bytes before it are final. The caller of a cell makes sure that {@linkcode ROOM} bytes are
 * left; a cell that may need more calls {@linkcode flush} itself.
 *
 * One scratch serves all batches, because encoding is synchronous: its fixed address is a constant in compiled code.
 * Writing to a growing arena per batch, read through a closure, cost 5 to 15 % more.
 *
 * @module
 */

import type { Arena } from "./arena.ts";

/** Bytes that a cell may write without a check. */
export const ROOM = 1 << 16;

/** Size of the scratch: half of a small second-level cache. */
const SIZE = 5 << 16;

/** A position from which less than ROOM bytes are left. */
export const FULL: number = SIZE - ROOM;

/** Longest piece of a string, key or base64 input written without a check: an escape makes six bytes of one. */
export const PIECE = 1 << 13;

/** Start of the last bytes of the scratch, which no cell reaches: digits are put there before they are moved. */
export const SPARE: number = SIZE - 128;

const memory = new ArrayBuffer(SIZE);

/** The scratch: `bytes` and `view` are the same memory. */
export const scratch: { readonly bytes: Uint8Array<ArrayBuffer>; readonly view: DataView<ArrayBuffer> } = {
  bytes: new Uint8Array(memory),
  view: new DataView(memory),
};

let arena: Arena | undefined;

/** Sets the arena that the scratch is flushed to. */
export function attach(to: Arena | undefined): void {
  arena = to;
}

/** Moves the bytes before `position` to the arena. Returns the new position. */
export function flush(position: number): number {
  if (position > 0) arena!.add(scratch.bytes, 0, position);
  return 0;
}

/** Copies bytes of any length. */
export function putBytes(position: number, source: Uint8Array, start: number, end: number): number {
  if (end - start <= PIECE) {
    let p = position > FULL ? flush(position) : position;
    for (let at = start; at < end; at++) scratch.bytes[p++] = source[at]!;
    return p;
  }
  flush(position);
  arena!.add(source, start, end);
  return 0;
}
