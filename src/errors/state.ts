/**
 * The error of calls out of order.
 *
 * @module
 */

import { JetrowError } from "./base.ts";
import type { StateErrorCode } from "./codes.ts";
import type { Wording } from "./wording.ts";

/**
 * The calling code does things in an order that cannot be: it is the caller's to mend. The call that throws it has sent
 * nothing; what earlier calls have stored stays stored.
 *
 * @example
 * ```ts
 * import { StateError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const error = new StateError("state.committed", "Cannot apply: the run is committed");
 * assert.ok(error.name === "StateError");
 * ```
 */
export class StateError extends JetrowError {
  /** Always `"StateError"`. */
  override readonly name = "StateError" as const;
  /** Which rule of order was broken. */
  override readonly code: StateErrorCode;

  /** @internal */
  constructor(code: StateErrorCode, message: string | Wording, details: { readonly cause?: unknown } = {}) {
    super(message, details);
    this.code = code;
  }
}
