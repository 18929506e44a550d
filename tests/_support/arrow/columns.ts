/** Arrow columns made from their buffers. */

import * as arrow from "apache-arrow";

/** The parts of a Data; all others are absent. */
export interface DataParts {
  readonly offsets?: ArrayBufferView;
  readonly values?: ArrayBufferView;
  readonly typeIds?: Int8Array;
  readonly children?: readonly arrow.Data[];
  readonly dictionary?: arrow.Vector;
  readonly variadic?: readonly Uint8Array[];
}

/** A Data with these values' validity bitmap. */
export function makeColumn(type: arrow.DataType, values: readonly unknown[], parts: DataParts): arrow.Data {
  const bitmap = new Uint8Array((values.length + 7) >> 3);
  let nulls = 0;
  values.forEach((value, row) => value === null ? nulls++ : bitmap[row >> 3]! |= 1 << (row & 7));
  const buffers = [parts.offsets, parts.values, nulls > 0 ? bitmap : new Uint8Array(0), parts.typeIds];
  // deno-lint-ignore no-explicit-any
  const all: any[] = [type, 0, values.length, nulls, buffers, parts.children ?? [], parts.dictionary, parts.variadic];
  // deno-lint-ignore no-explicit-any
  return new (arrow.Data as any)(...all);
}

/** Offsets of consecutive parts with these lengths. */
export function offsetsOf(lengths: readonly number[], large: boolean): Int32Array | BigInt64Array {
  const offsets = large ? new BigInt64Array(lengths.length + 1) : new Int32Array(lengths.length + 1);
  let end = 0;
  lengths.forEach((length, i) => {
    end += length;
    if (offsets instanceof Int32Array) offsets[i + 1] = end;
    else offsets[i + 1] = BigInt(end);
  });
  return offsets;
}
