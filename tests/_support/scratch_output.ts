/** What a writer of the encoder leaves in the scratch, for tests of a single writer. */

import { Arena } from "../../src/json/memory/arena.ts";
import { attach, flush, scratch } from "../../src/json/memory/scratch.ts";

/** The bytes that a writer writes, at any start position and after any move of the scratch. */
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

/** The string that a writer writes; throws on invalid UTF-8. */
export function written(put: (position: number) => number): string {
  return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(writtenBytes(put));
}
