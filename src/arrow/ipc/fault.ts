/**
 * A fault of Arrow IPC data, before the caller is known: `readArrow` throws an EncodeError for it, the command an error
 * that names the input.
 *
 * @module
 */

import { EncodeError, type EncodeErrorCode } from "../../errors/mod.ts";
import { describe } from "../../util/describe.ts";

/** A fault of IPC data, thrown by all parts of the reader and not visible outside of it. */
export class IpcFault extends Error {
  readonly code: EncodeErrorCode;
  /** The index of the record batch, if the fault is in one. */
  batch: number | undefined;
  /** The name of the column, if the fault is in one. */
  column: string | undefined;

  /** Creates a fault; `problem` is a phrase without an end mark. */
  constructor(problem: string, code: EncodeErrorCode = "encode.malformed", options?: { readonly cause: unknown }) {
    super(problem, options);
    this.code = code;
  }

  /** The problem, and its column. */
  get problem(): string {
    return this.column === undefined ? this.message : `column ${describe(this.column)}: ${this.message}`;
  }
}

/** Throws the fault of data that breaks the format. */
export function damaged(problem: string): never {
  throw new IpcFault(problem);
}

/** Returns the EncodeError of a fault; returns any other error unchanged. */
export function readError(thrown: unknown): unknown {
  if (!(thrown instanceof IpcFault)) return thrown;
  const { code, problem, batch, column, cause } = thrown;
  return new EncodeError(code, `Cannot read Arrow data: ${problem}`, {
    batch,
    batchName: `record batch ${batch}`,
    column,
    ...(cause === undefined ? {} : { cause }),
  });
}
