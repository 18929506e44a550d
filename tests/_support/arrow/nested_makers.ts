/** Makers of columns of nested types, from makers of their children. */

import * as arrow from "apache-arrow";
import fc from "fast-check";
import { makeColumn, offsetsOf } from "./columns.ts";
import type { Maker } from "./makers.ts";
import { utf8 } from "./text_makers.ts";

/** A null in the dictionary that an index points at. */
const NULL_WORD = Symbol("a null of the dictionary");

/** The content below a null parent: the previous value, which must not be written. */
function filled<V>(values: readonly (V | null)[]): (V | null)[] {
  let last: V | null = null;
  return values.map((value) => last = value ?? last);
}

/** A value or a null slot. */
function orNull<V>(value: fc.Arbitrary<V>): fc.Arbitrary<V | null> {
  return fc.option(value, { nil: null, freq: 4 });
}

function textOf<V>(maker: Maker<V>, value: V | null): string {
  return value === null ? "null" : maker.text(value);
}

function listOf(name: string, item: Maker, large: boolean): Maker<unknown[]> {
  const field = new arrow.Field("item", item.type, true);
  const type = large ? new arrow.LargeList(field) : new arrow.List(field);
  return {
    name: `${name}<${item.name}>`,
    type,
    value: fc.array(orNull(item.value), { maxLength: 4 }),
    text: (value) => `[${value.map((one) => textOf(item, one)).join(",")}]`,
    data: (values) =>
      makeColumn(type, values, {
        offsets: offsetsOf(filled(values).map((value) => value?.length ?? 0), large),
        children: [item.data(filled(values).flatMap((value) => value ?? []))],
      }),
  };
}

/** List of a maker's values. */
export const list = (item: Maker): Maker<unknown[]> => listOf("list", item, false);

/** LargeList of a maker's values. */
export const largeList = (item: Maker): Maker<unknown[]> => listOf("large list", item, true);

/** FixedSizeList of a maker's values. */
export function fixedList(item: Maker, size: number): Maker<unknown[]> {
  const type = new arrow.FixedSizeList(size, new arrow.Field("item", item.type, true));
  return {
    name: `fixed list ${size}<${item.name}>`,
    type,
    value: fc.array(orNull(item.value), { minLength: size, maxLength: size }),
    text: (value) => `[${value.map((one) => textOf(item, one)).join(",")}]`,
    data: (values) =>
      makeColumn(type, values, {
        children: [item.data(filled(values).flatMap((value) => value ?? new Array(size).fill(null)))],
      }),
  };
}

/** Struct of fields `f0`, `f1` and so on. */
export function struct(fields: readonly Maker[]): Maker<unknown[]> {
  const type = new arrow.Struct(fields.map((field, i) => new arrow.Field(`f${i}`, field.type, true)));
  return {
    name: `struct<${fields.map((field) => field.name).join(", ")}>`,
    type,
    value: fc.tuple(...fields.map((field) => orNull(field.value))),
    text: (value) => `{${fields.map((field, i) => `"f${i}":${textOf(field, value[i])}`).join(",")}}`,
    data: (values) =>
      makeColumn(type, values, {
        children: fields.map((field, i) => field.data(filled(values).map((value) => value?.[i] ?? null))),
      }),
  };
}

function mapOf(key: Maker, item: Maker, entries: fc.Arbitrary<[unknown, unknown][]>, named: boolean): Maker {
  const entry = new arrow.Struct([new arrow.Field("key", key.type, false), new arrow.Field("value", item.type, true)]);
  const type = new arrow.Map_(
    new arrow.Field("entries", entry as arrow.Struct<{ key: arrow.DataType; value: arrow.DataType }>, false),
  );
  const maker: Maker<[unknown, unknown][]> = {
    name: `map<${key.name}, ${item.name}>`,
    type,
    value: entries,
    text(value) {
      const parts = value.map(([k, v]) => [key.text(k), textOf(item, v)]);
      return named
        ? `{${parts.map(([k, v]) => `${k}:${v}`).join(",")}}`
        : `[${parts.map(([k, v]) => `[${k},${v}]`).join(",")}]`;
    },
    data(values) {
      const pairs = values.flatMap((value) => value ?? []);
      const children = [key.data(pairs.map(([k]) => k)), item.data(pairs.map(([, v]) => v))];
      return makeColumn(type, values, {
        offsets: offsetsOf(values.map((value) => value?.length ?? 0), false),
        children: [makeColumn(entry, pairs, { children })],
      });
    },
  };
  return maker as Maker;
}

/** Map with distinct string keys. */
export function textMap(item: Maker): Maker {
  const pair = fc.tuple(utf8.value, orNull(item.value));
  const entries = fc.uniqueArray(pair, { selector: ([key]) => utf8.text(key), maxLength: 3 });
  return mapOf(utf8 as Maker, item, entries, true);
}

/** Map with keys that are not strings. */
export function pairMap(key: Maker, item: Maker): Maker {
  return mapOf(key, item, fc.array(fc.tuple(key.value, orNull(item.value)), { maxLength: 3 }), false);
}

/** Dictionary of a maker's values; nulls are alternately in the index and in the dictionary. */
export function dictionary(item: Maker, index: arrow.Int): Maker {
  const type = new arrow.Dictionary(item.type, index as arrow.Int32);
  return {
    name: `dictionary<${item.name}, ${index}>`,
    type,
    value: item.value,
    text: item.text,
    data(values) {
      const words = [...values.filter((value) => value !== null), null];
      let word = 0;
      const slots = values.map((value, row) => value ?? (row % 2 === 0 ? NULL_WORD : null));
      const places = slots.map((slot) => slot === null ? 77 : slot === NULL_WORD ? words.length - 1 : word++);
      const indices = index.bitWidth === 64
        ? BigInt64Array.from(places, BigInt)
        : (index.ArrayType as unknown as Int32ArrayConstructor).from(places);
      return makeColumn(type, slots, { values: indices, dictionary: new arrow.Vector([item.data(words)]) });
    },
  };
}

/** Union of makers with type ids 5, 7, 9 and so on. A null is one of the first child. */
export function union(members: readonly Maker[], dense: boolean): Maker {
  const ids = members.map((_, i) => 5 + 2 * i);
  const fields = members.map((member, i) => new arrow.Field(`u${i}`, member.type, true));
  const type = dense ? new arrow.DenseUnion(ids, fields) : new arrow.SparseUnion(ids, fields);
  const value = fc.nat(members.length - 1).chain((member) =>
    fc.tuple(fc.constant(member), orNull(members[member]!.value))
  );
  const maker: Maker<[number, unknown]> = {
    name: `${dense ? "dense" : "sparse"} union<${members.map((member) => member.name).join(", ")}>`,
    type,
    value,
    text: ([member, inner]) => textOf(members[member]!, inner),
    data(values) {
      const slots = values.map((slot): [number, unknown] => slot ?? [0, null]);
      const counts = members.map(() => 0);
      const offsets = Int32Array.from(slots, ([member]) => counts[member]!++);
      const children = members.map((member, i) =>
        member.data(
          dense
            ? slots.filter(([of]) => of === i).map(([, inner]) => inner)
            : slots.map(([of, inner]) => of === i ? inner : null),
        )
      );
      const typeIds = Int8Array.from(slots, ([member]) => ids[member]!);
      return makeColumn(type, slots, dense ? { offsets, typeIds, children } : { typeIds, children });
    },
  };
  return maker as Maker;
}
