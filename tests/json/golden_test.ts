import assert from "node:assert/strict";
import { encodeRows } from "../../src/json/encode.ts";
import { arrowReaders, bodyTexts, refusalOf, renderIntegrationJson } from "../_support/arrow/mod.ts";
import { goldenCases, readGolden, readGoldenJson } from "../_support/testdata.ts";

/** Two columns of one name, which the rows of a JSON object cannot have. */
const REFUSED: Readonly<Record<string, string>> = { generated_duplicate_fieldnames: "encode.column_name" };

/** Files of which one of the two libraries reads nothing. */
const UNREAD = [
  "apache-arrow generated_list_view.stream",
  "apache-arrow generated_run_end_encoded.stream",
  "flechette generated_nested_dictionary.stream",
];

const cases = goldenCases();

Deno.test("the integration files are all here", () => {
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
        const texts = bodyTexts(encodeRows(rows));
        assert.equal(texts.length, expected.length);
        texts.forEach((text, row) => assert.equal(text, expected[row], `row ${row}`));
      });
    }
  }
}
