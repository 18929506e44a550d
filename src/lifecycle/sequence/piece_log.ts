/**
 * A record of a sequence, piece by piece, with which another process can continue it.
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

/** A piece that has no receipt though its sequence is over. */
export interface LeftPiece {
  /** Its batch's index in the sequence. */
  readonly batch: number;
  /** Its first row, within the selected rows of its batch. */
  readonly offset: number;
  /**
   * What is known of each row; see outcomes.ts. Of unknown fate, too, are rows with ids that were sent more than once.
   */
  readonly codes: Uint8Array;
  /** The stream sequence of each acknowledged row; absent where the server does not tell. */
  readonly sequences: Float64Array | undefined;
}

/**
 * Records the pieces of a sequence. An abort of such a sequence drains: no more batches are asked for and no more rows
 * submitted, but rows on the wire are waited for, each until its deadline, so that their outcomes are known.
 */
export interface PieceLog {
  /** Returns which rows of a batch another process may have stored, by their index among the selected rows. */
  earlier?(batch: number): EarlierSends | undefined;
  /** Told of each publisher: the first, and another one after a lost connection. */
  opened?(stats: () => PublisherStats): void;
  /** Told of a piece before its first row is sent, in order, and awaited; what it throws ends the sequence. */
  begin(piece: BegunPiece): Promise<void>;
  /**
   * Told once, when a sequence has failed, of the pieces whose rows can have been sent and that have no receipt. Of
   * others that were begun nothing was sent.
   */
  left(pieces: readonly LeftPiece[]): void;
}
