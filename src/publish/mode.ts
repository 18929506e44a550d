/**
 * The publish modes: one value for each, with everything that differs between them.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import type { PreparedRows } from "../message/prepared_rows.ts";
import type { Settings } from "../options/publisher.ts";
import { IdFinder } from "../stream/find_ids.ts";
import { currentMoment, elapsedBetween } from "../stream/resend.ts";
import { AtomicLane } from "./lanes/atomic.ts";
import { checkBatchBytes, checkBatchCount, mostRowsOfBatch } from "./lanes/atomic_batch.ts";
import type { RowFinder } from "./lanes/atomic_answer.ts";
import { FastLane } from "./lanes/fast.ts";
import { FAST_REPLY_BYTES } from "./lanes/fast_protocol.ts";
import { IndividualLane } from "./lanes/individual.ts";
import type { Lane, LaneHost } from "./lanes/lane.ts";
import type { Wire } from "./connection/wire.ts";

/** Bytes of the longest token: sixteen digits. */
const TOKEN_BYTES = 16;

/** How much longer ago than by this machine's clock a row may be stored by the server's, in milliseconds. */
const SLACK = 1000;

/** What a lane is opened with. */
export interface LaneParts {
  readonly nc: NatsConnection;
  readonly wire: Wire;
  readonly settings: Settings;
  /** The beginning of reply subjects; ends in a dot. */
  readonly inbox: string;
  readonly host: LaneHost;
}

/** A publish mode. Its needs of streams, servers and messages are in `src/stream/mode_needs.ts`. */
export interface Mode {
  /** Whether a call's rows are stored together or not at all. */
  readonly whole: boolean;
  /** Whether rows are sent as batches, so that the server refuses rows behind one that it did not receive. */
  readonly inBatches: boolean;
  /** Whether acknowledgments report each row's sequence, and whether it is a duplicate. */
  readonly reportsSequences: boolean;
  /** The most bytes of a reply subject after the inbox. */
  readonly replyTailBytes: number;
  /** Whether reply subjects have more than one token after the inbox. */
  readonly deepReplies: boolean;
  /** Returns how many rows a piece of a sequence may have at most, whatever its caller requests. */
  mostRowsOfPiece(settings: Settings): number;
  /** Checks the number of a call's rows, before they are encoded. Throws an EncodeError `encode.too_large`. */
  checkCount(count: number, settings: Settings): void;
  /** Checks the size of a call's rows, once they are encoded. Throws an EncodeError `encode.too_large`. */
  checkBytes(rows: PreparedRows, settings: Settings): void;
  /** Opens the lane that submits and settles the rows. */
  openLane(parts: LaneParts): Lane;
}

const anyNumber = (): number => Infinity;
const noLimit = (): void => {};

const MODES: Readonly<Record<Settings["publishMode"], Mode>> = {
  individual: {
    whole: false,
    inBatches: false,
    reportsSequences: true,
    replyTailBytes: TOKEN_BYTES,
    deepReplies: false,
    mostRowsOfPiece: anyNumber,
    checkCount: noLimit,
    checkBytes: noLimit,
    openLane: ({ wire, settings, inbox, host }) => new IndividualLane(wire, settings, inbox.length, host),
  },
  fast: {
    whole: false,
    inBatches: true,
    reportsSequences: false,
    replyTailBytes: FAST_REPLY_BYTES,
    deepReplies: true,
    mostRowsOfPiece: anyNumber,
    checkCount: noLimit,
    checkBytes: noLimit,
    openLane: ({ wire, settings, inbox, host }) => new FastLane(wire, settings, inbox, host),
  },
  atomic: {
    whole: true,
    inBatches: true,
    reportsSequences: true,
    replyTailBytes: TOKEN_BYTES,
    deepReplies: false,
    mostRowsOfPiece: mostRowsOfBatch,
    checkCount: checkBatchCount,
    checkBytes: checkBatchBytes,
    openLane: ({ nc, wire, settings, inbox, host }) =>
      new AtomicLane(wire, settings, inbox.length, host, rowFinder(nc, settings)),
  },
};

/** Returns the mode of a publisher. */
export function modeOf({ publishMode }: Settings): Mode {
  return MODES[publishMode];
}

function rowFinder(nc: NatsConnection, { domain, inboxPrefix }: Settings): RowFinder {
  const finder = new IdFinder(nc, { domain, inboxPrefix });
  return async (call, signal) => {
    const { stream, subject, duplicateWindow } = call.destination;
    const { rows } = call;
    const ids = Array.from({ length: rows.count }, (_, index) => rows.hasId(index) ? rows.idText(index) : "");
    // The ids that the server knew when the commit arrived: this machine may have been suspended since.
    const window = duplicateWindow + elapsedBetween(call.ledger.firstSent(0)!, currentMoment()) + SLACK;
    return await finder.find({ stream, subject, ids, since: { window } }, signal);
  };
}
