/**
 * The piece that a torn line can have begun.
 *
 * @module
 */

import { pieceRanges, resolveLimits } from "../../arrow/slice.ts";
import { prepareRows } from "../../message/prepare.ts";
import type { Settings } from "../../options/publisher.ts";
import { openBatch } from "../../publish/prepare_batch.ts";
import { mostRowsOfPiece } from "../../publish/mode.ts";
import type { BatchLimits } from "../../types/mod.ts";
import { unlessAborted } from "../../util/unless_aborted.ts";
import type { Work } from "../publish/feed.ts";
import type { BeginLine, InputField } from "../journal/line.ts";
import type { JournalState } from "../journal/state.ts";
import { targetOf } from "../route.ts";

/** What is needed to cut it as it was cut. */
export interface DoubtfulParts {
  /** The options. */
  readonly settings: Settings;
  /** Where batches are cut. */
  readonly limits: BatchLimits;
  /** The inputs. */
  readonly inputs: readonly InputField[];
  /** Ends it. */
  readonly signal: AbortSignal;
}

/**
 * The piece behind the last one, where a line is torn that can have begun it. It is begun now, in the journal's state,
 * as if that line were there.
 *
 * @param state what the journal says
 * @param work what is left to do
 * @param parts what is needed
 * @returns what is left to do, and the line that begins the piece; none where nothing is in doubt
 * @example
 * ```ts ignore
 * const { work, line } = await beginDoubtful(state, work, parts);
 * ```
 */
export async function beginDoubtful(
  state: JournalState,
  work: Work,
  { settings, limits, inputs, signal }: DoubtfulParts,
): Promise<{ readonly work: Work; readonly line: BeginLine | undefined }> {
  if (state.doubtSince === undefined) return { work, line: undefined };
  const rest = work.rest ?? await nextItem(work, signal);
  if (rest === undefined) return { work, line: undefined };
  const { item: { input, batch, rows }, from } = rest;
  const { file, resource, stream } = inputs[input]!;
  // A stream is looked up, and that is written, before its first piece.
  if (!state.streams.has(stream) || rows.numRows === 0) return { work: { ...work, rest }, line: undefined };

  const only = Array.from({ length: rows.numRows - from }, (_, i) => from + i);
  const source = openBatch({ resource, rows, only }, settings);
  const resolved = resolveLimits(limits);
  const batchMaxRows = Math.min(resolved.batchMaxRows, mostRowsOfPiece(settings));
  const [range] = pieceRanges(source.view, { ...resolved, batchMaxRows }, only);
  const prepared = prepareRows(source, range!, targetOf(settings, resource), true);
  const { count, bodyBytes: bytes, crc32c } = prepared;
  const time = new Date().toISOString();
  const line = { kind: "begin", time, file, input, batch, offset: from, rows: count, bytes, crc32c } as const;
  state.begin(line);
  const pending = [...work.pending, { piece: state.pieces.at(-1)!, item: rest.item }];
  const left = from + count < rows.numRows ? { item: rest.item, from: from + count } : undefined;
  return { work: { ...work, pending, rest: left }, line };
}

async function nextItem({ items }: Work, signal: AbortSignal): Promise<Work["rest"]> {
  const { value } = await unlessAborted(items.next(), signal);
  return value === undefined ? undefined : { item: value, from: 0 };
}
