/** fast-check arbitraries of Arrow batches, each with the JSON of its rows. */

import * as arrow from "apache-arrow";
import fc from "fast-check";
import { fixedMakers, type Maker } from "./makers.ts";
import { dictionary, fixedList, largeList, list, pairMap, struct, textMap, union } from "./nested_makers.ts";
import { textMakers } from "./text_makers.ts";

/** A maker for every type without children. */
export const leafMakers: readonly Maker[] = [...fixedMakers, ...textMakers];

/** Any type without children, with strings more often than others. */
const anyLeaf: fc.Arbitrary<Maker> = fc.oneof(fc.constantFrom(...leafMakers), fc.constantFrom(...textMakers));

const keyLeaf = fc.constantFrom(...leafMakers.filter(({ name }) => name !== "null" && !name.includes("utf8")));
const wordLeaf = fc.constantFrom(...leafMakers.filter(({ name }) => name !== "null"));
const anyIndex = fc.constantFrom<arrow.Int>(
  new arrow.Int8(),
  new arrow.Uint8(),
  new arrow.Int16(),
  new arrow.Uint16(),
  new arrow.Int32(),
  new arrow.Uint32(),
  new arrow.Int64(),
);

function nestedOf(inner: fc.Arbitrary<Maker>): fc.Arbitrary<Maker> {
  const members = fc.array(inner, { minLength: 1, maxLength: 3 });
  return fc.oneof(
    inner.map(list) as fc.Arbitrary<Maker>,
    inner.map(largeList) as fc.Arbitrary<Maker>,
    fc.tuple(inner, fc.integer({ min: 0, max: 3 })).map(([item, size]) => fixedList(item, size)) as fc.Arbitrary<Maker>,
    members.map(struct) as fc.Arbitrary<Maker>,
    inner.map(textMap),
    fc.tuple(keyLeaf, inner).map(([key, item]) => pairMap(key, item)),
    fc.tuple(wordLeaf, anyIndex).map(([item, index]) => dictionary(item, index)),
    members.map((all) => union(all, true)),
    members.map((all) => union(all, false)),
  );
}

/** Any type, nested up to three levels. */
export const anyMaker: fc.Arbitrary<Maker> = fc.oneof(
  { weight: 2, arbitrary: anyLeaf },
  { weight: 1, arbitrary: nestedOf(anyLeaf) },
  { weight: 1, arbitrary: nestedOf(nestedOf(anyLeaf)) },
);

/** One maker of every kind, with several children for nested types: for tests of all types. */
export const allMakers: readonly Maker[] = [
  ...leafMakers,
  ...textMakers.flatMap((leaf) => [list(leaf) as Maker, struct([leaf, leafMakers[3]!]) as Maker]),
  ...leafMakers.filter(({ name }) => name !== "null").map((leaf) => dictionary(leaf, new arrow.Int32())),
  largeList(leafMakers[2]!) as Maker,
  fixedList(textMakers[2]!, 2) as Maker,
  textMap(leafMakers[3]!),
  pairMap(leafMakers[2]!, textMakers[2]!),
  union([textMakers[2]!, leafMakers[3]!], true),
  union([textMakers[2]!, leafMakers[3]!], false),
  list(
    list(struct([textMap(textMakers[0]!), union([leafMakers[0]!, leafMakers[10]!], true)]) as Maker) as Maker,
  ) as Maker,
];

/** A batch and the JSON of its rows. */
export interface MadeBatch {
  readonly batch: arrow.RecordBatch;
  readonly bodies: readonly string[];
  /** The columns' types, for messages. */
  readonly about: string;
}

/** Rows of values for these columns. */
function rowsOf(makers: readonly Maker[], rows: number): fc.Arbitrary<(unknown | null)[][]> {
  const row = fc.tuple(...makers.map((maker) => fc.option(maker.value, { nil: null, freq: 4 })));
  return fc.array(row, { minLength: rows, maxLength: rows });
}

/** A batch with columns of these makers. */
export function madeBatch(names: readonly string[], makers: readonly Maker[], rows: readonly unknown[][]): MadeBatch {
  const fields = makers.map((maker, i) => new arrow.Field(names[i]!, maker.type, true));
  const children = makers.map((maker, i) => maker.data(rows.map((row) => row[i] ?? null)));
  const struct = new arrow.Struct(fields);
  const data = arrow.makeData({ type: struct, length: rows.length, nullCount: 0, children });
  const bodies = rows.map((row) => {
    const members = makers.map((maker, i) =>
      `${JSON.stringify(names[i])}:${row[i] === null ? "null" : maker.text(row[i])}`
    );
    return `{${members.join(",")}}`;
  });
  return {
    batch: new arrow.RecordBatch(new arrow.Schema(fields), data),
    bodies,
    about: makers.map((maker, i) => `${names[i]}: ${maker.name}`).join("; "),
  };
}

/** `count` rows from `from` on, as a slice in memory, so that bits and offsets begin anywhere. */
export function sliceMade({ batch, bodies, about }: MadeBatch, from: number, count: number): MadeBatch {
  return { batch: batch.slice(from, from + count), bodies: bodies.slice(from, from + count), about };
}

/** Distinct column names. */
const anyNames = fc.uniqueArray(
  fc.oneof(
    fc.string({ maxLength: 12 }),
    fc.string({ unit: "binary", maxLength: 6 }),
    fc.constantFrom("__proto__", "1", "toJSON", "", "constructor", 'a"b', "caf\u00e9"),
  ),
  { minLength: 5, maxLength: 5 },
);

/** Options of {@linkcode anyBatch}. */
export interface AnyBatchOptions {
  /** The maximum number of rows. @default {12} */
  readonly maxRows?: number;
  /** The maximum number of columns, up to 5. @default {4} */
  readonly maxColumns?: number;
}

/** Batches of any columns and rows, whole or sliced. */
export function anyBatch(options: AnyBatchOptions = {}): fc.Arbitrary<MadeBatch> {
  const { maxRows = 12, maxColumns = 4 } = options;
  return fc.record({
    names: anyNames,
    makers: fc.array(anyMaker, { maxLength: maxColumns }),
    before: fc.nat(9),
    count: fc.nat(maxRows),
    after: fc.nat(2),
  }).chain(({ names, makers, before, count, after }) =>
    rowsOf(makers, before + count + after).map((rows) => sliceMade(madeBatch(names, makers, rows), before, count))
  );
}
