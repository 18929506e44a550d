/**
 * `jetrow publish --resume`: continues the run of a journal.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { resolveOptions } from "../../options/publisher.ts";
import type { WriteReceipt } from "../../types/mod.ts";
import { withConnection } from "../connection.ts";
import type { PendingPiece, Work } from "../publish/feed.ts";
import type { InputField, JournalLine } from "../journal/line.ts";
import { isAcknowledged } from "../../publish/outcomes.ts";
import { type KnownPiece, outcomesOf } from "../journal/piece.ts";
import { wholeReceipt } from "../journal/receipt.ts";
import type { JournalState } from "../journal/state.ts";
import type { PublishPlan } from "../publish/options.ts";
import type { SourceItem } from "../publish/source_items.ts";
import { VERSION } from "../version.ts";
import { settleDoubts } from "./unknown_rows.ts";
import { recheck } from "./recheck.ts";
import { sameStreams } from "./streams.ts";

/** The remaining work of a run. */
export interface Resumption {
  /** What remains to be published. */
  readonly work: Work;
  /** Lines for the journal, to write before anything is sent. */
  readonly lines: readonly JournalLine[];
  /** Receipts of pieces whose rows were found in the stream. */
  readonly receipts: readonly WriteReceipt[];
  /** The number of rows that need not be sent again. */
  readonly settledRows: number;
}

/** The arguments of a resumption. */
export interface ResumeParts {
  /** The plan of the run. */
  readonly plan: PublishPlan;
  /** The inputs. */
  readonly inputs: readonly InputField[];
  /** Their batches. */
  readonly items: AsyncIterator<SourceItem, undefined>;
  /** Aborts the resumption. */
  readonly signal: AbortSignal;
}

/**
 * Determines what remains to be published. Sends nothing.
 *
 * @throws {JournalError} if continuing could lose rows or store some twice
 */
export async function resumption(state: JournalState, parts: ResumeParts): Promise<Resumption> {
  const { plan, inputs, items, signal } = parts;
  const settings = resolveOptions(plan.config);
  const work = await recheck(state, { settings, files: inputs.map(({ file }) => file), items, signal });
  const time = new Date().toISOString();
  const lines: JournalLine[] = [{ kind: "resume", time, jetrow: VERSION }];
  const receipts: WriteReceipt[] = [];
  for (const { piece } of await searchPieces(state, work.pending, parts)) {
    const { input, batch, offset, rows } = piece;
    const destination = inputs[input]!;
    const { file } = destination;
    if (piece.codes!.every(isAcknowledged)) {
      const receipt = wholeReceipt(piece, destination);
      receipts.push(receipt);
      lines.push({ kind: "receipt", time, file, input, ...receipt });
      piece.codes = undefined;
    } else lines.push({ kind: "outcomes", time, file, input, batch, offset, rows, ...outcomesOf(piece) });
  }
  const pending = work.pending.filter(({ piece }) => piece.codes !== undefined);
  const settledRows = state.pieces.reduce((sum, piece) => sum + settledOf(piece), 0);
  return { work: { ...work, pending }, lines, receipts, settledRows };
}

/** Searches the rows of pieces in the streams, once the streams are known to be the journal's. */
async function searchPieces(
  state: JournalState,
  pending: readonly PendingPiece[],
  { plan: { config }, inputs, signal }: ResumeParts,
): Promise<PendingPiece[]> {
  if (state.streams.size === 0) return [];
  const settings = resolveOptions(config);
  return await withConnection(config, signal, async (nc: NatsConnection) => {
    const streams = await sameStreams(nc, state.streams, settings, signal);
    return await settleDoubts(pending, { nc, settings, inputs, streams, signal });
  });
}

function settledOf({ codes, rows }: KnownPiece): number {
  return codes === undefined ? rows : codes.filter(isAcknowledged).length;
}
