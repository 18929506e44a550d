/**
 * Opens the columns that options name: of ids, operations, bodies, and values of subjects and headers. A column that is
 * missing or has a wrong type is refused here, before any row is read.
 *
 * @module
 */

import { type FieldType, valueType } from "../arrow/field_type.ts";
import { bodyView, columnAt, listColumns, viewOf } from "../arrow/pick.ts";
import { type TextColumn, textColumn } from "../arrow/text_column.ts";
import type { RowsView } from "../arrow/view.ts";
import { EncodeError, type EncodeErrorCode } from "../errors/mod.ts";
import { encodeView } from "../json/encode.ts";
import type { EncodedPart, EncodeOptions } from "../json/row_encoder.ts";
import { type RowForms, rowForms } from "../json/row_forms.ts";
import { arrayColumn, scalarColumn } from "../json/scalar_column.ts";
import type { Settings } from "../options/publisher.ts";
import { rowPlaceholders } from "../subject/template.ts";
import { describe } from "../util/describe.ts";
import { isUtf8 } from "../util/utf8.ts";
import { IdIndex } from "./id_index.ts";
import type { RowValues } from "./row_texts.ts";

/** The kind of a type. UUIDs have their own, because their JSON form is a token, unlike that of other binary. */
type Kind = FieldType["kind"] | "uuid";

const SUBJECT_KINDS: ReadonlySet<Kind> = new Set(["text", "int", "bool", "date", "uuid"]);
const HEADER_KINDS: ReadonlySet<Kind> = new Set([...SUBJECT_KINDS, "decimal", "float", "time", "timestamp"]);
const ID_KINDS: ReadonlySet<Kind> = new Set([...SUBJECT_KINDS, "decimal", "timestamp", "fixed_binary"]);
const BODY_KINDS: ReadonlySet<Kind> = new Set(["text", "binary", "fixed_binary", "uuid"]);

/** What bodies are made of. */
export interface BodySource {
  /** The columns of the body. */
  readonly view: RowsView;
  /** Whether the bytes of the one column are the body. */
  readonly raw: boolean;
  /** The forms of the values. Absent: the default of each. */
  readonly forms?: RowForms | undefined;
}

/** Reads the ids of a batch. */
export interface IdSource {
  /** Reads event ids. */
  readonly column: TextColumn;
  /** A second reader of the same columns, for comparing. */
  readonly other: TextColumn;
  /** The column, for error messages; undefined if there are several. */
  readonly name: string | undefined;
  /** Ids of the rows prepared so far. */
  readonly seen: IdIndex;
}

/** Encodes bodies at once. */
export function encodeBodies({ view, raw, forms }: BodySource, options: EncodeOptions): EncodedPart {
  return encodeView(view, { ...options, raw, forms });
}

/** Opens the columns of the body. Throws EncodeErrors `encode.no_column` and `encode.type`. */
export function openBody(
  view: RowsView,
  { bodyColumns, rawBodyColumn, json }: Pick<Settings, "bodyColumns" | "rawBodyColumn" | "json">,
): BodySource {
  if (rawBodyColumn === undefined) {
    const body = bodyView(view, bodyColumns);
    return { view: body, raw: false, forms: rowForms(view, body, json) };
  }
  const at = columnAt(view, rawBodyColumn, "take bodies from");
  checkKind(view, at, BODY_KINDS, "encode.type", "take bodies from", "strings or binary");
  return { view: viewOf(view, [at]), raw: true };
}

/**
 * Opens the columns of event ids; undefined if the rows have none and the caller named none. Throws EncodeErrors
 * `encode.no_id_column` and `encode.id`.
 */
