/**
 * Which messages to read at a time: a receipt's sequences cut into windows.
 *
 * @module
 */

/** Some rows of a receipt whose sequences rise, read by one request or a few. */
export interface Window {
  /** The sequences of the rows, in row order, none lower than the one before. */
  readonly wanted: readonly number[];
  /** The same, to ask whether one is among them. */
  readonly among: ReadonlySet<number>;
  /** The first. */
  readonly first: number;
  /** The last. */
  readonly last: number;
}

/**
 * A read passes over this many messages of others for each row of ours, sooner than that a request is made for each.
 */
const OTHERS = 3;

/**
 * The windows of some sequences, in row order, each with at most `rows` rows and few messages of others in between. A
 * new one begins where sequences fall: those of duplicates point back at the first copy.
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
