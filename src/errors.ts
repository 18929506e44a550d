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

/**
 * Codes of {@linkcode ConfigError}: the caller fixes the options.
 *
 * @example
 * ```ts
 * import { ConfigError, type ConfigErrorCode } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const code: ConfigErrorCode = "config.missing";
 * assert.equal(new ConfigError(code, "what was wrong", { field: "url" }).code, code);
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
 * import { ConnectionError, type ConnectionErrorCode } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const code: ConnectionErrorCode = "connection.refused";
 * assert.equal(new ConnectionError(code, "what was wrong").code, code);
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
 * import { RouteError, type RouteErrorCode } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const code: RouteErrorCode = "route.missing";
 * assert.equal(new RouteError(code, "what was wrong").code, code);
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
 * Codes of {@linkcode EncodeError}: the caller fixes the data; nothing was sent.
 *
 * @example
 * ```ts
 * import { EncodeError, type EncodeErrorCode } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const code: EncodeErrorCode = "encode.value";
 * assert.equal(new EncodeError(code, "what was wrong").code, code);
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
  | "encode.id"
  | "encode.duplicate_id"
  | "encode.operations";

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
  | "publish.stream_changed";

/**
 * Codes of {@linkcode StateError}: the caller fixes the calling code.
 *
 * @example
 * ```ts
 * import { StateError, type StateErrorCode } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const code: StateErrorCode = "state.closed";
 * assert.equal(new StateError(code, "what was wrong").code, code);
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
 * import { isJetrowError, type JetrowErrorCode, StateError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const codeOf = (error: unknown): JetrowErrorCode | undefined => isJetrowError(error) ? error.code : undefined;
 * assert.equal(codeOf(new StateError("state.closed", "closed")), "state.closed");
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

/**
 * What is known of one row after a failed call.
 *
 * @example
 * ```ts
 * import type { RowOutcome } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const mayBeStored = (outcome: RowOutcome) => outcome !== "rejected" && outcome !== "unsent";
 * assert.deepEqual([mayBeStored("unknown"), mayBeStored("unsent")], [true, false]);
 * ```
 */
export type RowOutcome = "acked" | "duplicate" | "rejected" | "unknown" | "unsent";

/**
 * What is known of every row of a failed call. The counts always add up to the rows of the batch.
 *
 * @example
 * ```ts
 * import type { RowBatch, RowOutcomes } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * // What is left of a batch to be sent again.
 * const rest = (batch: RowBatch, outcomes: RowOutcomes): RowBatch => ({ ...batch, only: outcomes.unsettled() });
 * const outcomes: RowOutcomes = {
 *   counts: { acked: 1, duplicate: 0, rejected: 0, unknown: 1, unsent: 0 },
 *   at: (row) => row === 0 ? "acked" : "unknown",
 *   unsettled: () => [1],
 * };
 * assert.deepEqual(rest({ resource: "eu", rows: tableFromArrays({ id: [1, 2] }) }, outcomes).only, [1]);
 * ```
 */
export interface RowOutcomes {
  /** How many rows ended each way; `acked` does not include the duplicates. */
  readonly counts: Readonly<Record<RowOutcome, number>>;
  /** The outcome of one row, by its number in the batch as the caller gave it; a row that was not selected throws a RangeError. */
  at(row: number): RowOutcome;
  /** The rows to send again, ascending: rejected, unknown and unsent ones. Ready for `RowBatch.only`. */
  unsettled(): readonly number[];
}

/**
 * What a failed call left behind: `none` was sent, `partial`: every row's fate is known, `uncertain`: some row's is not.
 *
 * @example
 * ```ts
 * import type { PublishOutcome } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const isProven = (outcome: PublishOutcome) => outcome !== "uncertain";
 * assert.deepEqual([isProven("partial"), isProven("uncertain")], [true, false]);
 * ```
 */
export type PublishOutcome = "none" | "partial" | "uncertain";

/** The mark by which errors of another copy of the package are known. */
const MARK = Symbol.for("jetrow.error");

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

/**
 * Details of a {@linkcode ConfigError}.
 *
 * @example
 * ```ts
 * import { ConfigError, type ConfigErrorDetails } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const details: ConfigErrorDetails = { field: "maxInFlight" };
 * assert.equal(new ConfigError("config.range", "maxInFlight must be 1 to 65536: received 0", details).field, "maxInFlight");
 * ```
 */
