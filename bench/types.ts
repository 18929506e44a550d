/**
 * Encoding one column of each Arrow type, beside `JSON.stringify` of the rows that the reader of Arrow data gives.
 *
 * @module
 */

import { encodeRows } from "../src/json/encode.ts";
import { type Bench, compare, type Contender, timed } from "./support/measure.ts";
import { stringifyRows } from "./support/naive.ts";
import { everyType, type TypeRows } from "./support/type_columns.ts";

const ROWS = 4096;
/** Seconds: there are a hundred contenders. */
const WARM_UP = 0.2;
const SAMPLE = 0.05;

/** Runs the suite. */
export async function types(bench: Bench): Promise<void> {
  const all = everyType(ROWS).map((each) => ({ name: each.name, contenders: contendersOf(each) }));
  // All call sites have seen all types before the first is measured: else the first would be the fastest.
  for (const { contenders } of all) for (const contender of contenders) await contender.run();
  for (const { name, contenders } of all) {
    await compare({ ...bench, warmUp: WARM_UP }, { suite: "types", case: name, unit: "rows" }, contenders);
  }
}

function contendersOf({ rows }: TypeRows): Contender[] {
  const by = (name: string, work: () => unknown): Contender => ({ name, run: () => timed(ROWS, work, SAMPLE) });
  const jetrow = by("jetrow", () => encodeRows(rows));
  return canStringify(rows) ? [jetrow, by("JSON.stringify", () => stringifyRows(rows))] : [jetrow];
}

/** The readers have no rows for some types. */
function canStringify(rows: Iterable<unknown>): boolean {
  try {
    stringifyRows(rows);
    return true;
  } catch {
    return false;
  }
}
