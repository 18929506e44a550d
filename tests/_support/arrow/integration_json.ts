/**
 * A slow second encoder, for tests: it reads the values of Arrow's integration files from their JSON form and writes
 * each row's body by strings and BigInts. It shares no code with the encoder under test.
 */

import { daysText, decimalText, durationText, floatText, intervalText, timestampText, timeText } from "./plain_json.ts";

interface IntegrationType {
  readonly name: string;
  readonly bitWidth?: number;
  readonly precision?: number | string;
  readonly scale?: number;
  readonly unit?: string;
  readonly timezone?: string;
  readonly listSize?: number;
  readonly mode?: string;
  readonly typeIds?: readonly number[];
}

interface IntegrationField {
  readonly name: string;
  readonly type: IntegrationType;
  readonly children?: readonly IntegrationField[];
  readonly dictionary?: { readonly id: number };
  readonly metadata?: readonly { readonly key: string; readonly value: string }[];
}

interface IntegrationView {
  readonly SIZE: number;
  readonly INLINED?: string;
  readonly BUFFER_INDEX?: number;
  readonly OFFSET?: number;
}

interface IntegrationColumn {
  readonly count: number;
  readonly VALIDITY?: readonly number[];
  // deno-lint-ignore no-explicit-any
  readonly DATA?: readonly any[];
  readonly OFFSET?: readonly (number | string)[];
  readonly SIZE?: readonly (number | string)[];
  readonly TYPE_ID?: readonly number[];
  readonly VIEWS?: readonly IntegrationView[];
  readonly VARIADIC_DATA_BUFFERS?: readonly string[];
  readonly children?: readonly IntegrationColumn[];
}

interface IntegrationFile {
  readonly schema: { readonly fields: readonly IntegrationField[] };
  readonly batches: readonly { readonly count: number; readonly columns: readonly IntegrationColumn[] }[];
  readonly dictionaries?: readonly { readonly id: number; readonly data: { readonly columns: IntegrationColumn[] } }[];
}

type Dictionaries = ReadonlyMap<number, IntegrationColumn>;

const UNIT_DIGITS: Readonly<Record<string, number>> = { SECOND: 0, MILLISECOND: 3, MICROSECOND: 6, NANOSECOND: 9 };

/** The body of every row of an integration file, from its JSON. */
export function renderIntegrationJson(text: string): string[] {
  // Nanoseconds are numbers beyond 2^53; as strings they keep their digits.
  const file: IntegrationFile = JSON.parse(text.replace(/("nanoseconds": *)(-?\d+)/g, '$1"$2"'));
  const dictionaries = new Map((file.dictionaries ?? []).map(({ id, data }) => [id, data.columns[0]!]));
  return file.batches.flatMap(({ count, columns }) =>
    Array.from({ length: count }, (_, row) => object(file.schema.fields, columns, row, dictionaries))
  );
}

function object(
  fields: readonly IntegrationField[],
  columns: readonly IntegrationColumn[],
  row: number,
  dictionaries: Dictionaries,
): string {
  const members = fields.map((field, i) =>
    `${JSON.stringify(field.name)}:${value(field, columns[i]!, row, dictionaries)}`
  );
  return `{${members.join(",")}}`;
}

function value(field: IntegrationField, column: IntegrationColumn, row: number, dictionaries: Dictionaries): string {
  if (field.type.name === "null" || column.VALIDITY?.[row] === 0) return "null";
  if (field.dictionary !== undefined) {
    const { dictionary, ...plain } = field;
    return value(plain, dictionaries.get(dictionary.id)!, Number(column.DATA![row]), dictionaries);
  }
  return nested(field, column, row, dictionaries) ?? leaf(field, column, row);
}

function nested(
  field: IntegrationField,
  column: IntegrationColumn,
  row: number,
  dictionaries: Dictionaries,
): string | undefined {
  const fields = field.children ?? [];
  const columns = column.children ?? [];
  const items = (start: number, count: number): string[] =>
    Array.from({ length: count }, (_, i) => value(fields[0]!, columns[0]!, start + i, dictionaries));
  switch (field.type.name) {
    case "list":
    case "largelist": {
      const start = Number(column.OFFSET![row]);
      return `[${items(start, Number(column.OFFSET![row + 1]) - start).join(",")}]`;
    }
    case "listview":
    case "largelistview":
      return `[${items(Number(column.OFFSET![row]), Number(column.SIZE![row])).join(",")}]`;
    case "fixedsizelist":
      return `[${items(row * field.type.listSize!, field.type.listSize!).join(",")}]`;
    case "struct":
      return object(fields, columns, row, dictionaries);
    case "map":
      return map(field, column, row, dictionaries);
    case "union": {
      const child = field.type.typeIds!.indexOf(column.TYPE_ID![row]!);
      const childRow = field.type.mode === "DENSE" ? Number(column.OFFSET![row]) : row;
      return value(fields[child]!, columns[child]!, childRow, dictionaries);
    }
    case "runendencoded": {
      const run = columns[0]!.DATA!.findIndex((end) => Number(end) > row);
      return value(fields[1]!, columns[1]!, run, dictionaries);
    }
    default:
      return undefined;
  }
}

