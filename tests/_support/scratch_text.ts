/** What a writer of the encoder leaves in the scratch, for tests of one writer alone. */

import { Arena } from "../../src/json/memory/arena.ts";
import { attach, flush, scratch } from "../../src/json/memory/scratch.ts";

/** The bytes that a writer writes, wherever it begins and however often it moves on. */
export function writtenBytes(put: (position: number) => number): Uint8Array {
  const arena = new Arena({ maxBytes: Infinity, maxRowBytes: Infinity });
  attach(arena);
  try {
    scratch.bytes.fill(0xee);
    flush(put(0));
    return arena.take(arena.used).slice();
  } finally {
    attach(undefined);
  }
}

/** The text that a writer writes; bytes that are no UTF-8 throw. */
export function written(put: (position: number) => number): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(writtenBytes(put));
}
