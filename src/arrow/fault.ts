/**
 * What went wrong at one value, before row and column are known.
 *
 * @module
 */

import { EncodeError, type EncodeErrorCode } from "../errors/mod.ts";
import { describe } from "../util/describe.ts";

/**
 * A fault of one value: thrown by code that knows neither row nor column, turned into an EncodeError by the loop that
 * does. Never seen outside.
 */
export class Fault extends Error {
  /** The code of the EncodeError it becomes. */
  readonly code: EncodeErrorCode;

  /** Makes a fault; `text` continues "Cannot encode column "a" in row 1: ". */
  constructor(code: EncodeErrorCode, text: string) {
    super(text);
    this.code = code;
  }
}

/** Throws the fault of a buffer that points outside of what it has. */
export function malformed(text: string): never {
  throw new Fault("encode.malformed", text);
}

/** The EncodeError of what was thrown in one cell; anything but a Fault comes back as it is. */
export function cellError(thrown: unknown, column: string, row: number): unknown {
  if (!(thrown instanceof Fault)) return thrown;
  const text = `Cannot encode column ${describe(column)} in row ${row}: ${thrown.message}`;
  return new EncodeError(thrown.code, text, { row, column });
}
