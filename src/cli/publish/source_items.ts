/**
 * The batches of all inputs, one after another.
 *
 * @module
 */

import { type LooseType, TypeId, typeName } from "../../arrow/type_id.ts";
import type { ArrowBatch, ArrowField } from "../../types/mod.ts";
import type { OpenSource } from "../input/open.ts";

/** A batch of an input. */
export interface SourceItem {
  /** Index of the input. */
  readonly input: number;
  /** Index of the batch in it. */
  readonly batch: number;
  /** The rows. */
  readonly rows: ArrowBatch;
}

/** Iterates over the batches, which are read on demand. */
export class SourceItems implements AsyncIterator<SourceItem> {
  readonly #items: AsyncGenerator<SourceItem, undefined>;
  #reading = false;

  /** Iterates over the batches of inputs; `onSchema` is called with each input's columns before its first batch. */
  constructor(sources: readonly OpenSource[], onSchema: (input: number, schema: readonly string[]) => void) {
    this.#items = itemsOf(sources, onSchema);
  }

  /** The next batch. */
  async next(): Promise<IteratorResult<SourceItem, undefined>> {
    this.#reading = true;
    try {
      return await this.#items.next();
    } finally {
      this.#reading = false;
    }
  }

  /** Closes the inputs; an input that is producing a batch at the moment is abandoned. */
  async return(): Promise<IteratorResult<SourceItem, undefined>> {
    const closing = this.#items.return(undefined);
    if (this.#reading) closing.catch(() => {});
    else await closing;
    return { done: true, value: undefined };
  }
}

async function* itemsOf(
  sources: readonly OpenSource[],
  onSchema: (input: number, schema: readonly string[]) => void,
): AsyncGenerator<SourceItem, undefined> {
  for (const [input, source] of sources.entries()) {
    let batch = 0;
    for await (const rows of source.input.batches()) {
      if (batch === 0) onSchema(input, rows.schema.fields.map(columnOf));
      yield { input, batch: batch++, rows };
    }
  }
}

/** Describes everything that decides how a column is written. */
function columnOf({ name, type, metadata }: ArrowField): string {
  const more = [...(metadata ?? [])].map(([key, value]) => `${key}=${value}`).sort();
  return `${name}: ${typeOf(type)}${more.length === 0 ? "" : ` {${more.join(", ")}}`}`;
}

function typeOf(type: LooseType): string {
  const zone = type.timezone ? ` ${type.timezone}` : "";
  const values = type.typeId === TypeId.Dictionary ? [typeOf(type.dictionary as LooseType)] : [];
  const children = Array.isArray(type.children) ? type.children.map((child: ArrowField) => columnOf(child)) : [];
  const parts = [...values, ...children];
  return `${typeName(type)}${zone}${parts.length === 0 ? "" : `<${parts.join(", ")}>`}`;
}
