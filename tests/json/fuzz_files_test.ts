import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import { viewRows } from "../../src/arrow/view.ts";
import { encodeRows, encodeSteps } from "../../src/json/encode.ts";
import { crc32c } from "../../src/hash/crc32c.ts";
import { toEnd } from "../../src/util/steps.ts";
import { arrowReaders, bodies, isMisread, refusalOf } from "../_support/arrow/mod.ts";
import { fuzzCases, fuzzCasesIn } from "../_support/testdata.ts";

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** A folder of more files of the same generator, from other seeds. */
const MORE = Deno.env.get("JETROW_FUZZ_FILES");
const cases = [...fuzzCases(), ...(MORE === undefined ? [] : fuzzCasesIn(new URL(`file://${MORE}/`)))];
const accepted = cases.filter((one) => one.lines !== undefined);
const refused = cases.filter((one) => one.lines === undefined);

/** What the file's description says about its refusal. */
function refusalIn(about: string): { readonly codes: string[]; readonly column: string; readonly row?: number } {
  const [, reason] = /^REFUSED: (.*)$/m.exec(about)!;
  const column = JSON.parse(/^column: (.*)$/m.exec(about)![1]!);
  const row = /^row: (\d+)$/m.exec(about)?.[1];
  const place = row === undefined ? { column } : { column, row: Number(row) };
  if (/^two columns/.test(reason!)) return { codes: ["encode.column_name"], ...place };
  if (/map key/.test(reason!)) return { codes: ["encode.map_key"], ...place };
  if (/^no JSON value/.test(reason!)) return { codes: ["encode.json"], ...place };
  return { codes: ["encode.value"], ...place };
}

function assertLines(actual: readonly Uint8Array[], expected: readonly Uint8Array[]): void {
  assert.equal(actual.length, expected.length);
  actual.forEach((body, row) => {
    // Comparing strings first gives a readable message; invalid UTF-8 is not hidden behind U+FFFD.
    assert.equal(decoder.decode(body), decoder.decode(expected[row]), `row ${row}`);
    assert.deepEqual(body.length, expected[row]!.length, `row ${row}`);
  });
}

Deno.test("all generated files are present", () => {
  if (MORE === undefined) assert.deepEqual([accepted.length, refused.length], [66, 75]);
});

/** The number of files that each library reads. */
const reads = { "apache-arrow": 0, flechette: 0 };

for (const { name: library, read } of arrowReaders) {
  for (const one of accepted) {
    const rows = read(one.ipc);
    if (rows === undefined || isMisread(library, one.about)) continue;
    reads[library]++;
    Deno.test(`encodeRows() writes the expected bytes of fuzz/${one.name}, read by ${library}`, () => {
      const encoded = encodeRows(rows);
      assertLines(bodies(encoded), one.lines!);
      assert.equal(encoded.crc32c, crc32c(encoded.bytes));
      assertLines(bodies(toEnd(encodeSteps(viewRows(rows), {}, 100))), one.lines!);
    });
  }
  for (const one of refused) {
    Deno.test(`encodeRows() refuses fuzz/${one.name}, read by ${library}`, () => {
      const { codes, column, row } = refusalIn(one.about);
      const error = refusalOf(() => encodeRows(read(one.ipc)!));
      assert.ok(codes.includes(error.code), `${error.code}: ${error.message}`);
      assert.equal(error.column, column);
      if (row !== undefined) assert.equal(error.row, row);
    });
  }
}

Deno.test("apache-arrow reads all generated files, and flechette nearly all", () => {
  assert.equal(reads["apache-arrow"], accepted.length);
  assert.ok(reads.flechette > accepted.length * 0.8, `${reads.flechette} of ${accepted.length}`);
});

for (const one of accepted) {
  Deno.test(`encodeRows() writes slices of fuzz/${one.name} as parts of the whole`, () => {
    let first = 0;
    for (const batch of arrow.tableFromIPC(one.ipc).batches) {
      for (const offset of [1, 3, 7, 8, 17]) {
        if (offset > batch.numRows) continue;
        for (const end of [offset, offset + 1, batch.numRows - 1, batch.numRows]) {
          if (end < offset || end > batch.numRows) continue;
          assertLines(bodies(encodeRows(batch.slice(offset, end))), one.lines!.slice(first + offset, first + end));
        }
      }
      first += batch.numRows;
    }
  });
}
