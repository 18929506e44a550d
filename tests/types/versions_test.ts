import * as arrow21 from "apache-arrow";
import * as arrow17 from "apache-arrow-17";
import * as arrow18 from "apache-arrow-18";
import * as arrow19 from "apache-arrow-19";
import * as arrow20 from "apache-arrow-20";
import assert from "node:assert/strict";
import { encodeRows } from "../../src/json/encode.ts";
import type { ArrowRows } from "../../src/types/mod.ts";
import { bodies, refusalOf } from "../_support/arrow/mod.ts";
import { type FuzzCase, fuzzCases } from "../_support/testdata.ts";
// Type-checked with this test, never run.
import type {} from "./rows.ts";
import type {} from "./type_errors.ts";

const readers: Readonly<Record<string, (ipc: Uint8Array) => ArrowRows>> = {
  17: (ipc) => arrow17.tableFromIPC(ipc),
  18: (ipc) => arrow18.tableFromIPC(ipc),
  19: (ipc) => arrow19.tableFromIPC(ipc),
  20: (ipc) => arrow20.tableFromIPC(ipc),
  21: (ipc) => arrow21.tableFromIPC(ipc),
};
const cases = fuzzCases();

/** Before version 21, apache-arrow reads no large lists or views, and reads rows without columns as no rows. */
function readOlder(read: (ipc: Uint8Array) => ArrowRows, { ipc, about }: FuzzCase): ArrowRows | undefined {
  try {
    return about.includes("theme no_columns") ? undefined : read(ipc);
  } catch (error) {
    if (/^Unrecognized type: "(LargeList|undefined)" \((21|23|24)\)/.test((error as Error).message)) return undefined;
    throw error;
  }
}

for (const [major, read] of Object.entries(readers)) {
  Deno.test(`encodeRows() writes and refuses the same rows when apache-arrow ${major} reads them`, () => {
    let unread = 0;
    for (const one of cases) {
      const rows = major === "21" ? read(one.ipc) : readOlder(read, one);
      if (rows === undefined) unread++;
      else check(rows, one);
    }
    assert.equal(unread, major === "21" ? 0 : 37, `of ${cases.length}`);
  });
}

function check(rows: ArrowRows, { name, lines }: FuzzCase): void {
  if (lines === undefined) {
    refusalOf(() => encodeRows(rows));
    return;
  }
  const actual = bodies(encodeRows(rows));
  assert.equal(actual.length, lines.length, name);
  actual.forEach((body, row) => assert.deepEqual(body, lines[row], `${name}, row ${row}`));
}
