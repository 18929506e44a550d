/**
 * Escapes UTF-8 strings as Go's `encoding/json` does. Message ids hash such strings, so that Go programs can compute the
 * same id for a row.
 *
 * @module
 */

import { sequenceSize } from "../util/utf8.ts";

const PLAIN = 0;
const ESCAPED = 1;
const LEAD = 2;

const CLASS = makeClasses();
const HEX = Uint8Array.from("0123456789abcdef", (digit) => digit.charCodeAt(0));
const BACKSLASH = 0x5c;

/** Go's short escapes: `"`, `\`, `\n`, `\r` and `\t`, and since Go 1.22 `\b` and `\f`. */
const SHORT = new Map([[0x22, 0x22], [0x5c, 0x5c], [8, 0x62], [9, 0x74], [10, 0x6e], [12, 0x66], [13, 0x72]]);

function makeClasses(): Uint8Array {
  const classes = new Uint8Array(256);
  classes.fill(ESCAPED, 0, 0x20);
  classes.fill(LEAD, 0x80);
  // Go escapes `<`, `>` and `&` so that its output can be embedded in HTML.
  for (const char of '"\\<>&') classes[char.charCodeAt(0)] = ESCAPED;
  return classes;
}

/** One byte becomes at most six: `\u00xx`. */
export const LONGEST_ESCAPE = 6;

/**
 * Writes `bytes[start, end)` escaped into `target` from `at`; `target` has room for six times as many bytes. Returns
 * the position after them, or -1 if the bytes are not valid UTF-8.
 */
export function escapeGo(bytes: Uint8Array, start: number, end: number, target: Uint8Array, at: number): number {
  for (let i = start; i < end; i++) {
    const byte = bytes[i]!;
    const kind = CLASS[byte]!;
    if (kind === PLAIN) {
      target[at++] = byte;
    } else if (kind === ESCAPED) {
      at = escapeByte(byte, target, at);
    } else {
      const size = sequenceSize(bytes, i, end);
      if (size < 0) return -1;
      at = writeSequence(bytes, i, size, target, at);
      i += size - 1;
    }
  }
  return at;
}

function escapeByte(byte: number, target: Uint8Array, at: number): number {
  const short = SHORT.get(byte);
  target[at++] = BACKSLASH;
  if (short !== undefined) {
    target[at++] = short;
    return at;
  }
  target[at++] = 0x75;
  target[at++] = 0x30;
  target[at++] = 0x30;
  target[at++] = HEX[byte >>> 4]!;
  target[at++] = HEX[byte & 15]!;
  return at;
}

/** Go escapes U+2028 and U+2029 (E2 80 A8 and E2 80 A9), which older JavaScript treated as line ends. */
function writeSequence(bytes: Uint8Array, from: number, size: number, target: Uint8Array, at: number): number {
  if (bytes[from] === 0xe2 && bytes[from + 1] === 0x80 && (bytes[from + 2]! & 0xfe) === 0xa8) {
    target[at] = BACKSLASH;
    target[at + 1] = 0x75;
    target[at + 2] = 0x32;
    target[at + 3] = 0x30;
    target[at + 4] = 0x32;
    target[at + 5] = 0x38 + (bytes[from + 2]! & 1);
    return at + 6;
  }
  for (let i = 0; i < size; i++) target[at + i] = bytes[from + i]!;
  return at + size;
}
