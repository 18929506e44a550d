/**
 * Rows of unknown outcome: they are sent again while the stream still knows their ids, otherwise the stream is searched.
 *
 * @module
 */

import { currentMoment, elapsedBetween, momentOf, resendLimit } from "../../stream/resend.ts";
import type { NatsConnection } from "@nats-io/nats-core";
import { ConnectionError } from "../../errors/mod.ts";
import { prepareRows } from "../../message/prepare.ts";
import type { Settings } from "../../options/publisher.ts";
import { openBatch } from "../../publish/prepare_batch.ts";
import { DUPLICATE, UNKNOWN, UNSENT } from "../../publish/outcomes.ts";
import { IdFinder } from "../../stream/find_ids.ts";
import type { PendingPiece } from "../publish/feed.ts";
import { JournalError } from "../journal/error.ts";
import type { InputField } from "../journal/line.ts";
import { unknownOf } from "../journal/piece.ts";
import { codedMessage, formatNumber, rowsOf } from "../report.ts";
import { targetOf } from "../route.ts";
import { removedBehind, type StreamNow } from "./streams.ts";

/** The arguments of the search. */
export interface DoubtParts {
  /** A connection. */
  readonly nc: NatsConnection;
  /** The options. */
  readonly settings: Settings;
  /** The inputs. */
  readonly inputs: readonly InputField[];
  /** The current state of the streams. */
  readonly streams: ReadonlyMap<string, StreamNow>;
  /** Aborts the search. */
  readonly signal: AbortSignal;
}

/**
 * Decides for each piece with rows of unknown outcome whether they may be sent again; if not, finds out whether
 * they are stored.
 *
 * @throws {JournalError} if that cannot be determined
 */
export async function settleDoubts(pending: readonly PendingPiece[], parts: DoubtParts): Promise<PendingPiece[]> {
  const searched: PendingPiece[] = [];
  const { domain, inboxPrefix } = parts.settings;
  const finder = new IdFinder(parts.nc, { domain, inboxPrefix });
  for (const one of pending) {
    const unknown = unknownOf(one.piece);
    if (unknown.length === 0) continue;
    const ids = idsOf(one, unknown, parts);
    const { stream } = parts.inputs[one.piece.input]!;
    const { codes, since } = one.piece;
    const { duplicateWindow } = parts.streams.get(stream)!;
    const [firstSent, now] = [momentOf(since), currentMoment()];
    const limit = resendLimit(duplicateWindow, parts.settings.publishTimeout);
    // A clock that was set back does not show how much time has passed.
    if (now.wall >= since && elapsedBetween(firstSent, now) < limit) {
      one.earlier = { duplicateWindow, firstSent: (row) => codes![row] === UNKNOWN ? firstSent : undefined };
    } else {
      await search(one, unknown, ids, finder, parts);
      searched.push(one);
    }
  }
  return searched;
}

/** Returns the ids of a piece's rows. Rows without an id can be neither sent again nor searched. */
function idsOf({ piece, item }: PendingPiece, unknown: readonly number[], parts: DoubtParts): string[] {
  const { file, resource } = parts.inputs[piece.input]!;
  const source = openBatch({ resource, rows: item.rows }, parts.settings);
  const range = { from: piece.offset, count: piece.rows };
  const rows = prepareRows(source, range, targetOf(parts.settings, resource), false);
  const without = unknown.find((row) => !rows.hasId(row));
  if (without === undefined) return unknown.map((row) => rows.idText(row));
  throw new JournalError(
    `Cannot resume: ${rowsOf(unknown.length)} of ${file} (batch ${piece.batch}, rows ${piece.offset} to ` +
      `${piece.offset + piece.rows - 1}) were on their way when the run ended, and row ${piece.offset + without} has ` +
      `no id: whether it is stored cannot be found out`,
  );
}

async function search(
  { piece }: PendingPiece,
  unknown: readonly number[],
  ids: readonly string[],
  finder: IdFinder,
  { nc, settings, inputs, signal }: DoubtParts,
): Promise<void> {
  const { stream, subject, file } = inputs[piece.input]!;
  // Of two rows with the same id the second is a duplicate of the first.
  const distinct = [...new Set(ids)];
  const since = { sequence: piece.after };
  const found = await mayFail(
    () => finder.find({ stream, subject, ids: distinct, since }, signal),
    `${rowsOf(unknown.length)} of ${file} were on their way when the run ended, the duplicate window has passed, and ` +
      `looking for their ids in ${stream} has failed`,
  );
  const sequences = new Map(distinct.map((id, i) => [id, found[i]!]));
  const missing = unknown.filter((_, i) => sequences.get(ids[i]!) === 0);
  // After the search: rows removed during it were not found either.
  if (missing.length > 0) await assertNoneRemoved(nc, stream, piece.after, missing.length, settings, signal);
  unknown.forEach((row, i) => {
    const sequence = sequences.get(ids[i]!)!;
    piece.codes![row] = sequence > 0 ? DUPLICATE : UNSENT;
    if (piece.sequences !== undefined) piece.sequences[row] = sequence;
  });
}

async function assertNoneRemoved(
  nc: NatsConnection,
  stream: string,
  after: number,
  missing: number,
  settings: Settings,
  signal: AbortSignal,
): Promise<void> {
  const removed = await mayFail(
    () => removedBehind(nc, stream, after, settings, signal),
    `looking for removed messages in ${stream} has failed`,
  );
  if (removed === 0) return;
  throw new JournalError(
    `Cannot resume: ${rowsOf(missing)} were not found in ${stream}, but ${
      formatNumber(removed)
    } messages behind sequence ` +
      `${after} are no longer there: they may have been among them`,
  );
}

async function mayFail<T>(work: () => Promise<T>, what: string): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof ConnectionError)) throw error;
    throw new JournalError(`Cannot resume: ${what}: ${codedMessage(error)}`, { cause: error });
  }
}
