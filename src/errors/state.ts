/**
 * The error of calls in a wrong order.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { StateErrorCode } from "./codes.ts";
import type { Wording } from "./wording.ts";

/**
 * The calling code calls methods in a wrong order: the caller fixes the code. The call that throws has sent nothing; what
 * earlier calls have stored stays stored.
 *
 * @example
 * ```ts
 * import type { BoundedRun } from "@jetrow/jetrow";
 * import { StateError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * async function isCommitted(run: BoundedRun): Promise<boolean> {
 *   try {
 *     await run.applyAll([]);
 *     return false;
 *   } catch (error) {
 *     return error instanceof StateError && error.code === "state.committed";
 *   }
 * }
 * assert.equal(typeof isCommitted, "function");
 * ```
 */
export class StateError extends JetrowError {
  /** Always `"StateError"`. */
  override readonly name = "StateError" as const;
  /** The rule that was broken. */
  override readonly code: StateErrorCode;

  /** @internal */
  constructor(code: StateErrorCode, message: string | Wording, details: { readonly cause?: unknown } = {}) {
    super(message, details);
    this.code = code;
  }
}
