/** How a user would write rows as JSON without jetrow. */

import type { RecordBatch, Vector } from "apache-arrow";

const utf8 = new TextEncoder();

/** `JSON.stringify` of each row's object, with big integers as strings, and its bytes. */
export function stringifyRows(rows: Iterable<unknown>): number {
  let size = 0;
  for (const row of rows) size += stringifyRow(row).length;
  return size;
}

/** One row's bytes. */
export function stringifyRow(row: unknown): Uint8Array<ArrayBuffer> {
  // flechette's rows are plain objects.
  const object = (row as { toJSON?(): unknown }).toJSON?.() ?? row;
  return utf8.encode(JSON.stringify(object, bigIntText));
}

function bigIntText(_: string, value: unknown): unknown {
  return typeof value === "bigint" ? value.toString() : value;
}

const target = new Uint8Array(1 << 20);

/** One string per row, concatenated from one string per column, and written into one buffer by `encodeInto`. */
export function concatRows(batch: RecordBatch): number {
  const cells = batch.schema.fields.map((field, i) => {
    const key = `${i === 0 ? "{" : ","}${JSON.stringify(field.name)}:`;
    const text = cellText(field.name, batch.getChildAt(i)!);
    return (row: number) => key + text(row);
  });
  let size = 0;
  for (let row = 0; row < batch.numRows; row++) {
    let text = "";
    for (const cell of cells) text += cell(row);
    size += utf8.encodeInto(text + "}", target).written;
  }
  return size;
}

/** A column's cells as JSON; the columns are those of `tenColumns`. */
function cellText(name: string, vector: Vector): (row: number) => string {
  const or = (text: (row: number) => string) => (row: number) => vector.isValid(row) ? text(row) : "null";
  const values = vector.data[0]!.values;
  switch (name.replace(/_\d$/, "")) {
    case "id":
    case "price":
    case "ratio":
    case "seq":
      return or((row) => `${values[row]}`);
    case "created_at":
      return or((row) => {
        const micros = values[row] as bigint;
        const date = new Date(Number(micros / 1000n)).toISOString().slice(0, -1);
        return `"${date}${String(micros % 1000n).padStart(3, "0")}Z"`;
      });
    case "amount":
      return or((row) => {
        const digits = String(values[4 * row] + values[4 * row + 1] * 2 ** 32).padStart(5, "0");
        return `${digits.slice(0, -4)}.${digits.slice(-4)}`;
      });
    case "payload":
      return or((row) => `"${btoa(String.fromCharCode(...vector.get(row)))}"`);
    default:
      return (row) => JSON.stringify(vector.get(row));
  }
}
