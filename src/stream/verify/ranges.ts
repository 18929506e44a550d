/**
 * Cuts a receipt's sequences into windows that are read together.
 *
 * @module
 */

/** Some rows of a receipt with ascending sequences, read by one request or a few. */
export interface Window {
  /** The sequences of the rows, in row order, none lower than the previous one. */
  readonly wanted: readonly number[];
  /** The same, as a set. */
  readonly among: ReadonlySet<number>;
  /** The first. */
  readonly first: number;
  /** The last. */
  readonly last: number;
}

/**
 * A read may include this many messages of other publishers for each row, which is faster than a request for each row.
 */
const OTHERS = 3;

/**
 * Yields the windows of sequences, in row order, each with at most `rows` rows and few other messages in between. A new
 * window begins where sequences fall: those of duplicates refer to the first copy.
 */
export function* windows(sequences: readonly (readonly [number, number])[], rows: number): Generator<Window> {
  let wanted: number[] = [];
  for (const [first, last] of sequences) {
    for (let from = first; from <= last;) {
      if (wanted.length >= rows || !isNear(wanted, from)) {
        if (wanted.length > 0) yield windowOf(wanted);
        wanted = [];
      }
      const to = Math.min(last, from + rows - wanted.length - 1);
      while (from <= to) wanted.push(from++);
    }
  }
  if (wanted.length > 0) yield windowOf(wanted);
}

function isNear(wanted: readonly number[], next: number): boolean {
  const last = wanted.at(-1);
  if (last === undefined) return true;
  return next >= last && next - wanted[0]! <= (wanted.length + 1) * (OTHERS + 1);
}

function windowOf(wanted: readonly number[]): Window {
  return { wanted, among: new Set(wanted), first: wanted[0]!, last: wanted.at(-1)! };
}
