/**
 * Where acknowledgments must come from, and the quick way to read one.
 *
 * @module
 */

/** Where answers must come from. */
export interface AckSource {
  /** The expected stream. */
  readonly stream: string;
  /** The stream's domain, where it has one. */
  readonly domain?: string | undefined;
}

/**
 * Makes a reader for the usual form, `{"stream":"S","seq":7}` with or without `"domain"`, `"duplicate": true` and a
 * space after the comma: the sequence, negative for a duplicate, 0 for any other form, which {@linkcode parseAck} then
 * reads. It makes no object and no text: an answer costs some 30 ns instead of 900.
 */
export function usualAckReader(source: AckSource): (body: Uint8Array) => number {
  const text = new TextEncoder();
  const domain = source.domain === undefined ? "" : `"domain":${JSON.stringify(source.domain)},`;
  const tight = text.encode(`{"stream":${JSON.stringify(source.stream)},${domain}"seq":`);
  const spaced = text.encode(`{"stream":${JSON.stringify(source.stream)}, ${domain && domain + " "}"seq":`);
  const duplicateEnd = text.encode(`,"duplicate": true}`);
  const duplicateTight = text.encode(`,"duplicate":true}`);
  return (body) => {
    const start = startsWith(body, tight) ? tight.length : startsWith(body, spaced) ? spaced.length : -1;
    if (start < 0) return 0;
    let sequence = 0;
    let at = start;
    for (; at < body.length; at++) {
      const digit = body[at]! - 48;
      if (digit < 0 || digit > 9) break;
      sequence = sequence * 10 + digit;
    }
    // A number of more than 15 digits may pass 2^53; a leading zero is no JSON number. Both are left to the parser.
    if (at === start || at - start > 15 || body[start] === 48) return 0;
    if (at === body.length - 1 && body[at] === 0x7d) return sequence;
    return endsWith(body, at, duplicateEnd) || endsWith(body, at, duplicateTight) ? -sequence : 0;
  };
}

function startsWith(body: Uint8Array, prefix: Uint8Array): boolean {
  if (body.length <= prefix.length) return false;
  for (let i = 0; i < prefix.length; i++) if (body[i] !== prefix[i]) return false;
  return true;
}

function endsWith(body: Uint8Array, at: number, end: Uint8Array): boolean {
  if (body.length - at !== end.length) return false;
  for (let i = 0; i < end.length; i++) if (body[at + i] !== end[i]) return false;
  return true;
}
