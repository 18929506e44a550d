import assert from "node:assert/strict";
import type { ColumnView } from "../../../src/arrow/column.ts";
import { isIntact } from "../../../src/arrow/intact.ts";
import { type RowsView, viewRows } from "../../../src/arrow/view.ts";
import { EncodeError } from "../../../src/errors/mod.ts";
import { encodeView } from "../../../src/json/encode.ts";
import { batchOf, bodyStrings, textColumn } from "../../_support/arrow/mod.ts";

const textOf = (row: number): string => `the string of row ${row}`;

/** Rows whose strings are views, each into a buffer of its own; `looks` counts the reads of buffers. */
function viewsOf(
  rows: number,
): { readonly view: RowsView; readonly buffers: Uint8Array[]; readonly looks: () => number } {
  const buffers = Array.from({ length: rows }, (_, row) => new TextEncoder().encode(textOf(row)));
  const words = Int32Array.from({ length: 4 * rows }, (_, i) => [buffers[i >> 2]!.length, 0, i >> 2, 0][i & 3]!);
  let looks = 0;
  const counted = new Proxy(buffers, {
    get(target, key) {
      if (typeof key === "string" && /^\d+$/.test(key)) looks++;
      return Reflect.get(target, key, target);
    },
  });
  const base = viewRows(batchOf([textColumn("a", ["x"])]));
  const [text] = base.chunks[0]!.columns;
  const type = { ...text!.type, layout: "views" } as ColumnView["type"];
  const bytes = new Uint8Array(words.buffer);
  const elements = words.length + bytes.length;
  const column: ColumnView = {
    ...text!,
    type,
    length: rows,
    readable: rows,
    offsets: new Int32Array(0),
    words,
    bytes,
    buffers: counted,
    elements,
  };
  assert.ok(isIntact(column));
  looks = 0;
  const chunks = [{ ...base.chunks[0]!, rowCount: rows, columns: [column] }];
  return { view: { ...base, rowCount: rows, types: [type], chunks }, buffers, looks: () => looks };
}

Deno.test("a piece of string views reads the buffers of its own rows only", () => {
  const rows = 2000;
  const { view, looks } = viewsOf(rows);
  const bodies: string[] = [];
  for (let from = 0; from < rows; from += 10) bodies.push(...bodyStrings(encodeView(view, { from, count: 10 })));
  assert.deepEqual(bodies, Array.from({ length: rows }, (_, row) => JSON.stringify({ a: textOf(row) })));
  assert.ok(looks() <= 3 * rows, `${looks()} looks at buffers for ${rows} rows`);
});

Deno.test("encodeView() refuses a string view into a buffer that was transferred", () => {
  const { view, buffers } = viewsOf(3);
  structuredClone(buffers[1]!.buffer, { transfer: [buffers[1]!.buffer as ArrayBuffer] });
  assert.equal(bodyStrings(encodeView(view, { from: 0, count: 1 })).length, 1);
  assert.throws(
    () => encodeView(view),
    (error) => error instanceof EncodeError && error.code === "encode.malformed" && /transferred/.test(error.message),
  );
});
