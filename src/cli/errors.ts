/**
 * The command's own errors that decide its exit code or add to what is printed.
 *
 * @module
 */

/** The command line is not valid: exit code 2. */
export class UsageError extends Error {
  /** Always `"UsageError"`. */
  override readonly name = "UsageError" as const;
}

/** A run of `jetrow publish` that ended early. */
export class RunFailure extends Error {
  /** Always `"RunFailure"`. */
  override readonly name = "RunFailure" as const;
  /** The error that ended the run. */
  readonly reason: unknown;
  /** The outcomes of its rows, and what to do next: lines for standard error. */
  readonly lines: readonly string[];

  constructor(reason: unknown, lines: readonly string[]) {
    super("the run ended early", { cause: reason });
    this.reason = reason;
    this.lines = lines;
  }
}
