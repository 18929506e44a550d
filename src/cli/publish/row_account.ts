/**
 * Counts the outcomes of a run's rows.
 *
 * @module
 */

import type { LeftPiece } from "../../lifecycle/sequence/piece_log.ts";
import { ACKED, DUPLICATE, REJECTED, UNKNOWN } from "../../publish/outcomes.ts";
import type { WriteReceipt } from "../../types/mod.ts";
import { formatNumber, rowsOf } from "../report.ts";

/** The rows that a run has sent, by outcome. */
export class RowAccount {
  readonly #total: number | undefined;
  #acked = 0;
  #rejected = 0;
  #unknown = 0;
  #printed = 0;
  #lost = 0;

  /** Creates an account of a run that is to send `total` rows, if known. */
  constructor(total: number | undefined) {
    this.#total = total;
  }

  /** Counts the rows of a receipt. */
  acknowledge({ rows }: WriteReceipt): void {
    this.#acked += rows;
  }

  /** Counts rows whose receipt was printed. */
  print(rows: number): void {
    this.#printed += rows;
  }

  /** Counts the rows of pieces that have no receipt when the run has failed. */
  leave(pieces: readonly LeftPiece[]): void {
    for (const { codes } of pieces) {
      for (const code of codes) {
        if (code === ACKED || code === DUPLICATE) this.#acked++;
        else if (code === REJECTED) this.#rejected++;
        else if (code === UNKNOWN) this.#unknown++;
      }
    }
  }

  /** Counts no row as acknowledged any more: a stream was deleted, and its acknowledged rows with it. */
  loseAcknowledged(): void {
    this.#lost += this.#acked;
    this.#acked = this.#printed = 0;
  }

  /** Returns whether any row may have reached the server. */
  get hasSent(): boolean {
    return this.#acked + this.#lost + this.#rejected + this.#unknown > 0;
  }

  /** Returns the counts as a line. */
  get line(): string {
    if (!this.hasSent) return "no row was published";
    const without = this.#acked - this.#printed;
    const unsent = (this.#total ?? 0) - this.#acked - this.#lost - this.#rejected - this.#unknown;
    const lost = "acknowledged before a stream was deleted (they may no longer be stored, whatever their receipts say)";
    const counts: readonly (readonly [count: number, what: string])[] = [
      [this.#lost, lost],
      [this.#rejected, "rejected"],
      [this.#unknown, "of unknown fate (sent and not answered: they may or may not be stored)"],
      [unsent, "not sent"],
    ];
    return [
      `${rowsOf(this.#acked)} acknowledged${receiptsText(this.#acked, without)}`,
      ...counts.filter(([count]) => count > 0).map(([count, what]) => `${formatNumber(count)} ${what}`),
    ].join(", ");
  }
}

function receiptsText(acked: number, without: number): string {
  if (acked === 0) return "";
  return without > 0
    ? ` (${formatNumber(without)} of them without a printed receipt)`
    : " (all of them in printed receipts)";
}
