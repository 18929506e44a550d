/**
 * The rows of Arrow libraries, described by their structure.
 *
 * @module
 */

/**
 * A field of an Arrow schema, as in apache-arrow and flechette.
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
  /** The library's type object, identified by its `typeId`. */
  readonly type: { readonly typeId: number };
  /** The metadata, if present. */
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
 * apache-arrow's `RecordBatch`, in any version with this structure.
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
  /** The names, types and metadata of the columns. */
  readonly schema: ArrowSchema;
  /** The number of rows. */
  readonly numRows: number;
  /** apache-arrow's `Data<Struct>`: one child per column. */
  readonly data: { readonly length: number; readonly children: readonly unknown[] };
}

/**
 * apache-arrow's `Table`: a sequence of record batches.
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
  /** The names, types and metadata of the columns. */
  readonly schema: ArrowSchema;
  /** The number of rows of all batches. */
  readonly numRows: number;
  /** The chunks. */
  readonly batches: readonly ArrowBatch[];
}

/**
 * flechette's `Table`: columns, each with its own chunks.
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
  /** The names, types and metadata of the columns. */
  readonly schema: ArrowSchema;
  /** The number of rows. */
  readonly numRows: number;
  /** The columns. */
  readonly children: readonly { readonly length: number; readonly data: readonly unknown[] }[];
}

/**
 * The rows that jetrow accepts. The type is structural: any version of apache-arrow or flechette fits.
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
