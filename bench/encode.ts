/**
 * Encoding rows as JSON, compared with code without jetrow, which also makes bodies in UTF-8, and big integers as
 * strings.
 *
 * @module
 */

import type { RecordBatch } from "apache-arrow";
import { encodeRows } from "../src/json/encode.ts";
import { type Bench, compare, type Contender, timed } from "./support/measure.ts";
import { concatRows, stringifyRows } from "./support/naive.ts";
import { fiftyColumns, tenColumns, wideStrings } from "./support/rows.ts";

const ROWS = 10_000;

/** Runs the suite. */
export async function encode(bench: Bench): Promise<void> {
  const cases: readonly (readonly [string, RecordBatch])[] = [
    ["10 columns", tenColumns(ROWS)],
    ["10 columns, 20 % nulls", tenColumns(ROWS, { nulls: 20 })],
    ["10 columns, 5 % escapes, 20 % non-ASCII", tenColumns(ROWS, { dirty: true })],
    ["50 columns", fiftyColumns(ROWS / 5)],
    ["3 strings of 500 bytes", wideStrings(ROWS / 5)],
  ];
  for (const [name, batch] of cases) {
    await compare(bench, { suite: "encode", case: name, unit: "rows" }, [
      by("jetrow", batch, encodeRows),
      by("text a row", batch, concatRows),
      by("JSON.stringify", batch, stringifyRows),
    ]);
  }
}

function by(name: string, batch: RecordBatch, work: (batch: RecordBatch) => unknown): Contender {
  return { name, run: () => timed(batch.numRows, () => work(batch)) };
}
