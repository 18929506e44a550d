/**
 * The rows of Arrow libraries, by their shape alone.
 *
 * @module
 */

/**
 * A field of an Arrow schema, as apache-arrow and flechette both have it.
 *
 * @example
 * ```ts
 * import type { ArrowField } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const field: ArrowField = tableFromArrays({ id: [1] }).schema.fields[0]!;
 * assert.equal(field.name, "id");
 * ```
 */
export interface ArrowField {
  /** The column's name. */
  readonly name: string;
  /** The library's own type object; told apart by its `typeId`. */
  readonly type: { readonly typeId: number };
  /** Key and value metadata, where there is any. */
  readonly metadata?: ReadonlyMap<string, string> | null;
}

/**
 * An Arrow schema.
 *
 * @example
 * ```ts
 * import type { ArrowSchema } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const schema: ArrowSchema = tableFromArrays({ id: [1], name: ["a"] }).schema;
 * assert.deepEqual(schema.fields.map(({ name }) => name), ["id", "name"]);
 * ```
 */
export interface ArrowSchema {
  /** The columns, in order. */
  readonly fields: readonly ArrowField[];
}

/**
 * apache-arrow's `RecordBatch`, of any version with this shape.
 *
 * @example
 * ```ts
 * import { type ArrowBatch, encodeRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const batch: ArrowBatch = tableFromArrays({ id: [1, 2] }).batches[0]!;
 * assert.equal(encodeRows(batch).offsets.length, batch.numRows + 1);
 * ```
 */
export interface ArrowBatch {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows there are. */
  readonly numRows: number;
  /** apache-arrow's `Data<Struct>`: a child for each column. */
  readonly data: { readonly length: number; readonly children: readonly unknown[] };
}

/**
 * apache-arrow's `Table`: record batches in a row.
 *
 * @example
 * ```ts
 * import { type ArrowTable, encodeRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const table: ArrowTable = tableFromArrays({ id: [1, 2] });
 * assert.equal(encodeRows(table).offsets.length, table.numRows + 1);
 * ```
 */
export interface ArrowTable {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows all batches have. */
  readonly numRows: number;
  /** The chunks. */
  readonly batches: readonly ArrowBatch[];
}

/**
 * flechette's `Table`: columns, each in chunks of its own.
 *
 * @example
 * ```ts
 * import { encodeRows, type FlechetteTable } from "@jetrow/jetrow";
 * import { tableFromArrays } from "@uwdata/flechette";
 * import assert from "node:assert/strict";
 *
 * const table: FlechetteTable = tableFromArrays({ id: [1, 2] });
 * assert.equal(encodeRows(table).offsets.length, table.numRows + 1);
 * ```
 */
export interface FlechetteTable {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows there are. */
  readonly numRows: number;
  /** The columns. */
  readonly children: readonly { readonly length: number; readonly data: readonly unknown[] }[];
}

/**
 * What jetrow takes as rows: structural, so that any version of apache-arrow or flechette serves.
 *
 * @example
 * ```ts
 * import { type ArrowRows, encodeRows } from "@jetrow/jetrow";
 * import * as flechette from "@uwdata/flechette";
 * import * as arrow from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const all: ArrowRows[] = [arrow.tableFromArrays({ id: [1] }), flechette.tableFromArrays({ id: [1] })];
 * for (const rows of all) assert.equal(new TextDecoder().decode(encodeRows(rows).bytes), '{"id":1}');
 * ```
 */
export type ArrowRows = ArrowBatch | ArrowTable | FlechetteTable;
