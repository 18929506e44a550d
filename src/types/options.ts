/**
 * The options of a publisher and of its calls.
 *
 * @module
 */

import type { BatchLimits, Operation } from "./batch.ts";
import type { ConnectionConfig } from "./connection.ts";
import type { JsonForms } from "./json_forms.ts";
import type { Progress } from "./progress.ts";
import type { WriteReceipt } from "./receipt.ts";

/**
 * A part of every message id. Set it if several pipelines write to one stream.
 *
 * @example
 * ```ts
 * import { messageId, type Namespace } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const namespace: Required<Namespace> = { tenant: "acme", pipeline: "orders", sinkConnection: "nats" };
 * const destination = { stream: "ORDERS", subject: "orders.eu", resource: "eu" };
 * assert.equal(messageId({ ...namespace, ...destination }, "evt-1").length, 64);
 * ```
 */
export interface Namespace {
  /** The tenant's name. @default {""} */
  readonly tenant?: string;
  /** The pipeline's name. @default {""} */
  readonly pipeline?: string;
  /** The name of the configured sink. @default {""} */
  readonly sinkConnection?: string;
}

/**
 * How rows are delivered: one acknowledgment per row, all rows of a batch or none, or cumulative acknowledgments.
 *
 * @example
 * ```ts
 * import type { PublishMode } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const modeFor = (rows: number): PublishMode => rows <= 1000 ? "atomic" : "individual";
 * assert.deepEqual([modeFor(10), modeFor(5000)], ["atomic", "individual"]);
 * ```
 */
export type PublishMode = "individual" | "atomic" | "fast";

/**
 * How a value in a subject that is not a token is handled: the row is refused, or the value is percent-encoded.
 *
 * @example
 * ```ts
 * import type { PublisherOptions, SubjectEscape } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const subjectEscape: SubjectEscape = "percent"; // the city "St. Gallen" becomes the token "St%2E%20Gallen"
 * const options: PublisherOptions = { stream: "VISITS", subject: "visits.{row.city}", subjectEscape };
 * assert.equal(options.subjectEscape, "percent");
 * ```
 */
export type SubjectEscape = "none" | "percent";

/**
 * The columns of the body: those of a list in its order, or all but those of a list in the order of the schema.
 *
 * @example
 * ```ts
 * import { type BodyColumns, encodeRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const bodyColumns: BodyColumns = { omit: ["region"] };
 * const { bytes } = encodeRows(tableFromArrays({ id: Int32Array.of(1), region: ["eu"] }), { bodyColumns });
 * assert.equal(new TextDecoder().decode(bytes), '{"id":1}');
 * ```
 */
export type BodyColumns =
  | { readonly pick: readonly string[]; readonly omit?: never }
  | { readonly omit: readonly string[]; readonly pick?: never };

/**
 * Where and how rows are published.
 *
 * @example
 * ```ts
 * import { captureFilter, type PublisherOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const options: PublisherOptions = { stream: "ORDERS", subject: "orders.{resource}", retry: { budget: "30s" } };
 * assert.equal(captureFilter(options, "eu"), "orders.>");
 * ```
 */
