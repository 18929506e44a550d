/**
 * The union of all errors, and its type guard.
 *
 * @module
 */

import { MARK } from "./base.ts";
import type { JetrowErrorCode } from "./codes.ts";
import type { ConfigError } from "./config.ts";
import type { ConnectionError } from "./connection.ts";
import type { EncodeError } from "./encode.ts";
import type { PublishError } from "./publish.ts";
import type { RouteError } from "./route.ts";
import type { StateError } from "./state.ts";

/**
 * The union that {@linkcode isJetrowError} narrows to: switch on `name` or `code`.
 *
 * @example
 * ```ts
 * import type { AnyJetrowError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * function whatNext(error: AnyJetrowError): string {
 *   switch (error.name) {
 *     case "ConfigError":
 *       return `set ${error.field}`;
 *     case "PublishError":
 *       return `send ${error.rowOutcomes.unsettled().length} rows again`;
 *     default:
 *       return error.message;
 *   }
 * }
 * assert.equal(typeof whatNext, "function");
 * ```
 */
export type AnyJetrowError =
  | ConfigError
  | ConnectionError
  | RouteError
  | EncodeError
  | PublishError
  | StateError;

/**
 * Returns whether a value is an error of jetrow, also of another copy of the package, and has the code if one is given.
 *
 * @example
 * ```ts
 * import { isJetrowError } from "@jetrow/jetrow/errors";
 * import { parseDuration } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * try {
 *   parseDuration("5");
 * } catch (error) {
 *   assert.ok(isJetrowError(error));
 *   assert.ok(isJetrowError(error, "config.syntax"));
 *   assert.ok(!isJetrowError(error, "publish.timeout"));
 * }
 * ```
 */
export function isJetrowError<C extends JetrowErrorCode = JetrowErrorCode>(
  value: unknown,
  code?: C,
): value is AnyJetrowError & { readonly code: C } {
  if (!(value instanceof Error && MARK in value && "code" in value)) return false;
  return code === undefined || value.code === code;
}
