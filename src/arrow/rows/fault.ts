/**
 * The fault of one value in an object that becomes a row.
 *
 * @module
 */

import { EncodeError } from "../../errors/mod.ts";
import { describe } from "../../util/describe.ts";

/** A value that does not fit. On the way from the value to the row, `path` grows and the reason stays. */
class RowFault extends Error {
  /** The path in the row, such as `user.tags[2]`. */
  readonly path: string;

  constructor(path: string, reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
    this.path = path;
  }
}

/** Throws the fault of a value, or of the one at `path` in it: `reason` is the rule and what was received. */
export function refuseValue(reason: string, path = ""): never {
  throw new RowFault(path, reason);
}

/** Returns an error thrown for the value at `step` (`.key` or `[2]`) as a fault of the containing value. */
export function faultAt(step: string, thrown: unknown): RowFault {
  if (thrown instanceof RowFault) return new RowFault(step + thrown.path, thrown.message, thrown.cause);
  return new RowFault(step, "reading the value failed", thrown);
}

/** Returns an error thrown for a row as the error that the caller receives. */
export function rowError(thrown: unknown, row: number): EncodeError {
  const fault = thrown instanceof RowFault ? thrown : faultAt("", thrown);
  const column = fault.path === "" ? undefined : fault.path.replace(/^\./, "");
  const where = column === undefined ? `row ${row}` : `column ${describe(column)} in row ${row}`;
  const cause = fault.cause === undefined ? {} : { cause: fault.cause };
  return new EncodeError("encode.value", `Cannot encode ${where}: ${fault.message}`, { row, column, ...cause });
}
