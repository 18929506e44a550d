import assert from "node:assert/strict";
import { encodeRows } from "../../src/json/encode.ts";
import { arrowReaders, bodyStrings, refusalOf, renderIntegrationJson } from "../_support/arrow/mod.ts";
import { goldenCases, readGolden, readGoldenJson } from "../_support/testdata.ts";

/** Files with two columns of the same name, which a JSON object cannot have. */
const REFUSED: Readonly<Record<string, string>> = { generated_duplicate_fieldnames: "encode.column_name" };

/** Files that one of the two libraries cannot read. */
const UNREAD = [
  "apache-arrow generated_list_view.stream",
  "apache-arrow generated_run_end_encoded.stream",
  "flechette generated_nested_dictionary.stream",
];

const cases = goldenCases();

Deno.test("all integration files are present", () => {
  assert.equal(cases.length, 32);
  assert.equal(cases.flatMap(({ files }) => files).length, 35);
});

for (const { name, files } of cases) {
  for (const file of files) {
    for (const { name: library, read } of arrowReaders) {
      Deno.test(`encodeRows() writes ${file}, read by ${library}, as its JSON form says`, async () => {
        const rows = read(readGolden(file));
        assert.equal(rows === undefined, UNREAD.includes(`${library} ${file}`));
        if (rows === undefined) return;
        const refused = REFUSED[name];
        if (refused !== undefined) {
          assert.equal(refusalOf(() => encodeRows(rows)).code, refused);
          return;
        }
        const expected = renderIntegrationJson(await readGoldenJson(name));
        const bodies = bodyStrings(encodeRows(rows));
        assert.equal(bodies.length, expected.length);
        bodies.forEach((text, row) => assert.equal(text, expected[row], `row ${row}`));
      });
    }
  }
}
