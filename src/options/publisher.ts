/**
 * The publisher's options: one table of rules and defaults, and the frozen settings made of them.
 *
 * @module
 */

import { durationMillis } from "../util/duration.ts";
import type {
  BodyColumns,
  JsonForms,
  Namespace,
  Operation,
  Options,
  Progress,
  PublisherOptions,
  PublishMode,
  SubjectEscape,
} from "../types/mod.ts";
import { applyRules, type Fields, fieldsOf, missing, type Place } from "./fields.ts";
import { bodyColumns, checkColumnOptions, columnOrColumns, contentType, operationValues } from "./columns.ts";
import { headerPairs, headerTemplates, timeToLive, ttlHeader } from "./headers.ts";
import { jsonForms } from "./json_forms.ts";
import { domainName, inboxPrefix, streamTemplate, subjectTemplate } from "./templates.ts";
import { choice, count, duration, flag, listener, nonEmptyString, timeout, wellFormedString } from "./values.ts";

/**
 * The publisher's options with all defaults filled in and all durations in milliseconds. Frozen, without credentials.
 */
export interface Settings {
  /** Template of the stream's name. */
  readonly stream: string;
  /** Template of the publish subject. */
  readonly subject: string;
  /** Whether a missing stream is created. */
  readonly createStream: boolean;
  /** Milliseconds from a row's submission to its acknowledgment. */
  readonly publishTimeout: number;
  /** The largest number of rows sent and not yet answered. */
  readonly maxInFlight: number;
  /** The largest number of bytes of these rows. */
  readonly maxInFlightBytes: number;
  /** Part of every message id. */
  readonly namespace: Required<Namespace>;
  /** How values in a subject are escaped. */
  readonly subjectEscape: SubjectEscape;
  /** The columns that identify a row. */
  readonly eventIdColumns: readonly string[];
  /** Whether the caller named these columns, so that a batch without them is refused. */
  readonly eventIdRequired: boolean;
  /** The column of each row's operation. */
  readonly operationColumn?: string;
  /** The operation that each string of that column stands for. */
  readonly operationValues: Readonly<Record<string, Operation>>;
  /** The columns of the body. Absent: all. */
  readonly bodyColumns?: BodyColumns;
  /** The column whose bytes are the body. */
  readonly rawBodyColumn?: string;
  /** `Content-Type` as sent. */
  readonly contentType: string;
  /** Whether `Nats-Expected-Stream` is sent. */
  readonly expectedStream: boolean;
  /** Whether content type, operation and expected stream are sent. */
  readonly standardHeaders: boolean;
  /** The caller's headers, in order, with their values as sent or as templates. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** `Nats-TTL` as sent. */
  readonly ttl?: string;
  /** The time to live in milliseconds; absent for `never`. */
  readonly ttlMs?: number;
  /** The JetStream domain. */
  readonly domain?: string;
  /** Prefix of every reply subject. Absent: the connection's own. */
  readonly inboxPrefix?: string;
  /** Whether a caller's connection is closed with the publisher. */
  readonly ownsConnection: boolean;
  /** Called with the progress. */
  readonly onProgress?: (progress: Progress) => void;
  /** The budget in milliseconds. Absent: no row is sent again. */
  readonly retry?: { readonly budget: number };
  /** How rows are delivered. */
  readonly publishMode: PublishMode;
  /** How values are written. Absent: every value in its default form. */
  readonly json?: JsonForms;
}

/** The words that an operation column has if no others are given. */
const OPERATION_WORDS: Settings["operationValues"] = Object.freeze({
  insert: "insert",
  update: "update",
  delete: "delete",
});

/** `Content-Type` of a body that jetrow encodes, and of one that it takes from a column. */
const JSON_TYPE = "application/json";
const BYTES_TYPE = "application/octet-stream";

/** Options of the connection: accepted here, read when dialling. */
export const CONNECTION_OPTIONS = [
  "url",
  "authMode",
  "username",
  "password",
  "jwt",
  "nkeySeed",
  "token",
  "inboxPrefix",
  "name",
  "connectTimeout",
  "reconnect",
  "tls",
] as const;