function map(field: IntegrationField, column: IntegrationColumn, row: number, dictionaries: Dictionaries): string {
  const [keyField, valueField] = field.children![0]!.children!;
  const [keys, values] = column.children![0]!.children!;
  const named = ["utf8", "largeutf8", "utf8view"].includes(keyField!.type.name);
  const parts: string[] = [];
  for (let i = Number(column.OFFSET![row]); i < Number(column.OFFSET![row + 1]); i++) {
    const key = value(keyField!, keys!, i, dictionaries);
    const item = value(valueField!, values!, i, dictionaries);
    parts.push(named ? `${key}:${item}` : `[${key},${item}]`);
  }
  return named ? `{${parts.join(",")}}` : `[${parts.join(",")}]`;
}

function leaf(field: IntegrationField, column: IntegrationColumn, row: number): string {
  const { type } = field;
  const data = column.DATA?.[row];
  switch (type.name) {
    case "bool":
    case "int":
      return String(data);
    case "floatingpoint":
      return floatText(data, String(type.precision));
    case "decimal":
      return decimalText(BigInt(data), type.scale!);
    case "utf8":
    case "largeutf8":
      return JSON.stringify(data);
    case "utf8view":
      return JSON.stringify(new TextDecoder("utf-8", { ignoreBOM: true }).decode(viewBytes(column, row, false)));
    case "binary":
    case "largebinary":
      return base64(hexBytes(data));
    case "binaryview":
      return base64(viewBytes(column, row, true));
    case "fixedsizebinary":
      return isUuid(field) ? uuid(data) : base64(hexBytes(data));
    default:
      return `"${temporal(type, data)}"`;
  }
}

// deno-lint-ignore no-explicit-any
function temporal(type: IntegrationType, data: any): string {
  const digits = UNIT_DIGITS[type.unit!]!;
  switch (type.name) {
    case "date":
      return type.unit === "DAY" ? daysText(BigInt(data), 32) : daysText(floorDiv(BigInt(data), 86_400_000n));
    case "time":
      return timeText(BigInt(data), digits);
    case "timestamp":
      return timestampText(BigInt(data), digits, type.timezone !== undefined && type.timezone !== "");
    case "duration":
      return durationText(BigInt(data), digits);
    case "interval":
      if (type.unit === "YEAR_MONTH") return intervalText(BigInt(data), 0n, 0n, 0);
      return type.unit === "DAY_TIME"
        ? intervalText(0n, BigInt(data.days), BigInt(data.milliseconds), 3)
        : intervalText(BigInt(data.months), BigInt(data.days), BigInt(data.nanoseconds), 9);
    default:
      throw new TypeError(`This oracle does not know the type ${type.name}`);
  }
}

function floorDiv(a: bigint, b: bigint): bigint {
  return a < 0n && a % b !== 0n ? a / b - 1n : a / b;
}

function viewBytes(column: IntegrationColumn, row: number, hex: boolean): Uint8Array {
  const { SIZE, INLINED, BUFFER_INDEX, OFFSET } = column.VIEWS![row]!;
  if (INLINED !== undefined) return hex ? hexBytes(INLINED) : new TextEncoder().encode(INLINED);
  return hexBytes(column.VARIADIC_DATA_BUFFERS![BUFFER_INDEX!]!).subarray(OFFSET!, OFFSET! + SIZE);
}

function hexBytes(hex: string): Uint8Array {
  return Uint8Array.from(hex.match(/../g) ?? [], (pair) => parseInt(pair, 16));
}

function base64(bytes: Uint8Array): string {
  return `"${btoa(String.fromCharCode(...bytes))}"`;
}

function isUuid(field: IntegrationField): boolean {
  return (field.metadata ?? []).some(({ key, value }) => key === "ARROW:extension:name" && value === "arrow.uuid");
}

function uuid(hex: string): string {
  const [, ...parts] = /^(.{8})(.{4})(.{4})(.{4})(.{12})$/.exec(hex.toLowerCase())!;
  return `"${parts.join("-")}"`;
}
