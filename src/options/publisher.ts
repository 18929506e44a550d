/**
 * The publisher's options: one table of rules and defaults, and the frozen settings that come out of it.
 *
 * @module
 */

import { durationMillis } from "../util/duration.ts";
import type { Namespace, Options, Progress, PublisherOptions, PublishMode } from "../types/mod.ts";
import { applyRules, type Fields, fieldsOf, missing, type Place } from "./fields.ts";
import { headerPairs, staticHeaders, timeToLive, ttlHeader } from "./headers.ts";
import { domainName, inboxPrefix, templateOf } from "./templates.ts";
import { anyText, choice, count, duration, flag, listener, text, timeout } from "./values.ts";
import { streamNameFault, subjectFault } from "../subject/name.ts";

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
  /** Rows sent and not yet answered, at most. */
  readonly maxInFlight: number;
  /** Their bytes, at most. */
  readonly maxInFlightBytes: number;
  /** Part of every message id. */
  readonly namespace: Required<Namespace>;
  /** The column that identifies a row. */
  readonly eventIdColumn: string;
  /** Whether the caller named that column: then it must be there. */
  readonly eventIdRequired: boolean;
  /** Whether `Nats-Expected-Stream` is sent. */
  readonly expectedStream: boolean;
  /** Static headers, in order, their values as they are sent. */
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** `Nats-TTL` as it is sent. */
  readonly ttl?: string;
  /** The same in milliseconds; absent for `never`. */
  readonly ttlMs?: number;
  /** The JetStream domain. */
  readonly domain?: string;
  /** Prefix of every reply subject; absent: the connection's own. */
  readonly inboxPrefix?: string;
  /** Whether a caller's connection is closed with the publisher. */
  readonly ownsConnection: boolean;
  /** Told of progress. */
  readonly onProgress?: (progress: Progress) => void;
  /** The budget in milliseconds; absent: nothing is sent again. */
  readonly retry?: { readonly budget: number };
  /** How rows are delivered. */
  readonly publishMode: PublishMode;
}

/** Keys of the connection: allowed here, read by the dial. */
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

/** The table: each option's rule with its limits, and its default where it has one. */
const TABLE = {
  stream: { rule: templateOf(streamNameFault) },
  subject: { rule: templateOf(subjectFault) },
  createStream: { rule: flag, default: true },
  publishTimeout: { rule: timeout, default: 5_000 },
  maxInFlight: { rule: count(1, 65_536), default: 1_024 },
  maxInFlightBytes: { rule: count(1, Number.MAX_SAFE_INTEGER), default: 16_777_216 },
  eventIdColumn: { rule: text, default: "_filament_event_id" },
  expectedStream: { rule: flag, default: true },
  headers: { rule: staticHeaders, default: {} },
  ttl: { rule: timeToLive },
  domain: { rule: domainName },
  inboxPrefix: { rule: inboxPrefix },
  ownsConnection: { rule: flag, default: false },
  onProgress: { rule: listener<(progress: Progress) => void> },
  retry: { rule: retryPolicy },
  publishMode: { rule: choice(["individual", "atomic", "fast"]), default: "individual" },
} as const;

/** The namespace's own: parts of one option, or keys at the top of a document. */
const NAMESPACE = {
  tenant: { rule: anyText, default: "" },
  pipeline: { rule: anyText, default: "" },
  sinkConnection: { rule: anyText, default: "" },
} as const;

/**
 * Every key that a SinkConfig may have, and those that a document may: it has no functions, and no nested namespace.
 */
export const OPTION_KEYS: { readonly [spelling in Fields["spelling"]]: readonly string[] } = {
  camel: [...new Set([...Object.keys(TABLE), ...CONNECTION_OPTIONS, "namespace"])],
  snake: [...new Set([...Object.keys(TABLE), ...CONNECTION_OPTIONS, ...Object.keys(NAMESPACE)])]
    .filter((option) => option !== "onProgress"),
};

/**
 * Checks the publisher's options and fills in the defaults. Takes a whole SinkConfig: keys of the connection are
 * allowed and left unread, any other key is refused.
 */
export function resolveOptions(options: Options): Settings {
  const place: Place = { field: "", spelling: "camel" };
  return settle(checkPublisher(fieldsOf(options, OPTION_KEYS.camel, place)));
}

/** The publisher's options as they were written, every rule checked, defaults left out. */
export function checkPublisher(fields: Fields): PublisherOptions {
  const { stream, subject, ...options } = applyRules(fields, TABLE);
  if (stream === undefined) throw missing(fields.place("stream"));
  if (subject === undefined) throw missing(fields.place("subject"));
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
  const { publishTimeout, headers, ttl, retry, ...others } = { ...DEFAULTS, ...options };
  return Object.freeze({
    ...others,
    publishTimeout: durationMillis(publishTimeout, "publishTimeout"),
    namespace: Object.freeze({ ...defaultsOf(NAMESPACE), ...options.namespace }),
    eventIdRequired: options.eventIdColumn !== undefined,
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
