/**
 * The ids of a batch's rows: SHA-256 of what identifies a row across attempts.
 *
 * @module
 */

import { checkRows } from "../arrow/intact.ts";
import { type TextColumn, textColumn } from "../arrow/text_column.ts";
import type { RowsView } from "../arrow/view.ts";
import { describe } from "../util/describe.ts";
import { EncodeError } from "../errors/mod.ts";
import { ID_LENGTH, idHasher } from "../hash/message_id.ts";
import { encodeView } from "../json/encode.ts";
import { type SpareMemory, zeros } from "../json/memory/spare.ts";
import { lowerBound } from "../util/lower_bound.ts";
import type { Steps } from "../util/steps.ts";
import type { Bodies } from "../json/row_encoder.ts";

import { IdIndex } from "./id_index.ts";
import type { MessageTarget } from "./target.ts";

/** Ids that one step makes: one to two milliseconds' work, which all else waits for. */
const IDS_OF_STEP = 1024;

/** A batch whose rows are made into messages, whole or piece by piece. */
export interface RowSource {
  /** The rows. */
  readonly view: RowsView;
  /** The selected row numbers, ascending; absent: all. */
  readonly only?: readonly number[] | undefined;
  /** One operation's code, or one a row of the batch. */
  readonly operations: number | Uint8Array;
  /** Reads event ids; absent where the rows have none. */
  readonly eventIds?: TextColumn | undefined;
  /** The column that they are in. */
  readonly idColumn?: string | undefined;
  /** Ids of the rows prepared so far. */
  readonly seen?: IdIndex | undefined;
  /** A second reader of the same column, for comparing. */
  readonly otherIds?: TextColumn | undefined;
}

/** Opens the event id column of a batch. Throws EncodeErrors `encode.no_id_column` and `encode.id`. */
export function eventIdReaders(
  view: RowsView,
  column: string,
  required: boolean,
): Pick<RowSource, "eventIds" | "idColumn" | "otherIds" | "seen"> {
  const eventIds = textColumn(view, column);
  if (eventIds !== undefined) {
    return { eventIds, idColumn: column, otherIds: textColumn(view, column), seen: new IdIndex() };
  }
  if (!required) return {};
  const names = view.names.slice(0, 20).map((name) => describe(name)).join(", ");
  throw new EncodeError(
    "encode.no_id_column",
    `Cannot take ids from column ${describe(column)}: the rows have no such column: they have ${names || "none"}`,
    { column },
  );
}

/** Whether a row has an event id: neither null nor empty. */
export function hasEventId(source: RowSource, row: number): boolean {
  const column = source.eventIds;
  return column !== undefined && column.seek(row) && column.end > column.start;
}

/**
 * Writes the ids of encoded rows, 64 hex digits each; a row without one has zeros. Throws EncodeErrors `encode.id` and
 * `encode.duplicate_id`.
 */
export function* writeIds(
  source: RowSource,
  target: MessageTarget,
  encoded: Bodies,
  rowAt: (index: number) => number,
  spare: SpareMemory | undefined,
): Steps<Uint8Array<ArrayBuffer>> {
  const column = source.eventIds!;
  const count = encoded.offsets.length - 1;
  const ids = zeros(count * ID_LENGTH, spare);
  const hasher = idHasher(target.fields.scope);
  const first = count > 0 ? rowAt(0) : 0;
  for (let index = 0; index < count; index++) {
    if (index % IDS_OF_STEP === 0) {
      if (index > 0) yield;
      checkRows(source.view, rowAt(index), rowAt(Math.min(index + IDS_OF_STEP, count) - 1));
    }
    const row = rowAt(index);
    if (!column.seek(row) || column.end === column.start) continue;
    if (!hasher.write(column.bytes, column.start, column.end, ids, index * ID_LENGTH)) throw invalidId(source, row);
    const earlier = source.seen!.add(row, ids, index * ID_LENGTH, (other) => sameEventId(source, row, other));
    // A piece that was made ready and never sent is made ready again: its rows are not their own repetition.
    if (earlier < 0 || earlier === row) continue;
    if (target.fields.batchHeaderBytes !== undefined) {
      throw repeatedId(source, row, earlier, ": a batch that is stored as a whole can have an id once");
    }
    const other = !sameOperation(source, row, earlier)
      ? "operation"
      : !sameBody(source, encoded, rowAt, index, earlier, first)
      ? "body"
      : undefined;
    if (other !== undefined) throw repeatedId(source, row, earlier, `, and another ${other}: the stream would drop it`);
  }
  return ids;
}

function invalidId({ idColumn }: RowSource, row: number): EncodeError {
  return new EncodeError(
    "encode.id",
    `Cannot make an id of row ${row}: its event id is not valid UTF-8, and two such ids could become one`,
    { row, column: idColumn },
  );
}

function repeatedId(source: RowSource, row: number, earlier: number, why: string): EncodeError {
  source.eventIds!.seek(row);
  const { bytes, start, end } = source.eventIds!;
  const id = describe(new TextDecoder().decode(bytes.subarray(start, end)));
  return new EncodeError(
    "encode.duplicate_id",
    `Cannot publish row ${row}: it has the event id of row ${earlier}, ${id}${why}`,
    { row, column: source.idColumn },
  );
}

function sameEventId(source: RowSource, row: number, other: number): boolean {
  const one = source.eventIds!;
  const two = source.otherIds!;
  return one.seek(row) && two.seek(other) &&
    sameBytes(one.bytes.subarray(one.start, one.end), two.bytes.subarray(two.start, two.end));
}

function sameOperation({ operations }: RowSource, row: number, other: number): boolean {
  return typeof operations === "number" || operations[row] === operations[other];
}

/** Compares a row's body with an earlier row's, which may be in an earlier piece and is then encoded once more. */
function sameBody(
  source: RowSource,
  encoded: Bodies,
  rowAt: (index: number) => number,
  index: number,
  earlier: number,
  first: number,
): boolean {
  const { bytes, offsets } = encoded;
  const body = bytes.subarray(offsets[index]!, offsets[index + 1]!);
  if (earlier < first) return sameBytes(encodeView(source.view, { only: [earlier] }).bytes, body);
  const at = lowerBound(0, index, rowAt, earlier);
  return sameBytes(bytes.subarray(offsets[at]!, offsets[at + 1]!), body);
}

function sameBytes(one: Uint8Array, two: Uint8Array): boolean {
  if (one.length !== two.length) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== two[i]) return false;
  return true;
}
