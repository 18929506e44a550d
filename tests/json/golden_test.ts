import assert from "node:assert/strict";
import { encodeRows } from "../../src/json/encode.ts";
import { arrowReaders, bodyTexts, refusalOf } from "../_support/arrow_readers.ts";
import { renderIntegrationJson } from "../_support/integration_json.ts";
import { goldenCases, readGolden, readGoldenJson } from "../_support/testdata.ts";

/** Two columns of one name, which the rows of a JSON object cannot have. */
const REFUSED: Readonly<Record<string, string>> = { generated_duplicate_fieldnames: "encode.column_name" };

/** What apache-arrow 21.2 does not read. */
const ONLY_FLECHETTE = ["generated_list_view", "generated_run_end_encoded"];

const cases = goldenCases();

Deno.test("the integration files are all here", () => {
  assert.equal(cases.length, 32);
  assert.equal(cases.flatMap(({ files }) => files).length, 35);
});

for (const { name, files } of cases) {
  for (const file of files) {
    for (const { name: library, read } of arrowReaders) {
      if (library === "apache-arrow" && ONLY_FLECHETTE.includes(name)) continue;
      Deno.test(`encodeRows() writes ${file}, read by ${library}, as its JSON form says`, async () => {
        const rows = read(readGolden(file));
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
