/**
 * What all errors have in common.
 *
 * @module
 */

import type { JetrowErrorCode } from "./codes.ts";
import { MARK } from "./mark.ts";

/**
 * What all jetrow errors have in common: a `code` of a closed union, a message that names the thing, the rule and the
 * value, and the `cause` where there was one.
 *
 * @example
 * ```ts
 * import { JetrowError, StateError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const error = new StateError("state.closed", "Cannot publish: the publisher is closed");
 * assert.ok(error instanceof JetrowError && error.code === "state.closed");
 * ```
 */
export abstract class JetrowError extends Error {
  /** The class's own name, also where code was minified. */
  abstract override readonly name: string;
  /** What went wrong, for programs. */
  abstract readonly code: JetrowErrorCode;

  /** Makes the common part; `cause` is kept where it is given. */
  constructor(message: string, options: { readonly cause?: unknown } = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    Object.defineProperty(this, MARK, { value: true });
  }
}
