/**
 * The types of jetrow: rows, options, receipts, epochs. Types only; nothing here runs.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";

// --- Rows -----------------------------------------------------------------------------------------------------------

/** A field of an Arrow schema, as apache-arrow and flechette both have it. */
export interface ArrowField {
  /** The column's name. */
  readonly name: string;
  /** The library's own type object; told apart by its `typeId`. */
  readonly type: { readonly typeId: number };
  /** Key and value metadata, where there is any. */
  readonly metadata?: ReadonlyMap<string, string> | null;
}

/** An Arrow schema. */
export interface ArrowSchema {
  /** The columns, in order. */
  readonly fields: readonly ArrowField[];
}

/** apache-arrow's `RecordBatch`, of any version with this shape. */
export interface ArrowBatch {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows there are. */
  readonly numRows: number;
  /** apache-arrow's `Data<Struct>`: a child for each column. */
  readonly data: { readonly length: number; readonly children: readonly unknown[] };
}

/** apache-arrow's `Table`: record batches in a row. */
export interface ArrowTable {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows all batches have. */
  readonly numRows: number;
  /** The chunks. */
  readonly batches: readonly ArrowBatch[];
}

/** flechette's `Table`: columns, each in chunks of its own. */
export interface FlechetteTable {
  /** The columns' names, types and metadata. */
  readonly schema: ArrowSchema;
  /** How many rows there are. */
  readonly numRows: number;
  /** The columns. */
  readonly children: readonly { readonly length: number; readonly data: readonly unknown[] }[];
}

/** Some rows of others, without a copy: what `sliceRows` gives. */
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

/** What jetrow takes as rows: structural, so that any version of apache-arrow or flechette serves. */
export type ArrowRows = ArrowBatch | ArrowTable | FlechetteTable | ArrowWindow;

/** What a row does at its destination; a header of its message. */
export type Operation = "insert" | "update" | "delete";

/** Rows for one destination resource. */
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

/** A sequence of batches. */
export type Batches = Iterable<RowBatch> | AsyncIterable<RowBatch>;

/** Where a batch is cut into pieces. */
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

/** Rows as JSON, side by side. */
export interface EncodedRows {
  /** All bodies, one after another, without separators. */
  readonly bytes: Uint8Array;
  /** Where each row begins; one more entry than rows, the last is the end. */
  readonly offsets: Uint32Array;
  /** CRC32C (Castagnoli) of `bytes`; computed on first reading. */
  readonly crc32c: number;
}

// --- Options --------------------------------------------------------------------------------------------------------

/** How a connection proves who it is. */
export type AuthMode = "none" | "user_password" | "jwt" | "token";

/** TLS settings, where the runtime has them. Texts are PEM. */
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

/** How to reach the server. */
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

/** Part of every message id: set it where several pipelines write to one stream. */
export interface Namespace {
  /** The tenant's name. @default {""} */
  readonly tenant?: string;
  /** The pipeline's name. @default {""} */
  readonly pipeline?: string;
  /** The name of the configured sink. @default {""} */
  readonly sinkConnection?: string;
}

/** How rows are delivered. */
export type PublishMode = "individual" | "atomic" | "fast";

/** What `onProgress` is told. */
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

/** How and where rows are published. */
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

/** One object for the connection and the publisher: `{ ... } satisfies SinkConfig`. */
export type SinkConfig = ConnectionConfig & PublisherOptions;

/** What functions that publish take: a whole SinkConfig will do; the connection's keys are not needed. */
export type Options = PublisherOptions & Partial<ConnectionConfig>;

/** A connection, which stays the caller's, or a function that dials one, which is then closed by who dialled. */
export type Dial = NatsConnection | (() => Promise<NatsConnection>);

/** Options of one call that publishes. */
export interface PublishOptions {
  /** Ends the call; rows already sent are then of unknown fate. */
  readonly signal?: AbortSignal;
}

/** Options of a call that publishes a sequence of batches. */
export interface ApplyAllOptions extends BatchLimits, PublishOptions {
  /** Told each piece's receipt, in order, and awaited. */
  readonly onReceipt?: (receipt: WriteReceipt) => void | Promise<void>;
}

// --- Receipts -------------------------------------------------------------------------------------------------------

/** Proof that every row of a batch was acknowledged. */
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

/** What a run or epoch wrote for one resource. */
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

/** What a whole run wrote. */
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

/** What a publisher is doing now. */
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

/** An epoch of a session's attempt. */
export interface EpochRef {
  /** The attempt that the session was opened for. */
  readonly attempt: string;
  /** A positive whole number. */
  readonly epoch: number;
}

// --- Ids ------------------------------------------------------------------------------------------------------------

/** What a message id stands for beside the event id. */
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
