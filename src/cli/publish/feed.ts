/**
 * What is given to a publisher, and where each batch of it comes from.
 *
 * @module
 */

import type { EarlierSends } from "../../stream/resend.ts";
import type { Operation, RowBatch } from "../../types/mod.ts";
import type { KnownPiece } from "../journal/piece.ts";
import { unsettledOf } from "../journal/piece.ts";
import type { SourceItem } from "./source_items.ts";

/** A piece that a journal has begun, to be sent again. */
export interface PendingPiece {
  /** What the journal knows of it. */
  readonly piece: KnownPiece;
  /** The batch that it is part of. */
  readonly item: SourceItem;
  /** Which of its rows may be stored, if they are to be sent again, by their index in the piece. */
  earlier?: EarlierSends;
}

/** What is left to publish. */
export interface Work {
  /** Pieces that were begun. */
  readonly pending: readonly PendingPiece[];
  /** The batch that was begun last: its rows from `from` on. */
  readonly rest: { readonly item: SourceItem; readonly from: number } | undefined;
  /** The batches behind it. */
  readonly items: AsyncIterator<SourceItem, undefined>;
}

/** Where a batch of the feed comes from. */
export interface Place {
  /** Index of its input. */
  readonly input: number;
  /** Index of its batch in the input. */
  readonly batch: number;
  /** The first of its rows in that batch, where they follow each other. */
  readonly base: number;
  /** The piece that is sent again, and the indices of those of its rows that are. */
  readonly again: { readonly pending: PendingPiece; readonly rows: readonly number[] } | undefined;
}

/** A sequence of batches for a publisher. */
export class Feed {
  readonly #work: Work;
  readonly #resources: readonly string[];
  readonly #operations: Operation | undefined;
  readonly #places = new Map<number, Place>();
  #given = 0;
  #forgotten = 0;

  /** A feed of what is left; `resources` by input. Without `operations`, a column has them. */
  constructor(work: Work, resources: readonly string[], operations: Operation | undefined) {
    this.#work = work;
    this.#resources = resources;
    this.#operations = operations;
  }

  /** Where the `index`th batch comes from; undefined for one that was not given, or is forgotten. */
  placeOf(index: number): Place | undefined {
    return this.#places.get(index);
  }

  /** Forgets where the batches before the `index`th came from: an input may have any number of them. */
  forget(index: number): void {
    for (; this.#forgotten < index; this.#forgotten++) this.#places.delete(this.#forgotten);
  }

  /** The batches; once. */
  async *batches(): AsyncGenerator<RowBatch> {
    const { pending, rest, items } = this.#work;
    try {
      for (const one of pending) {
        const rows = unsettledOf(one.piece);
        yield this.#batch(one.item, rows.map((row) => one.piece.offset + row), { pending: one, rows });
      }
      if (rest !== undefined) {
        const count = rest.item.rows.numRows - rest.from;
        yield this.#batch(rest.item, Array.from({ length: count }, (_, i) => rest.from + i));
      }
      for (let next = await items.next(); !next.done; next = await items.next()) yield this.#batch(next.value);
    } finally {
      await items.return?.();
    }
  }

  #batch({ input, batch, rows }: SourceItem, only?: readonly number[], again?: Place["again"]): RowBatch {
    this.#places.set(this.#given++, { input, batch, base: only?.[0] ?? 0, again });
    const operations = this.#operations;
    const all = { resource: this.#resources[input]!, rows, ...(operations && { operations }) };
    return only === undefined ? all : { ...all, only };
  }
}
