/**
 * The error of rows that were not published.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { PublishErrorCode } from "./codes.ts";
import type { Wording } from "./wording.ts";
import type { PublishOutcome, RowOutcomes } from "./outcomes.ts";

/** The parts of a {@linkcode PublishError}. */
export interface PublishErrorDetails {
  /** What the call left behind. */
  readonly outcome: PublishOutcome;
  /** What is known of every row. */
  readonly rowOutcomes: RowOutcomes;
  /** The batch's index in a sequence of batches; 0 for a single one. */
  readonly batch?: number | undefined;
  /** The first row that failed. */
  readonly row?: number | undefined;
  /** The server's err_code, otherwise its code, otherwise the status. */
  readonly serverCode?: number | undefined;
  /** The error that led to this one. */
  readonly cause?: unknown;
}

/**
 * Publishing failed: `rowOutcomes` says what is known of every row, and the caller replays the unsettled ones.
 *
 * @example
 * ```ts
 * import { isJetrowError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * function rowsToSendAgain(error: unknown): readonly number[] {
 *   return isJetrowError(error) && error.name === "PublishError" ? error.rowOutcomes.unsettled() : [];
 * }
 * assert.ok(rowsToSendAgain(new Error("other")).length === 0);
 * ```
 */
export class PublishError extends JetrowError {
  /** Always `"PublishError"`. */
  override readonly name = "PublishError" as const;
  /** The first failure's code. */
  override readonly code: PublishErrorCode;
  /** What the call left behind. */
  readonly outcome: PublishOutcome;
  /** What is known of every row. */
  readonly rowOutcomes: RowOutcomes;
  /** The batch's index in a sequence of batches; 0 for a single one. */
  readonly batch: number;
  /** The first row that failed, if the failure is about one row. */
  readonly row: number | undefined;
  /** The server's err_code, otherwise its code, otherwise the status. */
  readonly serverCode: number | undefined;

  /** @internal */
  constructor(code: PublishErrorCode, message: string | Wording, details: PublishErrorDetails) {
    super(message, details);
    this.code = code;
    this.outcome = details.outcome;
    this.rowOutcomes = details.rowOutcomes;
    this.batch = details.batch ?? 0;
    this.row = details.row;
    this.serverCode = details.serverCode;
  }
}