export interface PublisherOptions {
  /** The stream's name; `{resource}` stands for the destination resource. */
  readonly stream: string;
  /**
   * The publish subject; `{resource}` stands for the destination resource, `{row.NAME}` for the row's value in the
   * column NAME, and `{row.NAME|TEXT}` gives a fallback for null and for the empty string. A value is one token
   * or a part of one; the column has strings, integers, booleans, UUIDs or dates.
   */
  readonly subject: string;
  /**
   * How a value in a subject that has `.`, `*`, `>`, white space or a control character is handled: `none` refuses the
   * row (`encode.subject`), `percent` percent-encodes these characters and `%`.
   *
   * @default {"none"}
   */
  readonly subjectEscape?: SubjectEscape;
  /**
   * Creates a missing stream.
   *
   * @default {true}
   */
  readonly createStream?: boolean;
  /**
   * The time from a row's submission to its acknowledgment: milliseconds, or a Go duration string such as `1m30s`.
   *
   * @default {"5s"}
   */
  readonly publishTimeout?: number | string;
  /**
   * The largest number of rows sent and not yet answered: 1 to 65,536.
   *
   * @default {1024}
   */
  readonly maxInFlight?: number;
  /**
   * The largest number of bytes of these rows: header block, payload and subject of each.
   *
   * @default {16777216}
   */
  readonly maxInFlightBytes?: number;
  /** A part of every message id. */
  readonly namespace?: Namespace;
  /**
   * The column that identifies a row across attempts, or several columns. One column has strings, integers, booleans,
   * decimals, dates, timestamps or fixed-size binary; several give the JSON array of their values. A row whose value is
   * null or empty, or whose values are all null, has no id. Only a column of the default name may be absent.
   *
   * @default {"_filament_event_id"}
   */
  readonly eventIdColumn?: string | readonly string[];
  /** The string column of each row's operation. With it, a batch must not have `operations`. */
  readonly operationColumn?: string;
  /**
   * The operation that each string of `operationColumn` stands for. Null and any other string refuse the batch.
   *
   * @default the three words themselves
   */
  readonly operationValues?: Readonly<Record<string, Operation>>;
  /** The columns of the body. @default all columns */
  readonly bodyColumns?: BodyColumns;
  /** The string or binary column whose bytes are the body; null is an empty body. */
  readonly rawBodyColumn?: string;
  /** `Content-Type`. @default `application/json`, with `rawBodyColumn` `application/octet-stream` */
  readonly contentType?: string;
  /**
   * Sends `Nats-Expected-Stream`. Turn it off only for streams that old servers mirror or source.
   *
   * @default {true}
   */
  readonly expectedStream?: boolean;
  /**
   * Sends `Content-Type`, `Filament-Operation` and `Nats-Expected-Stream`. Without them, a message has only the
   * headers that other options ask for, and the server stores more rows per second. Consumers then cannot tell a delete
   * from an insert, so all rows must be inserts.
   *
   * @default {true}
   */
  readonly standardHeaders?: boolean;
  /**
   * Headers for every message. Names have visible ASCII characters without a colon, do not begin with `Nats-` or contain
   * `Nats-Msg-Id`, and are not `Content-Type` or `Filament-Operation`; values have no CR, LF or `Nats-Msg-Id`.
   * In a value, `{row.NAME}` and `{row.NAME|TEXT}` stand for the row's value as in `subject`; the column may also have
   * decimals, floats, times or timestamps. If the value is null and has no fallback, the header is left out.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** The time to live of each message: a Go duration string of at least one second, or `never`. */
  readonly ttl?: string;
  /** The JetStream domain: API requests go to `$JS.<domain>.API.`. */
  readonly domain?: string;
  /** The prefix of reply subjects. @default the connection's own prefix, otherwise `_INBOX` */
  readonly inboxPrefix?: string;
  /**
   * Hands over the caller's connection: it is closed with the publisher.
   *
   * @default {false}
   */
  readonly ownsConnection?: boolean;
  /** Called with the progress at most ten times a second, and at the end of each call, before its promise settles. */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Sends a row again if that cannot store it twice, over the same connection, within a time budget that begins with a
   * call's first failed row. Off by default. Rows that are sent again may be stored after later rows, except with
   * `maxInFlight: 1`.
   */
  readonly retry?: { readonly budget: number | string };
  /**
   * How rows are delivered: one acknowledgment per row, all rows of a batch or none, or cumulative acknowledgments.
   *
   * @default {"individual"}
   */
  readonly publishMode?: PublishMode;
  /** How values are written as JSON. Message ids do not depend on it. */
  readonly json?: JsonForms;
}

/**
 * The options of a connection and a publisher in one object: `{ ... } satisfies SinkConfig`.
 *
 * @example
 * ```ts
 * import { parseConfig, type SinkConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const config = { url: "nats://localhost", stream: "ORDERS", subject: "orders.{resource}" } satisfies SinkConfig;
 * assert.deepEqual({ ...parseConfig(config) }, config);
 * ```
 */
export type SinkConfig = ConnectionConfig & PublisherOptions;

/**
 * The options that publishing functions accept: those of a publisher, or a whole SinkConfig.
 *
 * @example
 * ```ts
 * import type { Options } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const config = { url: "nats://localhost", stream: "ORDERS", subject: "orders.eu" };
 * const options: Options[] = [config, { stream: "ORDERS", subject: "orders.eu" }];
 * assert.equal(options[0]?.stream, options[1]?.stream);
 * ```
 */
export type Options = PublisherOptions & Partial<ConnectionConfig>;

/**
 * The options of one call that publishes.
 *
 * @example
 * ```ts
 * import type { CallOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const options: CallOptions = { signal: AbortSignal.abort("enough") };
 * assert.equal(options.signal?.reason, "enough");
 * ```
 */
export interface CallOptions {
  /**
   * Ends the call. If none of its rows was sent, only that call ends. If rows are on the wire, their outcome is unknown:
   * on a caller's own connection still only that call ends, otherwise the whole publisher. A run or a session ends in
   * either case.
   */
  readonly signal?: AbortSignal;
}

/**
 * The options of a call that publishes a sequence of batches.
 *
 * @example
 * ```ts
 * import type { ApplyAllOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const journal: string[] = [];
 * const options: ApplyAllOptions = {
 *   batchMaxRows: 1000,
 *   onReceipt: ({ uri, rows }) => void journal.push(`${uri} ${rows}`),
 * };
 * assert.equal(options.batchMaxRows, 1000);
 * ```
 */
export interface ApplyAllOptions extends BatchLimits, CallOptions {
  /**
   * Called with each piece's receipt, in order, and awaited. Do not await `commit()` inside it: `commit()` waits for this
   * callback. An abort or a close does not wait for it.
   */
  readonly onReceipt?: (receipt: WriteReceipt) => void | Promise<void>;
}
