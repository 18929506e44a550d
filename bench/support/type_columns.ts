/** A column of each Arrow type, with typical values, the same every time. */

import {
  columnFromArray,
  int32 as flechetteInt32,
  runEndEncoded,
  tableFromColumns,
  utf8 as text,
} from "@uwdata/flechette";
import * as arrow from "apache-arrow";
import type { ArrowRows } from "../../src/types/mod.ts";
import { batchOf, scramble } from "../../tests/_support/arrow/batches.ts";
import { makeColumn } from "../../tests/_support/arrow/columns.ts";
import { fixedMakers, type Maker } from "../../tests/_support/arrow/makers.ts";
import {
  dictionary,
  fixedList,
  largeList,
  list,
  pairMap,
  struct,
  textMap,
  union,
} from "../../tests/_support/arrow/nested_makers.ts";
import { textMakers, utf8 } from "../../tests/_support/arrow/text_makers.ts";

/** Rows of one column. The rows of every library can be iterated. */
export interface TypeRows {
  readonly name: string;
  readonly rows: ArrowRows & Iterable<unknown>;
}

type Value = (row: number) => unknown;

const encoder = new TextEncoder();
const WORDS = ["new", "paid", "packed", "shipped", "delivered", "returned"].map((word) => encoder.encode(word));
/** 1 January 2024 in seconds and in days. */
const SECOND = 1_704_067_200n;
const DAY = 19_723;

const makers = new Map([...fixedMakers, ...textMakers].map((maker) => [maker.name, maker]));

function made(name: string): Maker {
  const maker = makers.get(name);
  if (maker === undefined) throw new Error(`no maker is called ${name}`);
  return maker;
}

const int = (row: number): bigint => BigInt.asIntN(32, BigInt(scramble(row)));
const long = (row: number): bigint => 1_000_000_000_000n + BigInt(scramble(row));
const small = (row: number): bigint => BigInt(scramble(row) % 100);
const fraction = (row: number): number => scramble(row) / 2 ** 32 + scramble(row + 1) / 2 ** 64;
const sentence = (row: number): Uint8Array => encoder.encode(`order ${scramble(row)} placed at the counter`);
const word = (row: number): Uint8Array => WORDS[scramble(row) % WORDS.length]!;
const bytes = (row: number): Uint8Array => Uint8Array.from({ length: 16 }, (_, i) => scramble(16 * row + i));
/** Times of a unit, with all the unit's digits: seconds from `first` on, less than `below`. */
const moment = (digits: number, first: bigint, below = 1n << 32n): Value => (row) =>
  (first + BigInt(scramble(row)) % below) * 10n ** BigInt(digits) + BigInt(scramble(row + 1)) % 10n ** BigInt(digits);

const int32 = made("int32");
const members = [int32, utf8 as Maker];
const eitherMember = (row: number) => row % 2 === 0 ? [0, int(row)] : [1, word(row)];
const four = (row: number) => [0, 1, 2, 3].map((i) => int(4 * row + i));
const LONG_AGO = 1n << 26n;

