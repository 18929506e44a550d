/**
 * Reads the journal's pieces from the inputs again, and compares them before anything is sent.
 *
 * @module
 */

import { viewRows } from "../../arrow/view.ts";
import { encodeBodies, openBody } from "../../message/columns.ts";
import type { Settings } from "../../options/publisher.ts";
import { unlessAborted } from "../../util/abort.ts";
import type { PendingPiece, Work } from "../publish/feed.ts";
import { JournalError } from "../journal/error.ts";
import type { KnownPiece } from "../journal/piece.ts";
import type { JournalState } from "../journal/state.ts";
import { formatNumber } from "../report.ts";
import type { SourceItem } from "../publish/source_items.ts";

/** The arguments of a recheck. */
export interface RecheckParts {
  /** The publisher's options, which decide how bodies are made. */
  readonly settings: Settings;
  /** The inputs' names, by index. */
  readonly files: readonly string[];
  /** The batches. */
  readonly items: AsyncIterator<SourceItem, undefined>;
  /** Aborts the recheck. */
  readonly signal: AbortSignal;
}

/**
 * Encodes each piece of the journal again: its rows, bytes and checksum must be the same.
 *
 * @throws {JournalError} if an input has changed
 */
export async function recheck(state: JournalState, { settings, files, items, signal }: RecheckParts): Promise<Work> {
  const pending: PendingPiece[] = [];
  let item: SourceItem | undefined;
  let from = 0;
  for (const piece of state.pieces) {
    signal.throwIfAborted();
    if (item === undefined || item.input !== piece.input || item.batch !== piece.batch) {
      if (item !== undefined && from < item.rows.numRows) throw more(files, item);
      item = (await unlessAborted(items.next(), signal)).value;
      if (item?.input !== piece.input || item.batch !== piece.batch) throw other(files, piece);
    }
    compare(piece, item, settings, files[piece.input]!);
    if (piece.codes !== undefined) pending.push({ piece, item });
    from = piece.offset + piece.rows;
  }
  const rest = item !== undefined && from < item.rows.numRows ? { item, from } : undefined;
  return { pending, rest, items };
}

function compare(piece: KnownPiece, { rows }: SourceItem, settings: Settings, file: string): void {
  const { batch, offset } = piece;
  if (offset + piece.rows > rows.numRows) throw changedInput(file, batch, `has ${formatNumber(rows.numRows)} rows`);
  const { bytes, crc32c } = encodeBodies(openBody(viewRows(rows), settings), { from: offset, count: piece.rows });
  if (bytes.length !== piece.bytes) throw changedInput(file, batch, `has other values from row ${offset} on`);
  if (crc32c !== piece.crc32c) throw changedInput(file, batch, `has other values from row ${offset} on`);
}

function changedInput(file: string, batch: number, how: string): JournalError {
  return new JournalError(`Cannot resume: ${file} is not what was published: batch ${batch} ${how}`);
}

function more(files: readonly string[], { input, batch, rows }: SourceItem): JournalError {
  return changedInput(files[input]!, batch, `has ${formatNumber(rows.numRows)} rows`);
}

function other(files: readonly string[], { input, batch }: KnownPiece): JournalError {
  return new JournalError(`Cannot resume: ${files[input]} is not what was published: it has no batch ${batch}`);
}
