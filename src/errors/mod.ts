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
export * from "./base.ts";
export * from "./config.ts";
export * from "./connection.ts";
export * from "./route.ts";
export * from "./encode.ts";
export * from "./publish.ts";
export * from "./state.ts";
export * from "./any.ts";