/** A type's name, the maker of its column, its values, and its field's metadata. */
const TYPES: readonly (readonly [string, Maker, Value, Readonly<Record<string, string>>?])[] = [
  ["null", made("null"), () => null],
  ["bool", made("bool"), (row) => scramble(row) % 2 === 1],
  ["int8", made("int8"), (row) => BigInt.asIntN(8, int(row))],
  ["int16", made("int16"), (row) => BigInt.asIntN(16, int(row))],
  ["int32", int32, int],
  ["int64", made("int64"), long],
  ["uint8", made("uint8"), (row) => BigInt.asUintN(8, int(row))],
  ["uint16", made("uint16"), (row) => BigInt.asUintN(16, int(row))],
  ["uint32", made("uint32"), (row) => BigInt(scramble(row))],
  ["uint64", made("uint64"), long],
  ["float32", made("float32"), fraction],
  ["float64", made("float64"), fraction],
  ["float64, two decimals", made("float64"), (row) => scramble(row) % 1e6 / 100],
  ["decimal32(9, 2)", made("decimal32(9, 2)"), (row) => BigInt(scramble(row) % 1e9)],
  ["decimal64(18, 18)", made("decimal64(18, 18)"), (row) => long(row) * 1000n],
  ["decimal128(18, 4)", made("decimal128(18, 4)"), long],
  ["decimal128(38, -3)", made("decimal128(38, -3)"), (row) => -long(row)],
  ["decimal256(76, 40)", made("decimal256(76, 40)"), (row) => long(row) ** 5n],
  ["utf8", utf8 as Maker, sentence],
  ["utf8, not ASCII", utf8 as Maker, (row) => encoder.encode(`commande ${scramble(row)} reçue à Zürich, 東京`)],
  ["large utf8", made("large utf8"), sentence],
  ["utf8 view", made("utf8 view"), sentence],
  [
    "utf8, json",
    utf8 as Maker,
    (row) => encoder.encode(`{"id":${scramble(row)},"tags":["a","b"],"ok":true}`),
    { "filament.logical": "json" },
  ],
  ["utf8, decimal", utf8 as Maker, (row) => encoder.encode(`${scramble(row)}.25`), { "filament.logical": "decimal" }],
  ["binary", made("binary"), bytes],
  ["large binary", made("large binary"), bytes],
  ["binary view", made("binary view"), bytes],
  ["fixed size binary, 16", made("fixed binary 16"), bytes],
  ["uuid", made("fixed binary 16"), bytes, { "ARROW:extension:name": "arrow.uuid" }],
  ["date32", made("date32"), (row) => BigInt(DAY + scramble(row) % 4000)],
  ["date64", made("date64"), (row) => BigInt(DAY + scramble(row) % 4000) * 86_400_000n],
  ["time32[s]", made("time 0"), moment(0, 0n, 86_400n)],
  ["time32[ms]", made("time 3"), moment(3, 0n, 86_400n)],
  ["time64[us]", made("time 6"), moment(6, 0n, 86_400n)],
  ["time64[ns]", made("time 9"), moment(9, 0n, 86_400n)],
  ["timestamp[s]", made("timestamp 0 no zone"), moment(0, SECOND, LONG_AGO)],
  ["timestamp[ms, UTC]", made("timestamp 3 UTC"), moment(3, SECOND, LONG_AGO)],
  ["timestamp[us]", made("timestamp 6 no zone"), moment(6, SECOND, LONG_AGO)],
  ["timestamp[ns, Europe/Paris]", made("timestamp 9 Europe/Paris"), moment(9, SECOND, LONG_AGO)],
  ["duration[s]", made("duration 0"), moment(0, 0n, 86_400n)],
  ["duration[ms]", made("duration 3"), moment(3, 0n, 86_400n)],
  ["duration[us]", made("duration 6"), moment(6, 0n, 86_400n)],
  ["duration[ns]", made("duration 9"), moment(9, 0n, 86_400n)],
  ["interval[months]", made("interval months"), small],
  ["interval[days, ms]", made("interval days"), (row) => [small(row), int(row) & 0xffffffn]],
  ["interval[months, days, ns]", made("interval nanos"), (row) => [small(row), small(row + 1), long(row)]],
  ["list of 4 int32", list(int32) as Maker, four],
  ["large list of 4 int32", largeList(int32) as Maker, four],
  ["fixed size list of 4 int32", fixedList(int32, 4) as Maker, four],
  ["struct of int32 and utf8", struct(members) as Maker, (row) => [int(row), word(row)]],
  ["map of 2, utf8 to int32", textMap(int32), (row) => [[WORDS[0], int(row)], [WORDS[1], int(row + 1)]]],
  ["map of 2, int32 to utf8", pairMap(int32, utf8 as Maker), (row) => [[1n, word(row)], [2n, word(row + 1)]]],
  ["dense union of int32 and utf8", union(members, true), eitherMember],
  ["sparse union of int32 and utf8", union(members, false), eitherMember],
  ["dictionary of utf8", dictionary(utf8 as Maker, new arrow.Int32()), word],
];

/** A column of each type that a reader of Arrow data can have. */
export function everyType(rows: number): TypeRows[] {
  const numbers = Array.from({ length: rows }, (_, row) => row);
  const usual = TYPES.map(([name, { data }, value, metadata = {}]): TypeRows => {
    const column = { name: "c", data: data(numbers.map(value)), metadata: new Map(Object.entries(metadata)) };
    return { name, rows: batchOf([column], rows) };
  });
  const at = usual.findIndex(({ name }) => name === "float32");
  return [...usual.slice(0, at), halfFloats(numbers), ...usual.slice(at), runs(numbers)];
}

/** Made from bits, all finite: Node 20 cannot write half floats. */
function halfFloats(numbers: readonly number[]): TypeRows {
  const values = Uint16Array.from(numbers, (row) => scramble(row) & 0x3bff);
  return {
    name: "float16",
    rows: batchOf([{ name: "c", data: makeColumn(new arrow.Float16(), numbers, { values }) }]),
  };
}

/** Runs of four rows, which flechette reads and apache-arrow does not. */
function runs(numbers: readonly number[]): TypeRows {
  const decoder = new TextDecoder();
  const words = numbers.map((row) => decoder.decode(word(row >> 2)));
  const column = columnFromArray(words, runEndEncoded(flechetteInt32(), text()));
  return { name: "run-end encoded utf8", rows: tableFromColumns({ c: column }) as unknown as TypeRows["rows"] };
}
