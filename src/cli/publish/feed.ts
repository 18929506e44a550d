/**
 * The batches that are passed to a publisher, and the position of each in the inputs.
 *
 * @module
 */

import type { EarlierSends } from "../../stream/resend.ts";
import type { Operation, RowBatch } from "../../types/mod.ts";
import type { KnownPiece } from "../journal/piece.ts";
import { unsettledOf } from "../journal/piece.ts";
import type { SourceItem } from "./source_items.ts";

/** A piece in the journal whose rows are sent again. */
export interface PendingPiece {
  /** The journal's record of it. */
  readonly piece: KnownPiece;
  /** The batch that it is part of. */
  readonly item: SourceItem;
  /** The indices, in the piece, of rows that may be stored although they are sent again. */
  earlier?: EarlierSends;
}

/** The remaining work. */
export interface Work {
  /** Pieces that were begun. */
  readonly pending: readonly PendingPiece[];
  /** The batch that was begun last: its rows from `from` on. */
  readonly rest: { readonly item: SourceItem; readonly from: number } | undefined;
  /** The batches after it. */
  readonly items: AsyncIterator<SourceItem, undefined>;
}

/** The position of a batch of the feed. */
export interface Place {
  /** Index of its input. */
  readonly input: number;
  /** Index of its batch in the input. */
  readonly batch: number;
  /** The first of its rows in that batch, if they are consecutive. */
  readonly base: number;
  /** The piece that is sent again, and the indices of the rows that are. */
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

  /** Creates a feed of the remaining work; `resources` by input. Without `operations`, a column has them. */
  constructor(work: Work, resources: readonly string[], operations: Operation | undefined) {
    this.#work = work;
    this.#resources = resources;
    this.#operations = operations;
  }

  /** Returns the position of the `index`th batch; undefined if it was not yielded yet, or is forgotten. */
  placeOf(index: number): Place | undefined {
    return this.#places.get(index);
  }

  /** Forgets the positions of the batches before the `index`th, since an input may have any number of them. */
  forget(index: number): void {
    for (; this.#forgotten < index; this.#forgotten++) this.#places.delete(this.#forgotten);
  }

  /** Yields the batches, once. */
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