export function openIds(
  view: RowsView,
  { eventIdColumns, eventIdRequired }: Pick<Settings, "eventIdColumns" | "eventIdRequired">,
): IdSource | undefined {
  const columns = eventIdColumns.map((name) => view.names.indexOf(name));
  const missing = columns.indexOf(-1);
  if (missing >= 0) {
    if (!eventIdRequired) return undefined;
    const column = eventIdColumns[missing]!;
    throw new EncodeError(
      "encode.no_id_column",
      `Cannot take ids from column ${describe(column)}: the rows have no such column: they have ${listColumns(view)}`,
      { column },
    );
  }
  const kinds = "strings, integers, booleans, decimals, dates, timestamps or fixed-size binary";
  for (const at of columns) checkKind(view, at, ID_KINDS, "encode.id", "take ids from", kinds);
  const [first, ...rest] = columns;
  const open = (): TextColumn => rest.length === 0 ? scalarColumn(view, first!) : idArray(view, columns);
  return {
    column: open(),
    other: open(),
    name: rest.length === 0 ? eventIdColumns[0] : undefined,
    seen: new IdIndex(),
  };
}

/** Reads ids of several columns. Throws an EncodeError `encode.id` for a string that JSON cannot have as it is. */
function idArray(view: RowsView, columns: readonly number[]): TextColumn {
  const array = arrayColumn(view, columns);
  const strings = columns.filter((at) => valueType(view.types[at]!).kind === "text").map((at) => ({
    name: view.names[at]!,
    column: textColumn(view, at),
  }));
  const seek = (row: number): boolean => {
    for (const { name, column } of strings) {
      if (column.seek(row) && !isUtf8(column.bytes, column.start, column.end)) throw invalidId(row, name);
    }
    return array.seek(row);
  };
  return {
    seek,
    get bytes() {
      return array.bytes;
    },
    get start() {
      return array.start;
    },
    get end() {
      return array.end;
    },
  };
}

/** Makes the error of an event id that is not valid UTF-8. */
export function invalidId(row: number, column: string | undefined): EncodeError {
  return new EncodeError(
    "encode.id",
    `Cannot make an id of row ${row}: its event id is not valid UTF-8, and two such ids could become one`,
    { row, column },
  );
}

/** Opens the column of operations. Throws EncodeErrors `encode.no_column` and `encode.type`. */
export function openOperations(view: RowsView, column: string): TextColumn {
  const at = columnAt(view, column, "take operations from");
  checkKind(view, at, new Set(["text"]), "encode.type", "take operations from", "strings");
  return textColumn(view, at);
}

/**
 * Opens the columns that the subject and the headers name. Throws EncodeErrors `encode.no_column` and `encode.type`.
 */
export function openRowValues(
  view: RowsView,
  { subject, headers }: Pick<Settings, "subject" | "headers">,
): RowValues {
  const values = new Map<string, TextColumn>();
  const open = (template: string, kinds: ReadonlySet<Kind>, purpose: string, allowed: string): void => {
    for (const { column } of rowPlaceholders(template)) {
      const at = columnAt(view, column, purpose);
      checkKind(view, at, kinds, "encode.type", purpose, allowed);
      if (!values.has(column)) values.set(column, scalarColumn(view, at));
    }
  };
  open(subject, SUBJECT_KINDS, "take subjects from", "strings, integers, booleans, dates or UUIDs");
  const allowed = "strings, numbers, booleans, dates, times, timestamps or UUIDs";
  for (const [name, value] of headers) open(value, HEADER_KINDS, `take header ${describe(name)} from`, allowed);
  return values;
}

function checkKind(
  view: RowsView,
  at: number,
  kinds: ReadonlySet<Kind>,
  code: EncodeErrorCode,
  purpose: string,
  allowed: string,
): void {
  const type = valueType(view.types[at]!);
  if (kinds.has(type.kind === "fixed_binary" && type.uuid ? "uuid" : type.kind)) return;
  const column = view.names[at]!;
  throw new EncodeError(
    code,
    `Cannot ${purpose} column ${describe(column)}: the column must have ${allowed}: its type is ` +
      `${view.types[at]!.label}`,
    { column },
  );
}
