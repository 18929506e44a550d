/**
 * A fault of one value, before row and column are known.
 *
 * @module
 */

import { EncodeError, type EncodeErrorCode } from "../errors/mod.ts";
import { describe } from "../util/describe.ts";

/**
 * A fault of one value: thrown by code that does not know row and column, and turned into an EncodeError by the loop
 * that does. Not visible to callers.
 */
export class Fault extends Error {
  /** The code of the EncodeError that it becomes. */
  readonly code: EncodeErrorCode;

  /** Creates a fault; `text` continues "Cannot encode column "a" in row 1: ". */
  constructor(code: EncodeErrorCode, text: string) {
    super(text);
    this.code = code;
  }
}

/** Throws the fault of a reference outside of a buffer. */
export function malformed(text: string): never {
  throw new Fault("encode.malformed", text);
}

/** Returns the EncodeError for an error thrown in one cell; returns any other error than a Fault unchanged. */
export function cellError(thrown: unknown, column: string, row: number): unknown {
  if (!(thrown instanceof Fault)) return thrown;
  const text = `Cannot encode column ${describe(column)} in row ${row}: ${thrown.message}`;
  return new EncodeError(thrown.code, text, { row, column });
}
