/**
 * Copies `source[start, end)` to `to` from `at` on. Returns the position after the copy. A loop: for some thirty bytes,
 * `set` costs several times as much.
 */
export function copyBytes(source: Uint8Array, start: number, end: number, to: Uint8Array, at: number): number {
  let p = at;
  for (let i = start; i < end; i++) to[p++] = source[i]!;
  return p;
}
