/**
 * What all errors have in common.
 *
 * @module
 */

import type { JetrowErrorCode } from "./codes.ts";
import { render, type Wording } from "./wording.ts";

/** The mark that identifies errors of every copy of the package. */
export const MARK: unique symbol = Symbol.for("jetrow.error");

/** The message of each error that names options, before it was rendered. */
const wordings = new WeakMap<JetrowError, Wording>();

/**
 * The base class of all jetrow errors: a `code` of a closed union, a message with the thing, the rule and the value, and
 * the `cause` if another error led to it. Only jetrow constructs its errors.
 *
 * @example
 * ```ts
 * import { JetrowError } from "@jetrow/jetrow/errors";
 * import { parseConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * try {
 *   parseConfig({ url: "nats://localhost", stream: "ORDERS" });
 * } catch (error) {
 *   assert.ok(error instanceof JetrowError && error.code === "config.missing");
 * }
 * ```
 */
export abstract class JetrowError extends Error {
  /** The class's own name, also in minified code. */
  abstract override readonly name: string;
  /** What went wrong, for programs. */
  abstract readonly code: JetrowErrorCode;

  /** @internal */
  constructor(message: string | Wording, options: { readonly cause?: unknown } = {}) {
    super(render(message), "cause" in options ? { cause: options.cause } : undefined);
    Object.defineProperty(this, MARK, { value: true });
    if (typeof message !== "string") wordings.set(this, message);
  }
}

/** Renders an error's message with other names for options. */
export function renderMessage(error: JetrowError, nameOf: (option: string) => string): string {
  return wordings.get(error)?.render(nameOf) ?? error.message;
}
