/**
 * The codes of errors: a closed union.
 *
 * @module
 */

/**
 * Codes of {@linkcode ConfigError}: the caller fixes the options.
 *
 * @example
 * ```ts
 * import { type ConfigErrorCode, isJetrowError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const expected: ConfigErrorCode = "config.missing";
 * const isExpected = (error: unknown): boolean => isJetrowError(error) && error.code === expected;
 * assert.equal(isExpected(new Error("other")), false);
 * ```
 */
export type ConfigErrorCode =
  | "config.missing"
  | "config.unknown"
  | "config.type"
  | "config.range"
  | "config.conflict"
  | "config.syntax";

/**
 * Codes of {@linkcode ConnectionError}: the caller fixes the server, the network or the credentials.
 *
 * @example
 * ```ts
 * import { type ConnectionErrorCode, isJetrowError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const expected: ConnectionErrorCode = "connection.refused";
 * const isExpected = (error: unknown): boolean => isJetrowError(error) && error.code === expected;
 * assert.equal(isExpected(new Error("other")), false);
 * ```
 */
export type ConnectionErrorCode =
  | "connection.refused"
  | "connection.timeout"
  | "connection.auth"
  | "connection.tls"
  | "connection.no_answer"
  | "connection.no_jetstream"
  | "connection.permission"
  | "connection.closed";

/**
 * Codes of {@linkcode RouteError}: the caller fixes the mapping or the stream.
 *
 * @example
 * ```ts
 * import { type RouteErrorCode, isJetrowError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const expected: RouteErrorCode = "route.missing";
 * const isExpected = (error: unknown): boolean => isJetrowError(error) && error.code === expected;
 * assert.equal(isExpected(new Error("other")), false);
 * ```
 */
export type RouteErrorCode =
  | "route.subject"
  | "route.stream_name"
  | "route.create"
  | "route.short_dedupe"
  | "route.too_small"
  | "route.missing"
  | "route.not_captured"
  | "route.no_ack"
  | "route.sealed"
  | "route.mirror"
  | "route.counter"
  | "route.no_interest"
  | "route.no_leader"
  | "route.offline"
  | "route.batch_flag"
  | "route.ttl_off";

/**
 * Codes of {@linkcode EncodeError}: the caller fixes the data.
 *
 * @example
 * ```ts
 * import { type EncodeErrorCode, isJetrowError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const expected: EncodeErrorCode = "encode.value";
 * const isExpected = (error: unknown): boolean => isJetrowError(error) && error.code === expected;
 * assert.equal(isExpected(new Error("other")), false);
 * ```
 */
export type EncodeErrorCode =
  | "encode.type"
  | "encode.value"
  | "encode.json"
  | "encode.column_name"
  | "encode.map_key"
  | "encode.malformed"
  | "encode.too_large"
  | "encode.no_id_column"
  | "encode.no_column"
  | "encode.id"
  | "encode.duplicate_id"
  | "encode.operations"
  | "encode.no_column"
  | "encode.subject"
  | "encode.header";

/**
 * Codes of {@linkcode PublishError}: the caller replays.
 *
 * @example
 * ```ts
 * import type { PublishErrorCode } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const again: readonly PublishErrorCode[] = ["publish.overloaded", "publish.no_responders"];
 * assert.ok(again.includes("publish.overloaded"));
 * ```
 */
export type PublishErrorCode =
  | "publish.timeout"
  | "publish.disconnected"
  | "publish.no_responders"
  | "publish.rejected"
  | "publish.wrong_stream"
  | "publish.bad_ack"
  | "publish.permission"
  | "publish.aborted"
  | "publish.overloaded"
  | "publish.stream_changed"
  | "publish.internal";

/**
 * Codes of {@linkcode StateError}: the caller fixes the calling code.
 *
 * @example
 * ```ts
 * import { type StateErrorCode, isJetrowError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const expected: StateErrorCode = "state.closed";
 * const isExpected = (error: unknown): boolean => isJetrowError(error) && error.code === expected;
 * assert.equal(isExpected(new Error("other")), false);
 * ```
 */
export type StateErrorCode =
  | "state.closed"
  | "state.committed"
  | "state.aborted"
  | "state.epoch_mismatch"
  | "state.unverifiable";

/**
 * Every code a jetrow error can carry.
 *
 * @example
 * ```ts
 * import { isJetrowError, type JetrowErrorCode } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const codeOf = (error: unknown): JetrowErrorCode | undefined => isJetrowError(error) ? error.code : undefined;
 * assert.equal(codeOf(new Error("closed")), undefined);
 * ```
 */
export type JetrowErrorCode =
  | ConfigErrorCode
  | ConnectionErrorCode
  | RouteErrorCode
  | EncodeErrorCode
  | PublishErrorCode
  | StateErrorCode;
