/**
 * The six errors of jetrow, one for each thing a caller would do next, and the closed union of their codes.
 *
 * ```ts
 * import { isJetrowError } from "@jetrow/jetrow/errors";
 * import { parseConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * try {
 *   parseConfig({ url: "nats://localhost", stream: "ORDERS", subject: "orders", max_in_flight: 0 });
 * } catch (error) {
 *   assert.ok(isJetrowError(error, "config.range"));
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
