/**
 * Sums receipts by resource.
 *
 * @module
 */

import type { ResourceTotal, RunReceipt, WriteReceipt } from "../types/mod.ts";

/** Totals that grow by receipts. A sum of duplicates is absent once one receipt did not tell them. */
export class Totals {
  readonly #byResource = new Map<string, ResourceTotal>();

  /** Adds a receipt. */
  add(receipt: WriteReceipt): void {
    const { resource, stream, rows, bytes, duplicates, offset } = receipt;
    // Each batch has one first piece, however many pieces it was published in.
    const batches = offset === 0 ? 1 : 0;
    this.#put({ resource, stream, rows, bytes, batches, ...(duplicates === undefined ? {} : { duplicates }) });
  }

  #put(added: ResourceTotal): void {
    const known = this.#byResource.get(added.resource);
    if (known === undefined) return void this.#byResource.set(added.resource, added);
    const { resource, stream } = known;
    const duplicates = known.duplicates === undefined || added.duplicates === undefined
      ? undefined
      : known.duplicates + added.duplicates;
    this.#byResource.set(resource, {
      resource,
      stream,
      rows: known.rows + added.rows,
      bytes: known.bytes + added.bytes,
      batches: known.batches + added.batches,
      ...(duplicates === undefined ? {} : { duplicates }),
    });
  }

  /** The totals, sorted by resource name (by code units, so that every machine sorts alike). */
  list(): ResourceTotal[] {
    return [...this.#byResource.values()].sort((a, b) =>
      a.resource < b.resource ? -1 : a.resource > b.resource ? 1 : 0
    );
  }

  /** The totals of everything. */
  receipt(): RunReceipt {
    const resources = this.list();
    const sum = (key: "rows" | "bytes") => resources.reduce((total, resource) => total + resource[key], 0);
    const told = resources.every(({ duplicates }) => duplicates !== undefined);
    return {
      resources,
      rows: sum("rows"),
      bytes: sum("bytes"),
      ...(told ? { duplicates: resources.reduce((total, { duplicates }) => total + duplicates!, 0) } : {}),
    };
  }
}