export interface ConfigErrorDetails {
  /** The option as the caller wrote it: snake_case from a document, camelCase from options. */
  readonly field: string;
  /** What led to this error. */
  readonly cause?: unknown;
}

/**
 * The options are wrong: the caller fixes them. Nothing was dialled, looked up or sent.
 *
 * @example
 * ```ts
 * import { ConfigError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const error = new ConfigError("config.missing", "stream is required", { field: "stream" });
 * assert.ok(error.field === "stream");
 * ```
 */
export class ConfigError extends JetrowError {
  /** Always `"ConfigError"`. */
  override readonly name = "ConfigError" as const;
  /** What is wrong with the option. */
  override readonly code: ConfigErrorCode;
  /** The option as the caller wrote it. */
  readonly field: string;

  /** Makes the error of one option. */
  constructor(code: ConfigErrorCode, message: string, details: ConfigErrorDetails) {
    super(message, details);
    this.code = code;
    this.field = details.field;
  }
}

/**
 * The server, the network or the credentials are wrong, or an answer did not come. No row was sent.
 *
 * @example
 * ```ts
 * import { ConnectionError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const error = new ConnectionError("connection.refused", "Cannot connect to nats://localhost:1: connection refused");
 * assert.ok(error.code === "connection.refused");
 * ```
 */
export class ConnectionError extends JetrowError {
  /** Always `"ConnectionError"`. */
  override readonly name = "ConnectionError" as const;
  /** What stood in the way. */
  override readonly code: ConnectionErrorCode;

  /** Makes the error. */
  constructor(code: ConnectionErrorCode, message: string, details: { readonly cause?: unknown } = {}) {
    super(message, details);
    this.code = code;
  }
}

/**
 * Details of a {@linkcode RouteError}: which of the three are known at that point.
 *
 * @example
 * ```ts
 * import { RouteError, type RouteErrorDetails } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const details: RouteErrorDetails = { stream: "ORDERS", subject: "orders.eu" };
 * assert.equal(new RouteError("route.not_captured", "ORDERS does not capture orders.eu", details).stream, "ORDERS");
 * ```
 */
export interface RouteErrorDetails {
  /** The destination resource. */
  readonly resource?: string | undefined;
  /** The stream's name. */
  readonly stream?: string | undefined;
  /** The subject, or the filter that was asked for. */
  readonly subject?: string | undefined;
  /** What led to this error. */
  readonly cause?: unknown;
}

/**
 * A resource cannot be published where the options send it: the caller fixes the mapping or the stream. No row of the
 * batch was sent.
 *
 * @example
 * ```ts
 * import { assertSubject } from "@jetrow/jetrow/subject";
 * import { RouteError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * try {
 *   assertSubject("orders.*");
 * } catch (error) {
 *   assert.ok(error instanceof RouteError && error.code === "route.subject");
 * }
 * ```
 */
export class RouteError extends JetrowError {
  /** Always `"RouteError"`. */
  override readonly name = "RouteError" as const;
  /** What is wrong with the destination. */
  override readonly code: RouteErrorCode;
  /** The destination resource, where one is concerned. */
  readonly resource: string | undefined;
  /** The stream, where one is concerned. */
  readonly stream: string | undefined;
  /** The subject or filter, where one is concerned. */
  readonly subject: string | undefined;

  /** Makes the error. */
  constructor(code: RouteErrorCode, message: string, details: RouteErrorDetails = {}) {
    super(message, details);
    this.code = code;
    this.resource = details.resource;
    this.stream = details.stream;
    this.subject = details.subject;
  }
}

/**
 * Details of an {@linkcode EncodeError}: where in the batch, and how large.
 *
 * @example
 * ```ts
 * import { EncodeError, type EncodeErrorDetails } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const details: EncodeErrorDetails = { row: 7, column: "note", size: 2_000_000, limit: 1_048_576 };
 * assert.equal(new EncodeError("encode.too_large", "row 7 has 2000000 bytes", details).row, 7);
 * ```
 */
export interface EncodeErrorDetails {
  /** The row's number in the batch as the caller gave it. */
  readonly row?: number | undefined;
  /** The column's name. */
  readonly column?: string | undefined;
  /** Bytes that the message or header block would have. */
  readonly size?: number | undefined;
  /** Bytes that are allowed. */
  readonly limit?: number | undefined;
  /** What led to this error. */
  readonly cause?: unknown;
}

