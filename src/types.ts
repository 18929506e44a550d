/**
 * The types of jetrow: rows, options, receipts, epochs. Types only; nothing here runs.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";

// --- Rows -----------------------------------------------------------------------------------------------------------

/**
 * A field of an Arrow schema, as apache-arrow and flechette both have it.
 *
 * @example
 * ```ts
 * import type { ArrowField } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const field: ArrowField = tableFromArrays({ id: [1] }).schema.fields[0]!;
 * assert.equal(field.name, "id");
 * ```
 */
export interface ArrowField {
  /** The column's name. */
  readonly name: string;
  /** The library's own type object; told apart by its `typeId`. */
  readonly type: { readonly typeId: number };
  /** Key and value metadata, where there is any. */
  readonly metadata?: ReadonlyMap<string, string> | null;
}

/**
 * An Arrow schema.
 *
 * @example
 * ```ts
 * import type { ArrowSchema } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const schema: ArrowSchema = tableFromArrays({ id: [1], name: ["a"] }).schema;
 * assert.deepEqual(schema.fields.map(({ name }) => name), ["id", "name"]);
 * ```
 */
export interface ArrowSchema {
  /** The columns, in order. */
  readonly fields: readonly ArrowField[];
}

/**
 * apache-arrow's `RecordBatch`, of any version with this shape.
 *
 * @example
 * ```ts
 * import { type ArrowBatch, encodeRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const batch: ArrowBatch = tableFromArrays({ id: [1, 2] }).batches[0]!;
 * assert.equal(encodeRows(batch).offsets.length, batch.numRows + 1);
 * ```
 */
export interface ArrowBatch {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows there are. */
  readonly numRows: number;
  /** apache-arrow's `Data<Struct>`: a child for each column. */
  readonly data: { readonly length: number; readonly children: readonly unknown[] };
}

/**
 * apache-arrow's `Table`: record batches in a row.
 *
 * @example
 * ```ts
 * import { type ArrowTable, encodeRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const table: ArrowTable = tableFromArrays({ id: [1, 2] });
 * assert.equal(encodeRows(table).offsets.length, table.numRows + 1);
 * ```
 */
export interface ArrowTable {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows all batches have. */
  readonly numRows: number;
  /** The chunks. */
  readonly batches: readonly ArrowBatch[];
}

/**
 * flechette's `Table`: columns, each in chunks of its own.
 *
 * @example
 * ```ts
 * import { encodeRows, type FlechetteTable } from "@jetrow/jetrow";
 * import { tableFromArrays } from "@uwdata/flechette";
 * import assert from "node:assert/strict";
 *
 * const table: FlechetteTable = tableFromArrays({ id: [1, 2] });
 * assert.equal(encodeRows(table).offsets.length, table.numRows + 1);
 * ```
 */
export interface FlechetteTable {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows there are. */
  readonly numRows: number;
  /** The columns. */
  readonly children: readonly { readonly length: number; readonly data: readonly unknown[] }[];
}

/**
 * Some rows of others, without a copy: what `sliceRows` gives.
 *
 * @example
 * ```ts
 * import { type ArrowWindow, sliceRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const table = tableFromArrays({ id: [1, 2, 3] });
 * const pieces = [...sliceRows(table, { batchMaxRows: 2 })] as ArrowWindow[];
 * assert.deepEqual(pieces.map(({ from, numRows }) => [from, numRows]), [[0, 2], [2, 1]]);
 * ```
 */
export interface ArrowWindow {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows there are. */
  readonly numRows: number;
  /** The rows that these are part of. */
  readonly source: ArrowBatch | ArrowTable | FlechetteTable;
  /** The number of the first row in `source`. */
  readonly from: number;
}

/**
 * What jetrow takes as rows: structural, so that any version of apache-arrow or flechette serves.
 *
 * @example
 * ```ts
 * import { type ArrowRows, encodeRows } from "@jetrow/jetrow";
 * import * as flechette from "@uwdata/flechette";
 * import * as arrow from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const all: ArrowRows[] = [arrow.tableFromArrays({ id: [1] }), flechette.tableFromArrays({ id: [1] })];
 * for (const rows of all) assert.equal(new TextDecoder().decode(encodeRows(rows).bytes), '{"id":1}');
 * ```
 */
export type ArrowRows = ArrowBatch | ArrowTable | FlechetteTable | ArrowWindow;

/**
 * What a row does at its destination; a header of its message.
 *
 * @example
 * ```ts
 * import type { Operation } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const operations: Operation[] = ["insert", "update", "delete"];
 * assert.equal(operations.length, 3);
 * ```
 */
export type Operation = "insert" | "update" | "delete";

