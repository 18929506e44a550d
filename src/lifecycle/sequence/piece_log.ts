/**
 * Records a sequence piece by piece, so that another process can continue it.
 *
 * @module
 */

import type { EarlierSends } from "../../stream/resend.ts";
import type { PublisherStats } from "../../types/mod.ts";

/** A piece whose rows are about to be sent. */
export interface BegunPiece {
  /** Its batch's index in the sequence. */
  readonly batch: number;
  /** Its first row, within the selected rows of its batch. */
  readonly offset: number;
  /** How many rows. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** CRC32C over the concatenated bodies. */
  readonly crc32c: number;
  /** The stream that it goes to. */
  readonly stream: string;
  /** The subject. */
  readonly subject: string;
}

/** A piece without a receipt when its sequence has failed. */
export interface LeftPiece {
  /** Its batch's index in the sequence. */
  readonly batch: number;
  /** Its first row, within the selected rows of its batch. */
  readonly offset: number;
  /**
   * The outcome of each row, as a code of outcomes.ts: also unknown if the last submission was refused, and an earlier
   * one may have stored the row.
   */
  readonly codes: Uint8Array;
  /** The stream sequence of each acknowledged row; absent where the server does not tell. */
  readonly sequences: Float64Array | undefined;
}

/**
 * Records the pieces of a sequence. An abort of such a sequence drains it: it reads no more batches and sends no more
 * rows, but waits for the acks of rows on the wire, each until its deadline, so that their outcomes are known.
 */
export interface PieceLog {
  /** Returns which rows of a batch another process may have stored, by their index among the selected rows. */
  earlier?(batch: number): EarlierSends | undefined;
  /** Called with each publisher: the first, and a new one after each lost connection. */
  opened?(stats: () => PublisherStats): void;
  /** Called with each piece before its first row is sent, in order, and awaited. If it throws, the sequence ends. */
  begin(piece: BegunPiece): Promise<void>;
  /**
   * Called once, when a sequence has failed, with the pieces that have no receipt and whose rows may have been sent. No
   * row of the other begun pieces was sent.
   */
  left(pieces: readonly LeftPiece[]): void;
}
