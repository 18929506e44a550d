/**
 * The piece of memory that values are written to, and what carries it over to the batch's own arena when it is full.
 *
 * Writers take a position and give the next one. They store eight bytes at a time and may leave rubbish after the
 * position, never before it. Before each cell whoever calls it makes sure that {@linkcode ROOM} bytes are left; what
 * may take more moves on by {@linkcode flush} itself.
 *
 * One scratch serves all batches, since encoding never waits: at a fixed place in memory its address is a constant
 * in compiled code. Growing arenas of their own, read through a closure, cost 5 to 15 % more.
 *
 * @module
 */

import type { Arena } from "./arena.ts";

/** Bytes that a cell may write without asking. */
export const ROOM = 1 << 16;

/** Bytes of the scratch: half of a small second-level cache. */
const SIZE = 5 << 16;

/** A position from which less than ROOM bytes are left. */
export const FULL: number = SIZE - ROOM;

/** Longest piece of text, key or base64 input that is written without asking: escapes make six bytes of one. */
export const PIECE = 1 << 13;

/** Where the last bytes of the scratch are, which no cell reaches: a place to put digits before they are moved. */
export const SPARE: number = SIZE - 128;

const memory = new ArrayBuffer(SIZE);

/** The scratch: `bytes` and `view` are the same memory. */
export const scratch: { readonly bytes: Uint8Array<ArrayBuffer>; readonly view: DataView<ArrayBuffer> } = {
  bytes: new Uint8Array(memory),
  view: new DataView(memory),
};

let arena: Arena | undefined;

/** Makes an arena the one that the scratch is emptied into. */
export function attach(to: Arena | undefined): void {
  arena = to;
}

/** Empties the scratch up to a position; gives the new position. */
export function flush(position: number): number {
  if (position > 0) arena!.add(scratch.bytes, 0, position);
  return 0;
}

/** Writes bytes of any length as they are. */
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
