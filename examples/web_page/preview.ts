/** Shows a file before it is published: its columns, and its first rows as they will be written. */

import { encodeRows } from "@jetrow/jetrow/web";
import { DataType, type Field, type Table, tableFromIPC } from "apache-arrow";
import { element, number } from "./dom.ts";

const FIRST_ROWS = 8;

/** Reads a dropped file. Throws an error that says what is wrong with it. */
export async function readTable(file: File): Promise<Table> {
  const bytes = new Uint8Array(await file.arrayBuffer());
  let table: Table;
  try {
    table = tableFromIPC(bytes);
  } catch (error) {
    throw new Error(`${file.name} cannot be read as Arrow: ${(error as Error).message}`, { cause: error });
  }
  if (table.schema.fields.length === 0) throw new Error(`${file.name} cannot be read as Arrow: it has no columns`);
  encodeRows(table.slice(0, FIRST_ROWS)); // rows that jetrow refuses are refused here
  return table;
}

/** Shows columns and first rows. */
export function showTable(file: File, table: Table): void {
  const { fields } = table.schema;
  element("file-name").textContent = file.name;
  element("file-facts").textContent = [
    `${number(table.numRows)} rows`,
    `${number(fields.length)} columns`,
    `${number(file.size / 1e6, 1)} MB`,
  ].join(", ");
  const shown = Math.min(FIRST_ROWS, table.numRows);
  element("caption").textContent = shown === table.numRows
    ? "All rows, as they will be written"
    : `The first ${shown} rows, as they will be written`;
  const columns = fields.map((field) => cellsOf(table.slice(0, shown), field.name));
  element("columns").replaceChildren(...fields.map((field, column) => columnHead(field, columns[column] ?? [])));
  element("rows").replaceChildren(...Array.from({ length: shown }, (_, row) => {
    const line = document.createElement("tr");
    line.append(...columns.map((cells) => cell(cells[row] ?? "")));
    return line;
  }));
}

/** Columns that can identify a row. */
export function textColumns(table: Table): string[] {
  const isText = (type: DataType): boolean =>
    DataType.isUtf8(type) || DataType.isLargeUtf8(type) || DataType.isDictionary(type) && isText(type.dictionary);
  return table.schema.fields.filter(({ type }) => isText(type)).map(({ name }) => name);
}

/** A column's values as JSON, with every digit: a row of that column alone is `{"name":value}`. */
function cellsOf(table: Table, name: string): string[] {
  const { bytes, offsets } = encodeRows(table.select([name]));
  const key = new TextEncoder().encode(`{${JSON.stringify(name)}:`).length;
  return Array.from({ length: offsets.length - 1 }, (_, row) => {
    return new TextDecoder().decode(bytes.subarray(offsets[row]! + key, offsets[row + 1]! - 1));
  });
}

function columnHead(field: Field, cells: readonly string[]): HTMLElement {
  const head = document.createElement("th");
  if (cells.some(isNumber)) head.className = "number";
  head.scope = "col";
  const type = document.createElement("small");
  type.textContent = String(field.type);
  head.append(field.name, type);
  return head;
}

function cell(json: string): HTMLElement {
  const data = document.createElement("td");
  data.textContent = json.startsWith('"') ? JSON.parse(json) : json;
  data.title = data.textContent ?? "";
  if (isNumber(json)) data.className = "number";
  if (json === "null") data.className = "null";
  return data;
}

function isNumber(json: string): boolean {
  return /^[-\d]/.test(json);
}
