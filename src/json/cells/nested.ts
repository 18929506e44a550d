/**
 * Cells of lists, structs and maps. Children write through their own cells, each with room for one cell before it.
 *
 * @module
 */

import { nullTest, wideAt } from "../../arrow/access.ts";
import type { ColumnView } from "../../arrow/column.ts";
import { Fault, malformed } from "../../arrow/fault.ts";
import { type ShapeOf, valueType } from "../../arrow/field_type.ts";
import { describeSpan, textSpan } from "../../arrow/text_span.ts";
import { type Cell, type CellMaker, unset } from "./cell.ts";
import { bareKeys, type Key, makeKey, memberKeys, NO_KEY, putKey, putNull } from "../write/key.ts";
import { keySet } from "./key_set.ts";
import { flush, FULL, scratch } from "../memory/scratch.ts";
import type { ColumnForms } from "../../options/json_forms.ts";
import { absentTest, sparseCells } from "./sparse.ts";

const { bytes } = scratch;

const COMMA = 44;
const COLON = 58;
const OPEN_ARRAY = 91;
const CLOSE_ARRAY = 93;
const OPEN_OBJECT = 123;
const CLOSE_OBJECT = 125;

/** The items of a slot: `first` up to `last`. Two functions, so that no pair is allocated. */
interface Extent {
  first(slot: number): number;
  last(slot: number, first: number): number;
}

function extentOf(column: ColumnView, type: ShapeOf<"list"> | ShapeOf<"map">): Extent {
  const { offsets, sizes } = column;
  if (type.kind === "map") return between((slot) => offsets[slot]!);
  const { size } = type;
  switch (type.layout) {
    case "offsets":
      return between((slot) => offsets[slot]!);
    case "large_offsets":
      return between((slot) => wideAt(offsets, slot));
    case "views":
      return { first: (slot) => offsets[slot]!, last: (slot, first) => first + sizes[slot]! };
    case "large_views":
      return { first: (slot) => wideAt(offsets, slot), last: (slot, first) => first + wideAt(sizes, slot) };
    case "fixed":
      return { first: (slot) => slot * size, last: (_slot, first) => first + size };
  }
}

function between(offset: (slot: number) => number): Extent {
  return { first: offset, last: (slot) => offset(slot + 1) };
}

function checkExtent(first: number, last: number, length: number): void {
  if (!(first >= 0 && first <= last && last <= length)) {
    malformed(`items ${first} to ${last} are outside of its ${length}`);
  }
}

/** Returns the cell of a list column of any layout. */
export function listCell(column: ColumnView, key: Key, type: ShapeOf<"list">, make: CellMaker): Cell {
  const { bits, bitOffset } = column;
  const items = column.children[0]!;
  const item = make(items, NO_KEY, items.length);
  const extent = extentOf(column, type);
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    const first = extent.first(slot);
    const last = extent.last(slot, first);
    checkExtent(first, last, items.length);
    let p = putKey(position, key);
    bytes[p++] = OPEN_ARRAY;
    for (let at = first; at < last; at++) {
      if (p > FULL) p = flush(p);
      p = item(at, p);
      bytes[p++] = COMMA;
    }
    return close(p, CLOSE_ARRAY, last > first);
  };
}

/** Closes a container, replacing the last comma if there is one. */
function close(position: number, closer: number, afterComma: boolean): number {
  const p = afterComma ? position - 1 : position;
  bytes[p] = closer;
  return p + 1;
}

/** Returns the cell of a struct column that leaves out null members. */
export function sparseStructCell(
  column: ColumnView,
  key: Key,
  type: ShapeOf<"struct">,
  slots: number,
  make: CellMaker,
  forms: ColumnForms,
): Cell {
  const names = bareKeys(type.fields, ({ name }) => name);
  const members = sparseCells(column.children.map((child, at) => ({
    cell: make(child, names[at]!, slots),
    absent: absentTest(child, forms),
  })));
  return membersCell(column, key, members);
}

/** Returns the cell of a struct column. */
export function structCell(
  column: ColumnView,
  key: Key,
  type: ShapeOf<"struct">,
  slots: number,
  make: CellMaker,
): Cell {
  const names = memberKeys(type.fields, ({ name }) => name);
  return membersCell(column, key, names.map((name, at) => make(column.children[at]!, name, slots)));
}

function membersCell(column: ColumnView, key: Key, fields: readonly Cell[]): Cell {
  const empty = makeKey("{}");
  const { bits, bitOffset } = column;
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    let p = putKey(position, key);
    if (fields.length === 0) return putKey(p, empty);
    for (let at = 0; at < fields.length; at++) {
      if (p > FULL) p = flush(p);
      p = fields[at]!(slot, p);
    }
    bytes[p] = CLOSE_OBJECT;
    return p + 1;
  };
}

/** Returns the cell of a map column: an object if the keys are strings, otherwise pairs. */
export function mapCell(column: ColumnView, key: Key, type: ShapeOf<"map">, make: CellMaker): Cell {
  const [keys, values] = column.children as [ColumnView, ColumnView];
  const { bits, bitOffset } = column;
  const length = Math.min(keys.length, values.length);
  const extent = extentOf(column, type);
  const keyed = valueType(type.key).kind === "text";
  const entry = keyed ? member(keys, values, length, make) : pair(keys, values, length, make);
  const [open, shut] = keyed ? [OPEN_OBJECT, CLOSE_OBJECT] : [OPEN_ARRAY, CLOSE_ARRAY];
  return (slot, position) => {
    if (bits !== undefined && unset(bits, bitOffset + slot)) return putNull(position, key);
    const first = extent.first(slot);
    const last = extent.last(slot, first);
    checkExtent(first, last, length);
    let p = putKey(position, key);
    bytes[p++] = open;
    entry.begin();
    for (let at = first; at < last; at++) {
      if (p > FULL) p = flush(p);
      p = entry.put(at, p);
      bytes[p++] = COMMA;
    }
    return close(p, shut, last > first);
  };
}

interface Entry {
  begin(): void;
  put: Cell;
}

function member(keys: ColumnView, values: ColumnView, length: number, make: CellMaker): Entry {
  const span = textSpan(keys);
  const seen = keySet();
  const name = make(keys, NO_KEY, length);
  const value = make(values, NO_KEY, length);
  return {
    begin: () => seen.clear(),
    put(slot, position) {
      if (!span.seek(slot)) throw new Fault("encode.map_key", "a map's key must not be null");
      if (!seen.add(span.bytes, span.start, span.end)) {
        throw new Fault("encode.map_key", `a map's keys must differ: ${describeSpan(span)} is there twice`);
      }
      let p = name(slot, position);
      bytes[p++] = COLON;
      if (p > FULL) p = flush(p);
      return value(slot, p);
    },
  };
}

function pair(keys: ColumnView, values: ColumnView, length: number, make: CellMaker): Entry {
  const absent = nullTest(keys);
  const first = make(keys, NO_KEY, length);
  const second = make(values, makeKey(","), length);
  return {
    begin: () => {},
    put(slot, position) {
      if (absent(slot)) throw new Fault("encode.map_key", "a map's key must not be null");
      bytes[position] = OPEN_ARRAY;
      let p = first(slot, position + 1);
      if (p > FULL) p = flush(p);
      p = second(slot, p);
      bytes[p] = CLOSE_ARRAY;
      return p + 1;
    },
  };
}
