/**
 * A piece of a batch on its way to the stream, over one connection after another where it has to.
 *
 * @module
 */

import { PublishError } from "../errors.ts";
import { encodeView } from "../json/encode.ts";
import { IdIndex } from "../message/id_index.ts";
import type { RowRange } from "../message/prepare.ts";
import type { BatchSource } from "../publish/batch_source.ts";
import type { PublisherCore } from "../publish/core.ts";
import type { Delivery } from "../publish/delivery.ts";
import { ACKED, DUPLICATE, UNKNOWN } from "../publish/outcomes.ts";
import { makeReceipt, receiptOf } from "../publish/receipt.ts";
import type { RowBatch, WriteReceipt } from "../types.ts";

/** A batch of a sequence, and what is known of its rows. */
export interface Part {
  /** Its index in the sequence. */
  readonly index: number;
  /** The batch as it was given. */
  readonly batch: RowBatch;
  /** The batch, open. */
  readonly source: BatchSource;
  /** Outcomes of its selected rows; see outcomes.ts. */
  readonly codes: Uint8Array;
  /** Whether any of its rows was submitted. */
  sent: boolean;
}

/** What several deliveries of one piece came to. */
interface Merged {
  readonly codes: Uint8Array;
  readonly sequences: Float64Array;
  /** The indices within the piece of the rows that the current delivery carries. */
  rows: readonly number[];
}

/** A piece of a batch. */
export class Piece {
  /** Its batch. */
  readonly part: Part;
  /** Index of its first row among the selected rows of the batch. */
  readonly from: number;
  /** When its first row can have been sent, in milliseconds of `performance.now()`. */
  readonly since: number;
  /** Its rows' current way. */
  delivery: Delivery;
  #merged: Merged | undefined;

  /** Starts a piece: of fewer rows than the range has where their bodies pass a piece's limit. */
  constructor(core: PublisherCore, part: Part, range: RowRange, signal: AbortSignal | undefined) {
    this.part = part;
    this.from = range.from;
    this.since = performance.now();
    this.delivery = core.start(part.source, range, signal, true);
  }

  /** Takes what the delivery that has ended came to. */
  note(): void {
    const { delivery, part } = this;
    if (delivery.rows === undefined) return;
    part.sent ||= delivery.sent;
    const merged = this.#merged;
    merged?.rows.forEach((row, i) => {
      merged.codes[row] = delivery.codes[i]!;
      merged.sequences[row] = delivery.sequences[i]!;
    });
    part.codes.set(merged?.codes ?? delivery.codes, this.from);
  }

  /** Whether every row is acknowledged, once the delivery has ended. */
  get complete(): boolean {
    return this.delivery.rows !== undefined && this.delivery.complete;
  }

  /** Why its rows may not go again: some are of unknown fate, and could be stored twice. */
  whyNotAgain(publishTimeout: number): string | undefined {
    const { delivery } = this;
    const window = delivery.destination?.duplicateWindow ?? 0;
    const late = performance.now() - this.since >= window - publishTimeout;
    for (let i = 0; i < delivery.count; i++) {
      if (delivery.codes[i] !== UNKNOWN) continue;
      if (!delivery.rows!.hasId(i)) return `row ${delivery.rows!.rowNumber(i)} is of unknown fate and has no id`;
      if (late) {
        return `row ${
          delivery.rows!.rowNumber(i)
        } is of unknown fate, and the duplicate window of ${window} ms less the ` +
          `publish timeout has passed since it was sent`;
      }
    }
  }

  /** Sends what is not acknowledged again; the whole piece where it is stored as a whole. */
  resume(core: PublisherCore, signal: AbortSignal | undefined): void {
    const { codes, sequences } = this.delivery;
    const merged: Merged = this.#merged ??= { codes, sequences, rows: [] };
    const whole = core.settings.publishMode === "atomic";
    merged.rows = [...merged.codes.keys()].filter((row) =>
      whole || (merged.codes[row] !== ACKED && merged.codes[row] !== DUPLICATE)
    );
    const { source } = this.part;
    const only = merged.rows.map((row) => source.only?.[this.from + row] ?? this.from + row);
    const again: BatchSource = {
      ...source,
      only,
      selected: only.length,
      ...(source.seen === undefined ? {} : { seen: new IdIndex(only.length) }),
    };
    this.delivery = core.start(again, { from: 0, count: only.length }, signal, false);
  }

  /** The receipt of a complete piece, whatever number of deliveries it took. */
  receipt(): WriteReceipt {
    const merged = this.#merged;
    if (merged === undefined) return receiptOf(this.delivery, this.part.index);
    const { source, index } = this.part;
    const { bytes, crc32c } = encodeView(source.view, {
      ...(source.only === undefined ? {} : { only: source.only }),
      from: this.from,
      count: merged.codes.length,
    });
    return makeReceipt({
      destination: this.delivery.destination!,
      rows: merged.codes.length,
      bytes: bytes.length,
      crc32c,
      duplicates: merged.codes.filter((code) => code === DUPLICATE).length,
      sequences: merged.sequences,
      batch: index,
      offset: this.from,
    });
  }
}

/** Whether an error says what became of rows. */
export function isPublishError(error: unknown): error is PublishError {
  return error instanceof PublishError;
}
