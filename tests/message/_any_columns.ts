/** Random tables, and options that name their columns. */

import * as arrow from "apache-arrow";
import fc from "fast-check";
import { fixedMakers, type Maker } from "../_support/arrow/makers.ts";
import { dictionary } from "../_support/arrow/nested_makers.ts";
import { textMakers } from "../_support/arrow/text_makers.ts";
import {
  type ColumnOptions,
  FOR_HEADERS,
  FOR_IDS,
  FOR_SUBJECTS,
  isBinary,
  isText,
  type ModelTable,
} from "./_columns_model.ts";

const encoder = new TextEncoder();

const leaves: readonly Maker[] = [...fixedMakers, ...textMakers].filter(({ name }) =>
  !/null|interval|duration/.test(name)
);
const anyLeaf = fc.constantFrom(...leaves);

/** Makers of columns that most tables have: strings that are tokens, and some that are not. */
function words(values: fc.Arbitrary<string>, name: string): Maker {
  const utf8 = textMakers.find((maker) => maker.name === "utf8")!;
  return { ...utf8, name: `utf8 ${name}`, value: values.map((value) => encoder.encode(value)) };
}

const tokens = words(fc.constantFrom("eu", "us", "apac", "\u00e4", "100%", "$KV", "a-b_c"), "tokens");
const odd = words(
  fc.constantFrom("eu", "", "a.b", "*", "x y", "\u2003", "$JS", "z\r\nNats-TTL: 1", "Nats-Msg-Id"),
  "odd",
);
const operations = words(fc.constantFrom("insert", "update", "delete"), "operations");

/** Makers of columns. With `clean`, nearly all values are valid for every option. */
export function anyColumn(clean: boolean): fc.Arbitrary<Maker> {
  const simple = clean
    ? fc.constantFrom(tokens, ...fixedMakers.slice(0, 8))
    : fc.oneof(fc.constantFrom(tokens, odd), anyLeaf);
  const index = fc.constantFrom<arrow.Int>(new arrow.Int8(), new arrow.Int32(), new arrow.Int64());
  return fc.oneof(
    { weight: 3, arbitrary: simple },
    { weight: 1, arbitrary: fc.tuple(simple, index).map(([maker, of]) => dictionary(maker, of)) },
  );
}

/** Column names that a template must accept unchanged. */
const NAMES = ["a", "b.c", "d e", "_filament_event_id", "op"];

/** Tables with five columns, the last of which has operations. */
export function anyTable(rowCount: number, clean: boolean): fc.Arbitrary<ModelTable> {
  return fc.array(anyColumn(clean), { minLength: 4, maxLength: 4 }).chain((columns) => {
    const makers = [...columns, operations];
    const row = fc.tuple(
      ...makers.map((maker, at) => at === 4 || clean ? maker.value : fc.option(maker.value, { nil: null, freq: 6 })),
    );
    return fc.array(row, { minLength: rowCount, maxLength: rowCount }).map((rows) => ({ names: NAMES, makers, rows }));
  });
}

/** A placeholder for one of the columns. */
function placeholder(names: readonly string[]): fc.Arbitrary<string> {
  return fc.tuple(fc.constantFrom(...names), fc.constantFrom("", "", "|none", "|-")).map(([name, rest]) =>
    `{row.${name}${rest}}`
  );
}

/** Options for a table: valid ones, most of which name columns of a type that they accept. */
export function anyOptions({ names, makers }: ModelTable, clean: boolean): fc.Arbitrary<ColumnOptions> {
  const of = (fits: (maker: Maker) => boolean): readonly string[] => {
    const fitting = names.filter((_, at) => fits(makers[at]!));
    return clean || fitting.length === 0
      ? (fitting.length === 0 ? ["op"] : fitting)
      : [...fitting, ...fitting, names[0]!];
  };
  const subject = fc.oneof(
    fc.constant("orders.{resource}"),
    placeholder(of(FOR_SUBJECTS)).map((one) => `orders.${one}`),
    fc.tuple(placeholder(of(FOR_SUBJECTS)), placeholder(of(FOR_SUBJECTS))).map(([one, two]) =>
      `orders.x-${one}-${two}.{resource}.${one}`
    ),
  );
  const value = fc.array(fc.oneof(placeholder(of(FOR_HEADERS)), fc.constantFrom("plain", " ", ":")), { maxLength: 3 })
    .map((parts) => parts.join(""));
  const ids = of(FOR_IDS);
  return fc.record({
    subject,
    subjectEscape: fc.constantFrom("none" as const, "percent" as const),
    headers: fc.tuple(value, value, fc.constant("fixed")).map(([one, two, last]) => ({
      "X-One": one,
      "X-Two": two,
      "X-Last": last,
    })),
    eventIdColumn: fc.oneof(
      fc.constantFrom(...ids),
      fc.uniqueArray(fc.constantFrom(...ids), { minLength: 1, maxLength: 3 }),
    ),
    operationColumn: fc.constantFrom("op"),
    operationValues: fc.constantFrom({ insert: "insert", update: "delete", delete: "update" } as const),
    bodyColumns: fc.oneof(
      fc.uniqueArray(fc.constantFrom(...names), { minLength: 1 }).map((pick) => ({ pick })),
      fc.uniqueArray(fc.constantFrom(...names)).map((omit) => ({ omit })),
    ),
    rawBodyColumn: fc.constantFrom(...of((maker) => isText(maker) || isBinary(maker))),
    contentType: fc.constantFrom("text/plain", "application/json; charset=utf-8"),
  }, { requiredKeys: ["subject"] }).map(({ operationValues, rawBodyColumn, bodyColumns, ...options }) => ({
    ...options,
    ...(options.operationColumn && operationValues ? { operationValues } : {}),
    ...(bodyColumns ? { bodyColumns } : rawBodyColumn ? { rawBodyColumn } : {}),
  }));
}