/**
 * The data cannot become messages: the caller fixes it. Nothing of the batch was sent.
 *
 * @example
 * ```ts
 * import { encodeRows } from "@jetrow/jetrow/json";
 * import { EncodeError } from "@jetrow/jetrow/errors";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const table = tableFromArrays({ a: [1] });
 * const twice = { ...table, numRows: 1, batches: table.batches, schema: { fields: [...table.schema.fields, ...table.schema.fields] } };
 * try {
 *   encodeRows(twice);
 * } catch (error) {
 *   assert.ok(error instanceof EncodeError && error.code === "encode.column_name");
 * }
 * ```
 */
export class EncodeError extends JetrowError {
  /** Always `"EncodeError"`. */
  override readonly name = "EncodeError" as const;
  /** What is wrong with the data. */
  override readonly code: EncodeErrorCode;
  /** The row's number, where one is concerned. */
  readonly row: number | undefined;
  /** The column's name, where one is concerned. */
  readonly column: string | undefined;
  /** Bytes that it would take, where a limit was passed. */
  readonly size: number | undefined;
  /** The limit that was passed, in bytes. */
  readonly limit: number | undefined;

  /** Makes the error. */
  constructor(code: EncodeErrorCode, message: string, details: EncodeErrorDetails = {}) {
    super(message, details);
    this.code = code;
    this.row = details.row;
    this.column = details.column;
    this.size = details.size;
    this.limit = details.limit;
  }
}

/**
 * Details of a {@linkcode PublishError}.
 *
 * @example
 * ```ts
 * import { PublishError, type PublishErrorDetails } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * const counts = { acked: 0, duplicate: 0, rejected: 0, unknown: 1, unsent: 0 };
 * const rowOutcomes = { counts, at: () => "unknown" as const, unsettled: () => [0] };
 * const details: PublishErrorDetails = { outcome: "uncertain", rowOutcomes };
 * assert.deepEqual(new PublishError("publish.timeout", "no answer", details).rowOutcomes.unsettled(), [0]);
 * ```
 */
export interface PublishErrorDetails {
  /** What the call left behind. */
  readonly outcome: PublishOutcome;
  /** What is known of every row. */
  readonly rowOutcomes: RowOutcomes;
  /** The batch's index in a sequence of batches; 0 for a single one. */
  readonly batch?: number | undefined;
  /** The first row that failed. */
  readonly row?: number | undefined;
  /** The server's err_code, else its code, else the status. */
  readonly serverCode?: number | undefined;
  /** What led to this error. */
  readonly cause?: unknown;
}

/**
 * Publishing failed: `rowOutcomes` says what is known of every row, and the caller replays the unsettled ones.
 *
 * @example
 * ```ts
 * import { isJetrowError } from "@jetrow/jetrow/errors";
 * import assert from "node:assert/strict";
 *
 * function rowsToSendAgain(error: unknown): readonly number[] {
 *   return isJetrowError(error) && error.name === "PublishError" ? error.rowOutcomes.unsettled() : [];
 * }
 * assert.ok(rowsToSendAgain(new Error("other")).length === 0);
 * ```
 */
export class PublishError extends JetrowError {
  /** Always `"PublishError"`. */
  override readonly name = "PublishError" as const;
  /** The first failure's code. */
  override readonly code: PublishErrorCode;
  /** What the call left behind. */
  readonly outcome: PublishOutcome;
  /** What is known of every row. */
  readonly rowOutcomes: RowOutcomes;
  /** The batch's index in a sequence of batches; 0 for a single one. */
  readonly batch: number;
  /** The first row that failed, where the failure is one row's. */
  readonly row: number | undefined;
  /** The server's err_code, else its code, else the status. */
  readonly serverCode: number | undefined;

  /** Makes the error. */
  constructor(code: PublishErrorCode, message: string, details: PublishErrorDetails) {
    super(message, details);
    this.code = code;
    this.outcome = details.outcome;
    this.rowOutcomes = details.rowOutcomes;
    this.batch = details.batch ?? 0;
    this.row = details.row;
    this.serverCode = details.serverCode;
  }
}

/**
 * The calling code does things in an order that cannot be: it is the caller's to mend. Nothing was sent.
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

  /** Makes the error. */
  constructor(code: StateErrorCode, message: string, details: { readonly cause?: unknown } = {}) {
    super(message, details);
    this.code = code;
  }
}

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
