/**
 * The answers of a scripted server: acknowledgments, refusals, statuses, API documents.
 *
 * @module
 */

import { type Msg, MsgImpl } from "@nats-io/nats-core/internal";
import { concat, utf8 } from "../bytes.ts";

/** A message as the server would have received it. */
export interface Published {
  /** The subject. */
  readonly subject: string;
  /** The reply subject; empty if there is none. */
  readonly reply: string;
  /** The header block, from `NATS/1.0` to the blank line; empty if there is none. */
  readonly headers: Uint8Array;
  /** The payload. */
  readonly data: Uint8Array;
  /** How many messages were published before it. */
  readonly index: number;
}

/** An answer: a body, and anything unusual about it. */
export interface Answer {
  /** The body: bytes and strings unchanged, anything else as JSON. @default empty */
  readonly body?: unknown;
  /** A status in the header block, such as 503. */
  readonly status?: number;
  /** The whole header block, in place of one made from `status`. */
  readonly headers?: string;
  /** The subject of the answer. @default the reply subject of the message that it answers */
  readonly subject?: string;
  /** How often it is sent. @default {1} */
  readonly times?: number;
  /** Delivers it also to ended subscriptions, like a late answer that a client lets through. @default {false} */
  readonly late?: boolean;
}

/** The value of a header of a published message; `undefined` if the header is absent. */
export function headerOf(published: Published, name: string): string | undefined {
  const lines = new TextDecoder().decode(published.headers).split("\r\n").slice(1);
  const line = lines.find((line) => line.startsWith(`${name}:`));
  return line?.slice(name.length + 1).trim();
}

/** A good acknowledgment. */
export function ack(stream: string, seq: number, more: Readonly<Record<string, unknown>> = {}): Answer {
  return { body: { stream, seq, ...more } };
}

/** A refusal in the server's form: in the body, without a status. */
export function refusal(code: number, errCode: number, description: string, stream = "ORDERS"): Answer {
  return { body: { error: { code, err_code: errCode, description }, stream, seq: 0 } };
}

/** The server's status when no stream listens on the subject, or it has no leader. */
export const NO_RESPONDERS: Answer = { status: 503 };

/** The stream's queue is full: the status and the body say so. */
export const TOO_MANY_REQUESTS: Answer = {
  headers: "NATS/1.0 429 Too Many Requests\r\n\r\n",
  body: { error: { code: 429, err_code: 10167, description: "too many requests" }, stream: "ORDERS", seq: 0 },
};

/** Any JSON document. */
export type Document = Readonly<Record<string, unknown>>;

/** The answer of `STREAM.INFO` by a 2.15.2 server; `config` and `more` override parts of it. */
export function streamInfo(name: string, config: Document = {}, more: Document = {}): Document {
  return {
    type: "io.nats.jetstream.api.v1.stream_info_response",
    total: 0,
    offset: 0,
    limit: 0,
    config: { name, ...STREAM_CONFIG, ...config },
    created: "2026-01-02T03:04:05.678901234Z",
    state: STREAM_STATE,
    cluster: { leader: "fake" },
    ts: "2026-01-02T03:04:06Z",
    ...more,
  };
}

/** An API answer that refuses. */
export function apiError(type: string, code: number, errCode: number, description: string): Document {
  return { type: `io.nats.jetstream.api.v1.${type}`, error: { code, err_code: errCode, description } };
}

/** An answer as the client's message object. */
export function messageOf(answer: Answer, subject: string, sid: number): Msg {
  const headers = utf8(answer.headers ?? (answer.status === undefined ? "" : `NATS/1.0 ${answer.status}\r\n\r\n`));
  const body = bodyOf(answer.body);
  const hdr = headers.length === 0 ? -1 : headers.length;
  const head = { subject: utf8(subject), sid, hdr, size: headers.length + body.length };
  const publisher = { publish: () => {} };
  const message = new MsgImpl(head as ConstructorParameters<typeof MsgImpl>[0], concat([headers, body]), publisher);
  return message as Msg;
}

/** The bytes of a body: bytes and strings unchanged, anything else as JSON, `undefined` as nothing. */
export function bodyOf(body: unknown): Uint8Array {
  if (body === undefined) return new Uint8Array();
  if (body instanceof Uint8Array) return body;
  return utf8(typeof body === "string" ? body : JSON.stringify(body));
}

const STREAM_CONFIG: Document = {
  subjects: ["orders.>"],
  retention: "limits",
  max_consumers: -1,
  max_msgs: -1,
  max_bytes: -1,
  max_age: 0,
  max_msgs_per_subject: -1,
  max_msg_size: -1,
  discard: "old",
  storage: "file",
  num_replicas: 1,
  duplicate_window: 120_000_000_000,
  compression: "none",
  allow_direct: false,
  mirror_direct: false,
  sealed: false,
  deny_delete: false,
  deny_purge: false,
  allow_rollup_hdrs: false,
  consumer_limits: {},
  allow_msg_ttl: false,
  metadata: { "_nats.level": "5", "_nats.req.level": "0", "_nats.ver": "2.15.2" },
};

const STREAM_STATE: Document = {
  messages: 0,
  bytes: 0,
  first_seq: 0,
  first_ts: "0001-01-01T00:00:00Z",
  last_seq: 0,
  last_ts: "0001-01-01T00:00:00Z",
  consumer_count: 0,
};