/**
 * Rows for one destination resource.
 *
 * @example
 * ```ts
 * import type { RowBatch } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const rows = tableFromArrays({ id: [1, 2, 3] });
 * const batch: RowBatch = { resource: "orders", rows, operations: ["insert", "update", "delete"], only: [0, 2] };
 * assert.equal(batch.operations?.length, batch.rows.numRows);
 * ```
 */
export interface RowBatch {
  /** The destination resource's name; it fills the placeholder of the templates. */
  readonly resource: string;
  /** The rows. */
  readonly rows: ArrowRows;
  /**
   * One operation for all rows, or one a row (a table's rows counted across its batches).
   *
   * @default {"insert"}
   */
  readonly operations?: Operation | readonly Operation[];
  /** The row numbers to publish, ascending. Absent: all. Row numbers keep their meaning. */
  readonly only?: readonly number[];
}

/**
 * A sequence of batches.
 *
 * @example
 * ```ts
 * import type { Batches, RowBatch } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * async function* daily(): AsyncGenerator<RowBatch> {
 *   yield { resource: "monday", rows: tableFromArrays({ id: [1] }) };
 * }
 * const batches: Batches = daily();
 * assert.ok(Symbol.asyncIterator in batches);
 * ```
 */
export type Batches = Iterable<RowBatch> | AsyncIterable<RowBatch>;

/**
 * Where a batch is cut into pieces.
 *
 * @example
 * ```ts
 * import { type BatchLimits, sliceRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const limits: BatchLimits = { batchMaxRows: 1000, batchMaxBytes: 1024 * 1024 };
 * assert.equal([...sliceRows(tableFromArrays({ id: new Int32Array(2500) }), limits)].length, 3);
 * ```
 */
export interface BatchLimits {
  /**
   * Rows a piece has at most.
   *
   * @default {8192}
   */
  readonly batchMaxRows?: number;
  /**
   * Bytes of Arrow buffers that a piece's rows reference at most; a single row may pass it.
   *
   * @default {16777216}
   */
  readonly batchMaxBytes?: number;
}

/**
 * Rows as JSON, side by side.
 *
 * @example
 * ```ts
 * import { type EncodedRows, encodeRows } from "@jetrow/jetrow";
 * import { tableFromArrays } from "apache-arrow";
 * import assert from "node:assert/strict";
 *
 * const { bytes, offsets }: EncodedRows = encodeRows(tableFromArrays({ id: [1, 2] }));
 * assert.equal(new TextDecoder().decode(bytes.subarray(offsets[1], offsets[2])), '{"id":2}');
 * ```
 */
export interface EncodedRows {
  /** All bodies, one after another, without separators. */
  readonly bytes: Uint8Array;
  /** Where each row begins; one more entry than rows, the last is the end. */
  readonly offsets: Uint32Array;
  /** CRC32C (Castagnoli) of `bytes`; computed on first reading. */
  readonly crc32c: number;
}

// --- Options --------------------------------------------------------------------------------------------------------

/**
 * How a connection proves who it is.
 *
 * @example
 * ```ts
 * import { type AuthMode, parseConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const authMode: AuthMode = "token";
 * const document = { url: "nats://localhost", stream: "S", subject: "s", auth_mode: authMode, token: "t" };
 * assert.equal(parseConfig(document).authMode, "token");
 * ```
 */
export type AuthMode = "none" | "user_password" | "jwt" | "token";

/**
 * TLS settings, where the runtime has them. Texts are PEM.
 *
 * @example
 * ```ts
 * import type { ConnectionConfig, TlsConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const tls: TlsConfig = { ca: "-----BEGIN CERTIFICATE-----...", handshakeFirst: true };
 * const config: ConnectionConfig = { url: "tls://localhost", tls };
 * assert.ok(config.tls?.handshakeFirst);
 * ```
 */
export interface TlsConfig {
  /** Certificate authorities to trust, PEM. */
  readonly ca?: string;
  /** Client certificate, PEM; goes with `key`. */
  readonly cert?: string;
  /** Client key, PEM; goes with `cert`. */
  readonly key?: string;
  /** Start TLS before the server's first line; must match the server's `handshake_first`. */
  readonly handshakeFirst?: boolean;
}

/**
 * How to reach the server.
 *
 * @example
 * ```ts
 * import type { ConnectionConfig } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const config: ConnectionConfig = { url: ["tls://a.example", "tls://b.example"], authMode: "token", token: "t" };
 * assert.equal(config.url.length, 2);
 * ```
 */
