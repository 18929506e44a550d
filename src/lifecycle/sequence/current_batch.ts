/**
 * Cuts the batch at hand into pieces.
 *
 * @module
 */

import { type PieceLimits, pieceRanges } from "../../arrow/slice.ts";
import type { RowRange } from "../../message/prepare.ts";
import type { BatchSource } from "../../publish/prepare_batch.ts";
import type { Part, Piece } from "./piece.ts";

/** The batch at hand. */
export interface Current {
  readonly part: Part;
  /** What is left of the range at hand. */
  left: RowRange | undefined;
  /** The piece that was begun from it, until it is known how many rows it took. */
  begun: Piece | undefined;
  /** The ranges after it. */
  readonly ranges: Iterator<RowRange>;
}

/** Notes what the piece begun last has taken of its range; nothing, where it was never loaded. */
export function advance(current: Current): void {
  const { begun, left } = current;
  current.begun = undefined;
  if (begun?.delivery.rows === undefined || left === undefined) return;
  const taken = begun.delivery.count;
  current.left = taken < left.count ? { from: left.from + taken, count: left.count - taken } : nextRange(current);
}

/** The next range; undefined at the end of the batch. */
export function nextRange({ ranges }: { readonly ranges: Iterator<RowRange> }): RowRange | undefined {
  const next = ranges.next();
  return next.done ? undefined : next.value;
}

/** The pieces of a batch; a batch without rows is one piece, for its receipt. */
export function* rangesOf(source: BatchSource, limits: PieceLimits, mostRows: number): Generator<RowRange> {
  if (source.selected === 0) return void (yield { from: 0, count: 0 });
  const { batchMaxRows, batchMaxBytes } = limits;
  yield* pieceRanges(source.view, { batchMaxRows: Math.min(batchMaxRows, mostRows), batchMaxBytes }, source.only);
}
