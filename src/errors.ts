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

export type * from "./errors/codes.ts";
export type * from "./errors/outcomes.ts";
export * from "./errors/base.ts";
export * from "./errors/config.ts";
export * from "./errors/connection.ts";
export * from "./errors/route.ts";
export * from "./errors/encode.ts";
export * from "./errors/publish.ts";
export * from "./errors/state.ts";
export * from "./errors/any.ts";