export interface ConnectionConfig {
  /** `nats://`, `tls://`, `ws://` or `wss://`; one or several (an array, or separated by commas). */
  readonly url: string | readonly string[];
  /**
   * Which credentials are used. The mode's own fields are required, all others refused.
   *
   * @default {"none"}
   */
  readonly authMode?: AuthMode;
  /** With `user_password`. */
  readonly username?: string;
  /** With `user_password`. */
  readonly password?: string;
  /** With `jwt`: the user's JWT. */
  readonly jwt?: string;
  /** With `jwt`: the user's seed, which signs the server's nonce. */
  readonly nkeySeed?: string;
  /** With `token`. */
  readonly token?: string;
  /**
   * Prefix of every reply subject.
   *
   * @default {"_INBOX"}
   */
  readonly inboxPrefix?: string;
  /** The connection's name, shown by the server's monitoring. */
  readonly name?: string;
  /** How long a dial may take: milliseconds, or a Go duration text. */
  readonly connectTimeout?: number | string;
  /**
   * Whether the client dials again after it lost the connection. A publisher that saw it lost is over either way.
   *
   * @default {false}
   */
  readonly reconnect?: boolean;
  /** TLS settings for `nats://` and `tls://`. */
  readonly tls?: TlsConfig;
}

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
 * What `onProgress` is told.
 *
 * @example
 * ```ts
 * import type { Progress, PublisherOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const seen: Progress[] = [];
 * const options: PublisherOptions = { stream: "S", subject: "s", onProgress: (progress) => void seen.push(progress) };
 * options.onProgress?.({ submitted: 2, acked: 1, bytes: 8, inFlight: 1, inFlightBytes: 90 });
 * assert.equal(seen[0]?.submitted, seen[0]!.acked + seen[0]!.inFlight);
 * ```
 */
export interface Progress {
  /** Rows sent so far. */
  readonly submitted: number;
  /** Rows acknowledged so far, duplicates included. */
  readonly acked: number;
  /** Bytes of JSON acknowledged so far. */
  readonly bytes: number;
  /** Rows sent and not yet answered. */
  readonly inFlight: number;
  /** Their bytes: header block, payload and subject. */
  readonly inFlightBytes: number;
}

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
  /** Static headers for every message. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Per-message time to live: a duration text of at least one second, or `never`. */
  readonly ttl?: string;
  /** The JetStream domain of the API requests. */
  readonly domain?: string;
  /** Prefix of every reply subject. @default the connection's own, else `_INBOX` */
  readonly inboxPrefix?: string;
  /**
   * Hands a caller's connection over, to be closed with the publisher.
   *
   * @default {false}
   */
  readonly ownsConnection?: boolean;
  /** Told of progress, at most ten times a second. */
  readonly onProgress?: (progress: Progress) => void;
  /** Sends again what is safe to send again, within a budget of time. Off by default. */
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
 * A connection, which stays the caller's, or a function that dials one, which is then closed by who dialled.
 *
 * @example
 * ```ts
 * import { connect, type Dial } from "@jetrow/jetrow/web";
 * import assert from "node:assert/strict";
 *
 * const dial: Dial = () => connect({ url: "ws://localhost:8080" });
 * assert.equal(typeof dial, "function");
 * ```
 */
export type Dial = NatsConnection | (() => Promise<NatsConnection>);

/**
 * Options of one call that publishes.
 *
 * @example
 * ```ts
 * import type { PublishOptions } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const options: PublishOptions = { signal: AbortSignal.abort("enough") };
 * assert.equal(options.signal?.reason, "enough");
 * ```
 */
export interface PublishOptions {
  /** Ends the call; rows already sent are then of unknown fate. */
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
 * const options: ApplyAllOptions = { batchMaxRows: 1000, onReceipt: ({ uri, rows }) => void journal.push(`${uri} ${rows}`) };
 * assert.equal(options.batchMaxRows, 1000);
 * ```
 */
export interface ApplyAllOptions extends BatchLimits, PublishOptions {
  /** Told each piece's receipt, in order, and awaited. */
  readonly onReceipt?: (receipt: WriteReceipt) => void | Promise<void>;
}

// --- Receipts -------------------------------------------------------------------------------------------------------

/**
 * Proof that every row of a batch was acknowledged.
 *
 * @example
 * ```ts
 * import type { WriteReceipt } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const receipt: WriteReceipt = {
 *   uri: "nats://ORDERS/eu", resource: "eu", stream: "ORDERS", subject: "orders.eu",
 *   rows: 3, bytes: 24, crc32c: 0x1234, duplicates: 0, firstSequence: 7, lastSequence: 12,
 *   sequences: [[7, 8], [12, 12]], batch: 0, offset: 0,
 * };
 * const counted = receipt.sequences!.reduce((rows, [first, last]) => rows + last - first + 1, 0);
 * assert.equal(counted, receipt.rows);
 * ```
 */
export interface WriteReceipt {
  /** `nats://<stream>/<resource>`. */
  readonly uri: string;
  /** The destination resource. */
  readonly resource: string;
  /** The stream. */
  readonly stream: string;
  /** The subject. */
  readonly subject: string;
  /** Rows acknowledged, duplicates included. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** CRC32C over the concatenated bodies, without separators. */
  readonly crc32c: number;
  /** Rows that the stream had already. Absent where the server does not tell. */
  readonly duplicates?: number;
  /** The lowest stream sequence of its rows. */
  readonly firstSequence?: number;
  /** The highest stream sequence of its rows. */
  readonly lastSequence?: number;
  /** The stream sequences in row order, as pairs of the first and the last of consecutive ones. */
  readonly sequences?: readonly (readonly [first: number, last: number])[];
  /** The batch's index in its sequence of batches; 0 for a single one. */
  readonly batch: number;
  /** The piece's first row within its batch (with `only`: within the rows selected). */
  readonly offset: number;
}

