/**
 * Encoding one column of each Arrow type, compared with `JSON.stringify` of the rows of the Arrow reader.
 *
 * @module
 */

import { encodeRows } from "../src/json/encode.ts";
import { type Bench, compare, type Contender, timed } from "./support/measure.ts";
import { stringifyRows } from "./support/naive.ts";
import { everyType, type TypeRows } from "./support/type_columns.ts";

const ROWS = 4096;
/** Seconds; short, since there are a hundred contenders. */
const WARM_UP = 0.2;
const SAMPLE = 0.05;

/** Runs the suite. */
export async function types(bench: Bench): Promise<void> {
  const all = everyType(ROWS).map((each) => ({ name: each.name, contenders: contendersOf(each) }));
  // Call sites see all types before the first is measured, otherwise the first would be the fastest.
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
