/**
 * Encoding rows as JSON, beside what one writes without jetrow: those have bodies in UTF-8 too, and big integers as texts.
 *
 * @module
 */

import { Int32, type RecordBatch } from "apache-arrow";
import fc from "fast-check";
import { encodeRows } from "../src/json/encode.ts";
import { batchOf } from "../tests/_support/batches.ts";
import { fixedMakers, type Maker } from "../tests/_support/makers.ts";
import { dictionary, fixedList, list, struct, textMap, union } from "../tests/_support/nested_makers.ts";
import { textMakers, utf8 } from "../tests/_support/text_makers.ts";
import { type Bench, compare, type Contender, timed } from "./support/measure.ts";
import { concatRows, stringifyRows } from "./support/naive.ts";
import { fiftyColumns, tenColumns, wideStrings } from "./support/rows.ts";

const ROWS = 10_000;
const ROWS_OF_A_TYPE = 2000;

/** Runs the suite. */
export async function encode(bench: Bench): Promise<void> {
  const cases: readonly (readonly [string, RecordBatch])[] = [
    ["10 columns", tenColumns(ROWS)],
    ["10 columns, 20 % nulls", tenColumns(ROWS, { nulls: 20 })],
    ["10 columns, 5 % escapes, 20 % non-ASCII", tenColumns(ROWS, { dirty: true })],
    ["50 columns", fiftyColumns(ROWS / 5)],
    ["3 texts of 500 bytes", wideStrings(ROWS / 5)],
  ];
  for (const [name, batch] of cases) await one(bench, name, batch, [by("text a row", batch, concatRows)]);
  for (const maker of bench.quick ? [] : everyType()) {
    const batch = columnOf(maker);
    if (batch === undefined) bench.say(`${maker.name} skipped: this runtime cannot make such values`);
    else await one(bench, `1 column, ${maker.name}`, batch, []);
  }
}

async function one(bench: Bench, name: string, batch: RecordBatch, more: readonly Contender[]): Promise<void> {
  const contenders = [by("jetrow", batch, encodeRows), ...more];
  if (canStringify(batch)) contenders.push(by("JSON.stringify", batch, stringifyRows));
  await compare(bench, { suite: "encode", case: name, unit: "rows" }, contenders);
}

function by(name: string, batch: RecordBatch, work: (batch: RecordBatch) => unknown): Contender {
  return { name, run: () => timed(batch.numRows, () => work(batch)) };
}

/** apache-arrow has no rows for some types. */
function canStringify(batch: RecordBatch): boolean {
  try {
    stringifyRows(batch);
    return true;
  } catch {
    return false;
  }
}

function everyType(): Maker[] {
  const int = fixedMakers.find(({ name }) => name === "int32") ?? fixedMakers[0]!;
  const nested = [list(int), fixedList(int, 4), struct([int, utf8]), textMap(int), union([int, utf8], true)];
  return [...fixedMakers, ...textMakers, ...nested, dictionary(utf8, new Int32())];
}

/** A column of a type; undefined where the runtime is too old to make its values, as Node 20 is for half floats. */
function columnOf({ value, data }: Maker): RecordBatch | undefined {
  const values = fc.sample(value, { numRuns: ROWS_OF_A_TYPE, seed: 7 });
  try {
    return batchOf([{ name: "c", data: data(values) }], values.length);
  } catch {
    return undefined;
  }
}
