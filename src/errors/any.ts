/**
 * The union of all errors, and its type guard.
 *
 * @module
 */

import { MARK } from "./base.ts";
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
 * import { type AnyJetrowError, StateError } from "@jetrow/jetrow/errors";
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
 * assert.equal(whatNext(new StateError("state.closed", "the run is closed")), "the run is closed");
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
 * Whether a value is an error of jetrow, also of another copy of the package.
 *
 * @example
 * ```ts
 * import { isJetrowError, StateError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * assert.ok(isJetrowError(new StateError("state.closed", "closed")));
 * assert.ok(!isJetrowError(new Error("closed")));
 * ```
 */
export function isJetrowError(value: unknown): value is AnyJetrowError {
  return value instanceof Error && MARK in value;
}
