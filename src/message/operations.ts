/**
 * What each row does at its destination: one operation for the batch, or one a row.
 *
 * @module
 */

import { describe } from "../util/describe.ts";
import { ConfigError, EncodeError } from "../errors/mod.ts";
import type { Operation } from "../types/mod.ts";

/** The operations, by their code. */
export const OPERATIONS: readonly Operation[] = ["insert", "update", "delete"];

/**
 * The operations of a batch as codes: one number for all rows, or a code a row. Throws an EncodeError
 * (`encode.operations`) for another word, and for a list whose length is not the number of rows.
 */
export function operationCodes(
  operations: Operation | readonly Operation[] | undefined,
  rowCount: number,
): number | Uint8Array {
  if (operations === undefined) return 0;
  if (!Array.isArray(operations)) return codeOf(operations, undefined);
  if (operations.length !== rowCount) {
    throw new EncodeError(
      "encode.operations",
      `operations must be one for each of the batch's ${rowCount} rows, or one for all: received ${operations.length}`,
    );
  }
  return Uint8Array.from(operations, (operation, row) => codeOf(operation, row));
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
