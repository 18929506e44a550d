/**
 * The six errors of jetrow, one for each thing a caller would do next, and the closed union of their codes.
 *
 * ```ts
 * import { ConfigError, isJetrowError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const error: unknown = new ConfigError("config.range", "maxInFlight must be 1 to 65536: received 0", {
 *   field: "maxInFlight",
 * });
 * if (isJetrowError(error) && error.name === "ConfigError") {
 *   assert.ok(error.field === "maxInFlight");
 * }
 * ```
 *
 * @module
 */

export type * from "./codes.ts";
export type * from "./outcomes.ts";
export { JetrowError } from "./base.ts";
export { ConfigError } from "./config.ts";
export { ConnectionError } from "./connection.ts";
export { RouteError } from "./route.ts";
export { EncodeError } from "./encode.ts";
export { PublishError } from "./publish.ts";
export { StateError } from "./state.ts";
export { type AnyJetrowError, isJetrowError } from "./any.ts";