/**
 * What a run or epoch wrote for one resource.
 *
 * @example
 * ```ts
 * import type { ResourceTotal } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const total: ResourceTotal = { resource: "eu", stream: "ORDERS", rows: 3, bytes: 24, duplicates: 1, batches: 1 };
 * assert.equal(total.rows - total.duplicates!, 2);
 * ```
 */
export interface ResourceTotal {
  /** The destination resource. */
  readonly resource: string;
  /** The stream. */
  readonly stream: string;
  /** Rows acknowledged, duplicates included. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** Rows that the stream had already. Absent where the server does not tell. */
  readonly duplicates?: number;
  /** Receipts counted. */
  readonly batches: number;
}

/**
 * What a whole run wrote.
 *
 * @example
 * ```ts
 * import type { RunReceipt } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const eu = { resource: "eu", stream: "ORDERS", rows: 3, bytes: 24, batches: 1 };
 * const receipt: RunReceipt = { resources: [eu], rows: 3, bytes: 24 };
 * assert.equal(receipt.resources.reduce((rows, total) => rows + total.rows, 0), receipt.rows);
 * ```
 */
export interface RunReceipt {
  /** Totals by resource, sorted by name. */
  readonly resources: readonly ResourceTotal[];
  /** Rows acknowledged, duplicates included. */
  readonly rows: number;
  /** Bytes of JSON. */
  readonly bytes: number;
  /** Rows that the streams had already. Absent where the server does not tell. */
  readonly duplicates?: number;
}

/**
 * What a publisher is doing now.
 *
 * @example
 * ```ts
 * import type { Publisher, PublisherStats } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const isIdle = ({ inFlight }: PublisherStats) => inFlight === 0;
 * const watch = (publisher: Publisher) => isIdle(publisher.stats());
 * assert.equal(typeof watch, "function");
 * ```
 */
export interface PublisherStats {
  /** Whether the connection is up, as far as is known. */
  readonly connected: boolean;
  /** Rows sent and not yet answered. */
  readonly inFlight: number;
  /** Their bytes: header block, payload and subject. */
  readonly inFlightBytes: number;
  /** Rows acknowledged since opening, without duplicates. */
  readonly acked: number;
  /** Rows that the streams had already. */
  readonly duplicates: number;
  /** Bytes of JSON acknowledged since opening. */
  readonly bytes: number;
  /** Calls that failed since opening. */
  readonly failures: number;
  /** How messages reach the client: whole frames handed to its protocol handler, or one `publish` a message. */
  readonly wire: "frames" | "publish";
  /** Streams that were missing and were created, in order. */
  readonly created: readonly string[];
}

/**
 * An epoch of a session's attempt.
 *
 * @example
 * ```ts
 * import type { EpochRef } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const first: EpochRef = { attempt: "attempt-1", epoch: 1 };
 * const next: EpochRef = { ...first, epoch: first.epoch + 1 };
 * assert.equal(next.epoch, 2);
 * ```
 */
export interface EpochRef {
  /** The attempt that the session was opened for. */
  readonly attempt: string;
  /** A positive whole number. */
  readonly epoch: number;
}

// --- Ids ------------------------------------------------------------------------------------------------------------

/**
 * What a message id stands for beside the event id.
 *
 * @example
 * ```ts
 * import { type IdScope, messageIdentity } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const scope: IdScope = { tenant: "", pipeline: "", sinkConnection: "", stream: "S", subject: "s", resource: "r" };
 * assert.ok(messageIdentity(scope, "evt-1").endsWith('"S","s","r","evt-1"]'));
 * ```
 */
export interface IdScope {
  /** The tenant's name. */
  readonly tenant: string;
  /** The pipeline's name. */
  readonly pipeline: string;
  /** The name of the configured sink. */
  readonly sinkConnection: string;
  /** The stream. */
  readonly stream: string;
  /** The concrete publish subject. */
  readonly subject: string;
  /** The destination resource. */
  readonly resource: string;
}
