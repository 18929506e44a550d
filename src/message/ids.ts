/**
 * The ids of a batch's rows: SHA-256 of what identifies a row across attempts.
 *
 * @module
 */

import { checkRows } from "../arrow/intact.ts";
import type { RowsView } from "../arrow/view.ts";
import { describe } from "../util/describe.ts";
import { EncodeError } from "../errors/mod.ts";
import { option, type Wording, words } from "../errors/wording.ts";
import { ID_LENGTH, idHasher } from "../hash/message_id.ts";
import { type SpareMemory, zeros } from "../json/memory/spare.ts";
import { lowerBound } from "../util/lower_bound.ts";
import type { Steps } from "../util/steps.ts";
import type { Bodies } from "../json/row_encoder.ts";
import { type BodySource, encodeBodies, type IdSource, invalidId } from "./columns.ts";
import { type OperationCodes, operationOf } from "./operations.ts";
import { type RowValues, type RowWriters, textOfRow, type WriteRow } from "./row_texts.ts";
import type { MessageTarget } from "./target.ts";

/** Ids that one step makes: one to two milliseconds' work, which all else waits for. */
const IDS_OF_STEP = 1024;

/** A batch whose rows are made into messages, whole or piece by piece. */
export interface RowSource {
  /** All columns of the rows. */
  readonly view: RowsView;
  /** What the bodies are made of. */
  readonly body: BodySource;
  /** The selected row numbers, ascending; absent: all. */
  readonly only?: readonly number[] | undefined;
  /** The operations of the batch's rows. */
  readonly operations: OperationCodes;
  /** Reads ids; absent if the rows have none. */
  readonly ids?: IdSource | undefined;
  /** The columns that the subject and the headers name. */
  readonly values: RowValues;
}

/** Whether a row has an event id: neither null nor empty. */
export function hasEventId({ ids }: RowSource, row: number): boolean {
  return ids !== undefined && ids.column.seek(row) && ids.column.end > ids.column.start;
}

/**
 * Writes the ids of encoded rows, 64 hex digits each; a row without one has zeros. Throws EncodeErrors `encode.id` and
 * `encode.duplicate_id`.
 */
export function* writeIds(
  source: RowSource,
  target: MessageTarget,
  writers: RowWriters,
  encoded: Bodies,
  rowAt: (index: number) => number,
  spare: SpareMemory | undefined,
): Steps<Uint8Array<ArrayBuffer>> {
  const { column, seen } = source.ids!;
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
    if (!hasher.write(column.bytes, column.start, column.end, ids, index * ID_LENGTH)) {
      throw invalidId(row, source.ids!.name);
    }
    const earlier = seen.add(row, ids, index * ID_LENGTH, (other) => sameEventId(source, row, other));
    // A piece that was made ready and never sent is made ready again: its rows are not their own repetition.
    if (earlier < 0 || earlier === row) continue;
    if (target.fields.batchHeaderBytes !== undefined) {
      throw repeatedId(source, row, earlier, ": a batch that is stored as a whole can have an id once");
    }
    const other = !sameOperation(source, row, earlier)
      ? "operation"
      : !sameText(writers.subject, row, earlier)
      ? "subject"
      : !sameText(writers.lines, row, earlier)
      ? "header"
      : !sameBody(source, encoded, rowAt, index, earlier, first)
      ? "body"
      : undefined;
    if (other !== undefined) {
      const fix = words`Give it an id of its own, or name more columns in ${option("eventIdColumn")}.`;
      throw repeatedId(source, row, earlier, words`, and another ${other}: the stream would drop it. ${fix}`);
    }
  }
  return ids;
}

function repeatedId(source: RowSource, row: number, earlier: number, why: string | Wording): EncodeError {
  const { column, name } = source.ids!;
  column.seek(row);
  const { bytes, start, end } = column;
  const id = describe(new TextDecoder().decode(bytes.subarray(start, end)));
  return new EncodeError(
    "encode.duplicate_id",
    words`Cannot publish row ${row}: it has the event id of row ${earlier}, ${id}${why}`,
    { row, column: name },
  );
}

/** Compares the event ids of two rows. The memory of the earlier one may have been transferred since its own step. */
function sameEventId({ view, ids }: RowSource, row: number, earlier: number): boolean {
  checkRows(view, earlier, earlier);
  const { column: one, other: two } = ids!;
  return one.seek(row) && two.seek(earlier) &&
    sameBytes(one.bytes.subarray(one.start, one.end), two.bytes.subarray(two.start, two.end));
}

function sameOperation({ operations }: RowSource, row: number, other: number): boolean {
  return operationOf(operations, row) === operationOf(operations, other);
}

function sameText(write: WriteRow | undefined, row: number, other: number): boolean {
  return sameBytes(textOfRow(write, row), textOfRow(write, other));
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
  if (earlier < first) return sameBytes(encodeBodies(source.body, { only: [earlier] }).bytes, body);
  const at = lowerBound(0, index, rowAt, earlier);
  return sameBytes(bytes.subarray(offsets[at]!, offsets[at + 1]!), body);
}

function sameBytes(one: Uint8Array, two: Uint8Array): boolean {
  if (one.length !== two.length) return false;
  for (let i = 0; i < one.length; i++) if (one[i] !== two[i]) return false;
  return true;
}
