/**
 * Reads lines of a file or of standard input.
 *
 * @module
 */

import { type ByteInput, bytesOf, nameOf } from "./bytes.ts";
import { InputError } from "./input/error.ts";

/** The maximum number of bytes of a line: no receipt is longer. */
const LONGEST = 64 * 1024 * 1024;

const LINE_FEED = 0x0a;

/** A line. */
export interface Line {
  /** Its text, without the line end. */
  readonly text: string;
  /** Its number; the first line has number 1. */
  readonly number: number;
  /** Whether a line feed ends it: the last line may be incomplete. */
  readonly whole: boolean;
}

/** Reads the lines of a path, or of standard input for `-`. Throws an InputError if it cannot be read. */
export async function* linesOf(file: string, input: ByteInput): AsyncGenerator<Line> {
  let number = 0;
  // The parts of the current line, joined once, so that a long line takes time proportional to its bytes.
  let parts: Uint8Array[] = [];
  let length = 0;
  for await (const chunk of bytesOf(file, input)) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_FEED); end >= 0; end = chunk.indexOf(LINE_FEED, start)) {
      const text = join([...parts, chunk.subarray(start, end)]);
      yield { text: number === 0 ? withoutMark(text) : text, number: ++number, whole: true };
      [parts, length, start] = [[], 0, end + 1];
    }
    if (start === chunk.length) continue;
    parts.push(chunk.subarray(start));
    length += chunk.length - start;
    if (length > LONGEST) throw new InputError(`${nameOf(file)}, line ${number + 1}: too long for a receipt`);
  }
  if (length === 0) return;
  const text = join(parts);
  yield { text: number === 0 ? withoutMark(text) : text, number: ++number, whole: false };
}

/** The byte order mark with which a file may begin. */
function withoutMark(text: string): string {
  return text.replace(/^\ufeff/, "");
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

function join(parts: readonly Uint8Array[]): string {
  return parts.map((part) => decoder.decode(part, { stream: true })).join("") + decoder.decode();
}
