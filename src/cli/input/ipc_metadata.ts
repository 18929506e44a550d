/**
 * Whether the lists of a message's metadata are all there. apache-arrow follows every count and offset as it stands: a
 * damaged one costs all memory.
 *
 * @module
 */

import type { FlatTable } from "./flatbuffer.ts";

/** Deeper and larger schemas are none that anybody writes. */
const DEEPEST = 100;
const MOST_FIELDS = 100_000;
/** Arrow format, Message.fbs: struct FieldNode { length, null_count }, struct Buffer { offset, length }. */
const NODE_SIZE = 16;
/** Arrow format, Schema.fbs: members of the union Type. */
const TIMESTAMP = 10;
const UNION = 14;
const BUFFER_SIZE = 16;

/**
 * Walks over a schema: Schema { endianness, fields, custom_metadata }, Field { name, nullable, type type, type,
 * dictionary { id, index type }, children, custom_metadata }, KeyValue { key, value }.
 *
 * @param schema the Schema table
 * @returns whether it has a union
 * @throws {RangeError} where something leads outside, or in circles
 * @example
 * ```ts ignore
 * checkSchema(message.table(2)!);
 * ```
 */
export function checkSchema(schema: FlatTable): boolean {
  let fields = 0;
  let unions = false;
  const visit = (field: FlatTable, depth: number): void => {
    if (depth > DEEPEST || ++fields > MOST_FIELDS) throw new RangeError("a schema of no bearable size");
    field.count(0, 1);
    checkType(field);
    unions ||= field.uint8(2) === UNION;
    field.table(4)?.table(1);
    checkMetadata(field, 6);
    for (const child of field.tables(5)) visit(child, depth + 1);
  };
  for (const field of schema.tables(1)) visit(field, 0);
  checkMetadata(schema, 2);
  return unions;
}

/** The types that hold a list or a text: Timestamp { unit, time zone }, Union { mode, type ids }. */
function checkType(field: FlatTable): void {
  const type = field.table(3);
  if (type === undefined) throw new RangeError("a field has no type");
  if (field.uint8(2) === TIMESTAMP) type.count(1, 1);
  if (field.uint8(2) === UNION) type.count(1, 4);
}

function checkMetadata(table: FlatTable, slot: number): void {
  for (const pair of table.tables(slot)) {
    pair.count(0, 1);
    pair.count(1, 1);
  }
}

/**
 * Looks at a batch's lists: RecordBatch { length, nodes, buffers, compression, variadic buffer counts }.
 *
 * @param batch the RecordBatch table
 * @throws {RangeError} where something leads outside
 * @example
 * ```ts ignore
 * checkBatch(message.table(2)!);
 * ```
 */
export function checkBatch(batch: FlatTable): void {
  const length = batch.int64(0);
  if (!(length >= 0 && Number.isSafeInteger(length))) throw new RangeError("a batch has no number of rows");
  for (const node of batch.structs(1, NODE_SIZE)) {
    const [rows, nulls] = [node.getBigInt64(0, true), node.getBigInt64(8, true)];
    if (rows < 0n || rows > Number.MAX_SAFE_INTEGER || nulls > rows) throw new RangeError("a column has no length");
  }
  batch.count(2, BUFFER_SIZE);
  batch.count(4, 8);
}
