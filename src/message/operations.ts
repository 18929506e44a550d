/**
 * What each row does at its destination: one operation for the batch, or one per row, from a list or a column.
 *
 * @module
 */

import type { TextColumn } from "../arrow/text_column.ts";
import { describe } from "../util/describe.ts";
import { ConfigError, EncodeError } from "../errors/mod.ts";
import { option, words } from "../errors/wording.ts";
import type { Operation } from "../types/mod.ts";

/** The operations, by their code. */
export const OPERATIONS: readonly Operation[] = ["insert", "update", "delete"];

/** The code of all rows of a batch, or a function that returns a row's code. It may throw an EncodeError. */
export type OperationCodes = number | ((row: number) => number);

/** Returns the code of a row. */
export function operationOf(operations: OperationCodes, row: number): number {
  return typeof operations === "number" ? operations : operations(row);
}

/**
 * Returns the codes of the operations that a caller gives: one for all rows, or a list. Throws an EncodeError
 * (`encode.operations`) for another word, and for a list whose length is not the number of rows.
 */
export function operationCodes(
  operations: Operation | readonly Operation[] | undefined,
  rowCount: number,
): OperationCodes {
  if (operations === undefined) return 0;
  if (!Array.isArray(operations)) return codeOf(operations, undefined);
  if (operations.length !== rowCount) {
    throw new EncodeError(
      "encode.operations",
      `operations must be one for each of the batch's ${rowCount} rows, or one for all: received ${operations.length}`,
    );
  }
  const codes = Uint8Array.from(operations, (operation, row) => codeOf(operation, row));
  return (row) => codes[row]!;
}

/**
 * Returns the codes of the operations that a column has. Throws an EncodeError (`encode.operations`) at a row whose
 * value is null or not among the keys of `meanings`.
 */
export function operationsOfColumn(
  column: TextColumn,
  name: string,
  meanings: Readonly<Record<string, Operation>>,
): OperationCodes {
  const encoder = new TextEncoder();
  const known = Object.entries(meanings).map(([word, operation]) => ({
    bytes: encoder.encode(word),
    code: OPERATIONS.indexOf(operation),
  }));
  return (row) => {
    const isNull = !column.seek(row);
    const { bytes, start, end } = column;
    const found = isNull ? undefined : known.find((word) => isAt(word.bytes, bytes, start, end));
    if (found !== undefined) return found.code;
    const value = isNull ? null : new TextDecoder().decode(bytes.subarray(start, end));
    const expected = Object.keys(meanings).map((word) => describe(word)).join(", ");
    const rule = `the value must be one of ${expected}: received ${describe(value)}`;
    const fix = isNull ? "" : words`. Map it with ${option("operationValues")}, or change the value.`;
    const message = words`Cannot take the operation of row ${row} from column ${describe(name)}: ${rule}${fix}`;
    throw new EncodeError("encode.operations", message, { row, column: name });
  };
}

function isAt(word: Uint8Array, bytes: Uint8Array, start: number, end: number): boolean {
  if (word.length !== end - start) return false;
  for (let i = 0; i < word.length; i++) if (word[i] !== bytes[start + i]) return false;
  return true;
}

function codeOf(operation: unknown, row: number | undefined): number {
  const code = OPERATIONS.indexOf(operation as Operation);
  if (code >= 0) return code;
  const where = row === undefined ? "operations" : `operations[${row}]`;
  throw new EncodeError(
    "encode.operations",
    `${where} must be "insert", "update" or "delete": received ${describe(operation)}`,
    { row },
  );
}

/** Checks a selection of rows: whole numbers of the batch, ascending. Throws a ConfigError of the field `only`. */
export function checkSelection(only: readonly number[] | undefined, rowCount: number): void {
  if (only === undefined) return;
  if (!Array.isArray(only)) {
    throw new ConfigError("config.type", {
      field: "only",
      rule: "must be an array of row numbers",
      received: describe(only),
    });
  }
  let previous = -1;
  for (const [index, row] of only.entries()) {
    if (!Number.isSafeInteger(row) || row <= previous || row >= rowCount) {
      throw new ConfigError("config.range", {
        field: "only",
        rule: `must be ascending row numbers below ${rowCount}`,
        received: `${describe(row)} at index ${index}`,
      });
    }
    previous = row;
  }
}
