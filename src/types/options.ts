/**
 * The options of a publisher, and of its calls.
 *
 * @module
 */

import type { BatchLimits } from "./batch.ts";
import type { ConnectionConfig } from "./connection.ts";
import type { Progress } from "./progress.ts";
import type { WriteReceipt } from "./receipt.ts";

/**
 * Part of every message id: set it where several pipelines write to one stream.
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
 * How rows are delivered.
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
 * How and where rows are published.
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
  /** The publish subject; `{resource}` stands for the destination resource. */
  readonly subject: string;
  /**
   * Whether a missing stream is created.
   *
   * @default {true}
   */
  readonly createStream?: boolean;
  /**
   * From a row's submission to its acknowledgment: milliseconds, or a Go duration text such as `1m30s`.
   *
   * @default {"5s"}
   */
  readonly publishTimeout?: number | string;
  /**
   * Rows sent and not yet answered, at most: 1 to 65,536.
   *
   * @default {1024}
   */
  readonly maxInFlight?: number;
  /**
   * Their bytes, at most: header block, payload and subject of each.
   *
   * @default {16777216}
   */
  readonly maxInFlightBytes?: number;
  /** Part of every message id. */
  readonly namespace?: Namespace;
  /**
   * The text column that identifies a row across attempts. A column of the default name may be absent.
   *
   * @default {"_filament_event_id"}
   */
  readonly eventIdColumn?: string;
  /**
   * Whether `Nats-Expected-Stream` is sent. Off only for streams that old servers mirror or source.
   *
   * @default {true}
   */
  readonly expectedStream?: boolean;
  /**
   * Static headers for every message. Names are of visible ASCII without a colon, neither begin with `Nats-` nor
   * contain `Nats-Msg-Id`, and are not `Content-Type` or `Filament-Operation`; values have no CR, LF, brace or
   * `Nats-Msg-Id`.
   */
  readonly headers?: Readonly<Record<string, string>>;
  /** Per-message time to live: a duration text of at least one second, or `never`. */
  readonly ttl?: string;
  /** The JetStream domain of the API requests: `$JS.<domain>.API.` begins their subjects then. */
  readonly domain?: string;
  /** Prefix of every reply subject. @default the connection's own, else `_INBOX` */
  readonly inboxPrefix?: string;
  /**
   * Hands a caller's connection over, to be closed with the publisher.
   *
   * @default {false}
   */
  readonly ownsConnection?: boolean;
  /** Called with the progress at most ten times a second, and at the end of each call, before its promise settles. */
  readonly onProgress?: (progress: Progress) => void;
  /**
   * Sends again what is safe to send again, over the same connection, within a budget of time that begins with a call's
   * first failed row. Off by default. Rows that are sent again may be stored after later ones; with `maxInFlight: 1`
   * they are not.
   */
  readonly retry?: { readonly budget: number | string };
  /**
   * How rows are delivered: an acknowledgment each, all or none of a batch, or cumulative acknowledgments.
   *
   * @default {"individual"}
   */
  readonly publishMode?: PublishMode;
}

/**
 * One object for the connection and the publisher: `{ ... } satisfies SinkConfig`.
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
 * What functions that publish take: a whole SinkConfig will do; the connection's keys are not needed.
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
 * Options of one call that publishes.
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
   * Ends the call. Where none of its rows was sent, that call alone. Rows on the wire are then of unknown fate: on a
   * caller's own connection it is still that call alone, on one that was dialled or handed over the publisher ends. A
   * run or a session counts either as its failure.
   */
  readonly signal?: AbortSignal;
}

/**
 * Options of a call that publishes a sequence of batches.
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
   * Told each piece's receipt, in order, and awaited: by a commit, too, so that a commit awaited in here never comes. An
   * abort or close of the run or session does not wait for it.
   */
  readonly onReceipt?: (receipt: WriteReceipt) => void | Promise<void>;
}
