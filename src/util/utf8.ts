/**
 * Validates UTF-8 as the Encoding Standard does (Unicode section 3.9, table 3-7).
 *
 * @module
 */

/**
 * Returns the length of the sequence that begins at `at` with a byte of 0x80 or more. An ill-formed sequence gives the
 * negative length of the maximal subpart that one U+FFFD replaces.
 */
export function sequenceSize(source: Uint8Array, at: number, end: number): number {
  const lead = source[at]!;
  if (lead < 0xc2 || lead > 0xf4) return -1;
  if (at + 1 >= end) return -1;
  const second = source[at + 1]!;
  if (lead < 0xe0) return (second & 0xc0) === 0x80 ? 2 : -1;
  if ((second & 0xc0) !== 0x80 || !secondFits(lead, second)) return -1;
  if (at + 2 >= end || (source[at + 2]! & 0xc0) !== 0x80) return -2;
  if (lead < 0xf0) return 3;
  return at + 3 >= end || (source[at + 3]! & 0xc0) !== 0x80 ? -3 : 4;
}

/** Whether `source[start, end)` is valid UTF-8. */
export function isUtf8(source: Uint8Array, start: number, end: number): boolean {
  for (let at = start; at < end;) {
    const size = source[at]! < 0x80 ? 1 : sequenceSize(source, at, end);
    if (size < 0) return false;
    at += size;
  }
  return true;
}

/** Leads whose second byte has a narrower range: no overlong forms, no surrogates, nothing above U+10FFFF. */
function secondFits(lead: number, second: number): boolean {
  switch (lead) {
    case 0xe0:
      return second >= 0xa0;
    case 0xed:
      return second < 0xa0;
    case 0xf0:
      return second >= 0x90;
    case 0xf4:
      return second < 0x90;
    default:
      return true;
  }
}

/**
 * Returns where a string that begins at `start` can be cut without splitting a sequence, also an ill-formed one: at most
 * three bytes before `cut`. The cut must be more than three bytes after the start.
 */
export function cutBefore(source: Uint8Array, start: number, cut: number): number {
  if ((source[cut]! & 0xc0) !== 0x80) return cut;
  for (let back = 1; back <= 3 && cut - back > start; back++) {
    if ((source[cut - back]! & 0xc0) !== 0x80) return cut - back;
  }
  return cut;
}
