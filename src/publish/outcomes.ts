/**
 * The outcome of every row of a call: codes in a byte array, and their public form.
 *
 * @module
 */

import type { PublishOutcome, RowOutcome, RowOutcomes } from "../errors/mod.ts";
import { lowerBound } from "../util/lower_bound.ts";

/** The outcomes by their code in a byte array. */
export const OUTCOMES: readonly RowOutcome[] = ["unsent", "acked", "duplicate", "rejected", "unknown"];

/** The row was not sent, or in a message that certainly had no effect. */
export const UNSENT = 0;
/** The server acknowledged the row as new. */
export const ACKED = 1;
/** The server acknowledged the row as one that the stream had already. */
export const DUPLICATE = 2;
/** The server refused the row: it is not stored. */
export const REJECTED = 3;
/** The row may or may not be stored. */
export const UNKNOWN = 4;

/** Whether a code stands for a stored row: acknowledged as new or as a duplicate. */
export function isAcknowledged(code: number): boolean {
  return code === ACKED || code === DUPLICATE;
}

/**
 * Returns the public form of an array of codes, one per selected row; `only` has the numbers of these rows, if not all
 * rows of the batch were selected.
 */
export function rowOutcomes(codes: Uint8Array, only?: readonly number[]): RowOutcomes {
  const counts: Record<RowOutcome, number> = { acked: 0, duplicate: 0, rejected: 0, unknown: 0, unsent: 0 };
  for (const code of codes) counts[OUTCOMES[code]!]++;
  return {
    counts: Object.freeze(counts),
    at(row) {
      const index = only === undefined ? row : indexIn(only, row);
      const word = OUTCOMES[codes[index] ?? -1];
      if (word === undefined) throw new RangeError(`Cannot return the outcome of row ${row}: it was not selected`);
      return word;
    },
    unsettled() {
      const rows: number[] = [];
      for (let i = 0; i < codes.length; i++) {
        if (codes[i] !== ACKED && codes[i] !== DUPLICATE) rows.push(only === undefined ? i : only[i]!);
      }
      return rows;
    },
  };
}

/** Returns the index of a row number in an ascending selection; -1 if the selection does not have it. */
function indexIn(only: readonly number[], row: number): number {
  const at = lowerBound(0, only.length, (index) => only[index]!, row);
  return only[at] === row ? at : -1;
}

/** Returns the outcome of a whole failed call; `sent` is whether any of its rows was submitted. */
export function overallOutcome(outcomes: RowOutcomes, sent: boolean): PublishOutcome {
  if (!sent) return "none";
  return outcomes.counts.unknown > 0 ? "uncertain" : "partial";
}
