/**
 * The stream that acknowledgments must come from, and a fast reader for them.
 *
 * @module
 */

/** The stream that answers must come from. */
export interface AckSource {
  /** The expected stream. */
  readonly stream: string;
  /** The stream's domain, if it has one. */
  readonly domain?: string | undefined;
}

/**
 * Reads the answer in `body[from, to)`: returns its sequence, negative for a duplicate; 0 if it is not of the usual form.
 */
export type ReadUsualAck = (body: Uint8Array, from: number, to: number) => number;

/**
 * Makes a reader for the usual form, `{"stream":"S","seq":7}` with or without `"domain"`, `"duplicate": true` and a
 * space after the comma: it returns the sequence, negative for a duplicate, 0 for any other form, which
 * {@linkcode parseAck} then reads. It creates no object and no string: an answer takes some 30 ns instead of 900.
 */
export function usualAckReader(source: AckSource): ReadUsualAck {
  const text = new TextEncoder();
  const domain = source.domain === undefined ? "" : `"domain":${JSON.stringify(source.domain)},`;
  const tight = text.encode(`{"stream":${JSON.stringify(source.stream)},${domain}"seq":`);
  const spaced = text.encode(`{"stream":${JSON.stringify(source.stream)}, ${domain && domain + " "}"seq":`);
  const duplicateEnd = text.encode(`,"duplicate": true}`);
  const duplicateTight = text.encode(`,"duplicate":true}`);
  return (body, from, to) => {
    // The form of current servers comes first.
    const start = from +
      (startsWith(body, from, to, spaced) ? spaced : startsWith(body, from, to, tight) ? tight : NONE).length;
    if (start === from) return 0;
    let sequence = 0;
    let at = start;
    for (; at < to; at++) {
      const digit = body[at]! - 48;
      if (digit < 0 || digit > 9) break;
      sequence = sequence * 10 + digit;
    }
    // A number of more than 15 digits may exceed 2^53; one with a leading zero is not JSON. The parser reads both.
    if (at === start || at - start > 15 || body[start] === 48) return 0;
    if (at === to - 1 && body[at] === 0x7d) return sequence;
    return endsWith(body, at, to, duplicateEnd) || endsWith(body, at, to, duplicateTight) ? -sequence : 0;
  };
}

const NONE = new Uint8Array(0);

function startsWith(body: Uint8Array, from: number, to: number, prefix: Uint8Array): boolean {
  if (to - from <= prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (body[from + i] !== prefix[i]) return false;
  return true;
}

function endsWith(body: Uint8Array, at: number, to: number, end: Uint8Array): boolean {
  if (to - at !== end.length) return false;
  for (let i = 0; i < end.length; i++) if (body[at + i] !== end[i]) return false;
  return true;
}
