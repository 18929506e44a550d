/**
 * Cuts the current batch into pieces.
 *
 * @module
 */

import { type PieceLimits, pieceRanges } from "../../arrow/slice.ts";
import type { RowRange } from "../../message/prepare.ts";
import type { BatchSource } from "../../publish/prepare_batch.ts";
import type { Part, Piece } from "./piece.ts";

/** The current batch. */
export interface Current {
  readonly part: Part;
  /** The rest of the current range. */
  left: RowRange | undefined;
  /** The piece that was begun from it, until the number of its rows is known. */
  begun: Piece | undefined;
  /** The ranges after it. */
  readonly ranges: Iterator<RowRange>;
}

/** Removes the rows of the last begun piece from its range; none if the piece was never encoded. */
export function advance(current: Current): void {
  const { begun, left } = current;
  current.begun = undefined;
  if (!begun?.call.isLoaded || left === undefined) return;
  const taken = begun.call.count;
  current.left = taken < left.count ? { from: left.from + taken, count: left.count - taken } : nextRange(current);
}

/** Returns the next range, undefined at the end of the batch. */
export function nextRange({ ranges }: { readonly ranges: Iterator<RowRange> }): RowRange | undefined {
  const next = ranges.next();
  return next.done ? undefined : next.value;
}

/** Returns the pieces of a batch. A batch without rows is one piece, for its receipt. */
export function* rangesOf(source: BatchSource, limits: PieceLimits, mostRows: number): Generator<RowRange> {
  if (source.selected === 0) return void (yield { from: 0, count: 0 });
  const { batchMaxRows, batchMaxBytes } = limits;
  yield* pieceRanges(source.view, { batchMaxRows: Math.min(batchMaxRows, mostRows), batchMaxBytes }, source.only);
}