/** Each option's rule with its limits, and its default if it has one. */
const TABLE = {
  stream: { rule: streamTemplate },
  subject: { rule: subjectTemplate },
  subjectEscape: { rule: choice(["none", "percent"]), default: "none" },
  createStream: { rule: flag, default: true },
  publishTimeout: { rule: timeout, default: 5_000 },
  maxInFlight: { rule: count(1, 65_536), default: 1_024 },
  maxInFlightBytes: { rule: count(1, Number.MAX_SAFE_INTEGER), default: 16_777_216 },
  eventIdColumn: { rule: columnOrColumns, default: "_filament_event_id" },
  operationColumn: { rule: nonEmptyString },
  operationValues: { rule: operationValues },
  bodyColumns: { rule: bodyColumns },
  rawBodyColumn: { rule: nonEmptyString },
  contentType: { rule: contentType },
  expectedStream: { rule: flag, default: true },
  standardHeaders: { rule: flag, default: true },
  headers: { rule: headerTemplates, default: {} },
  ttl: { rule: timeToLive },
  domain: { rule: domainName },
  inboxPrefix: { rule: inboxPrefix },
  ownsConnection: { rule: flag, default: false },
  onProgress: { rule: listener<(progress: Progress) => void> },
  retry: { rule: retryPolicy },
  publishMode: { rule: choice(["individual", "atomic", "fast"]), default: "individual" },
  json: { rule: jsonForms },
} as const;

/** The parts of the namespace: one option, or keys at the top of a document. */
const NAMESPACE = {
  tenant: { rule: wellFormedString, default: "" },
  pipeline: { rule: wellFormedString, default: "" },
  sinkConnection: { rule: wellFormedString, default: "" },
} as const;

/**
 * Every option of a SinkConfig, and every key of a document, which has no functions and no nested namespace.
 */
export const OPTION_KEYS: { readonly [spelling in Fields["spelling"]]: readonly string[] } = {
  camel: [...new Set([...Object.keys(TABLE), ...CONNECTION_OPTIONS, "namespace"])],
  snake: [...new Set([...Object.keys(TABLE), ...CONNECTION_OPTIONS, ...Object.keys(NAMESPACE)])]
    .filter((option) => option !== "onProgress"),
};

/**
 * Checks the publisher's options of a SinkConfig and fills in the defaults. Options of the connection are accepted and
 * ignored, any other key is refused.
 */
export function resolveOptions(options: Options): Settings {
  const place: Place = { field: "", spelling: "camel" };
  return settle(checkPublisher(fieldsOf(options, OPTION_KEYS.camel, place)));
}

/** Returns the publisher's options as they were written, with every rule checked and without defaults. */
export function checkPublisher(fields: Fields): PublisherOptions {
  const { stream, subject, ...options } = applyRules(fields, TABLE);
  if (stream === undefined) throw missing(fields.place("stream"));
  if (subject === undefined) throw missing(fields.place("subject"));
  checkColumnOptions(options, fields);
  const namespace = checkNamespace(fields);
  return { stream, subject, ...options, ...(namespace && { namespace }) };
}

function checkNamespace(fields: Fields): Namespace | undefined {
  if (fields.spelling === "snake") {
    const namespace = applyRules(fields, NAMESPACE);
    return Object.keys(namespace).length > 0 ? Object.freeze(namespace) : undefined;
  }
  const value = fields.get("namespace");
  if (value === undefined) return undefined;
  return Object.freeze(applyRules(fieldsOf(value, Object.keys(NAMESPACE), fields.place("namespace")), NAMESPACE));
}

function settle(options: PublisherOptions): Settings {
  const { publishTimeout, headers, ttl, retry, eventIdColumn, ...others } = { ...DEFAULTS, ...options };
  return Object.freeze({
    ...others,
    publishTimeout: durationMillis(publishTimeout, "publishTimeout"),
    namespace: Object.freeze({ ...defaultsOf(NAMESPACE), ...options.namespace }),
    eventIdColumns: Object.freeze([eventIdColumn].flat()),
    eventIdRequired: options.eventIdColumn !== undefined,
    operationValues: options.operationValues ?? OPERATION_WORDS,
    contentType: options.contentType ?? (options.rawBodyColumn === undefined ? JSON_TYPE : BYTES_TYPE),
    headers: headerPairs(headers),
    ...(ttl !== undefined && { ttl: ttlHeader(ttl) }),
    ...(ttl !== undefined && ttl !== "never" && { ttlMs: durationMillis(ttl, "ttl") }),
    ...(retry && { retry: Object.freeze({ budget: durationMillis(retry.budget, "retry.budget") }) }),
  });
}

type Defaults<T> = {
  readonly [K in keyof T as T[K] extends { readonly default: unknown } ? K : never]: T[K] extends
    { readonly default: infer D } ? D : never;
};

const DEFAULTS = defaultsOf(TABLE);

function defaultsOf<T extends object>(table: T): Defaults<T> {
  const rows = Object.entries(table).filter(([, row]) => "default" in row);
  return Object.fromEntries(rows.map(([option, row]) => [option, row.default])) as Defaults<T>;
}

function retryPolicy(value: unknown, place: Place): { readonly budget: number | string } {
  const fields = fieldsOf(value, ["budget"], place);
  const { budget } = applyRules(fields, { budget: { rule: duration } });
  if (budget === undefined) throw missing(fields.place("budget"));
  return Object.freeze({ budget });
}
