/**
 * Reads a receipt's rows back and compares them with the receipt.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import type { StreamInfo } from "@nats-io/jetstream";
import { ConnectionError, RouteError } from "../../errors/mod.ts";
import { crc32c } from "../../hash/crc32c.ts";
import type { WriteReceipt } from "../../types/mod.ts";
import { inOrder } from "../../util/in_order.ts";
import { failureText } from "../api/answer.ts";
import { type ApiOptions, isApiFailure, requestStreamInfo } from "../api/request.ts";
import { consumerSource } from "./consumer.ts";
import { directSource } from "./direct.ts";
import { atLeast, hostOf } from "../checks/facts.ts";
import { leaderMessage } from "../api/leader_message.ts";
import { type ReadingOptions, resolveReading } from "../../options/reading.ts";
import { checkReceipt } from "./receipt.ts";
import type { Bodies, Source } from "./source.ts";
import { type Window, windows } from "./ranges.ts";

/**
 * The result of reading a receipt's rows back.
 *
 * @example
 * ```ts
 * import type { Verification } from "@jetrow/jetrow";
 * import assert from "node:assert/strict";
 *
 * const lost: Verification = { ok: false, rows: 9, bytes: 72, crc32c: 0, missing: 1 };
 * assert.equal(lost.rows + lost.missing, 10);
 * ```
 */
export interface Verification {
  /** Whether rows, bytes and checksum all equal the receipt's. */
  readonly ok: boolean;
  /** Rows found. */
  readonly rows: number;
  /** Their bytes. */
  readonly bytes: number;
  /** CRC32C of their bodies, one after another in row order. */
  readonly crc32c: number;
  /** Sequences of the receipt that hold no message. */
  readonly missing: number;
}

/** The maximum number of rows of a window, and of bytes, estimated from the receipt's average row. */
const WINDOW_ROWS = 2048;
const WINDOW_BYTES = 1024 * 1024;

/** The number of concurrent windows: on one machine one is as fast (measured), over a link each costs a round trip. */
const WINDOWS_AHEAD = 4;

/** The number of concurrent requests to the leader for single messages. */
const MESSAGES_AHEAD = 64;

/**
 * Reads the rows of a receipt back by its `sequences`, and reports whether they are what was published. Uses direct gets
 * in batches if the stream allows them (server 2.11), otherwise a consumer, and asks the leader again for each sequence
 * that these do not return, since a replica may lag behind. Memory does not grow with the number of rows.
 *
 * The content decides, not the subject: a stream may store rows under another subject. Rows that were replaced, deleted,
 * expired or consumed since are missing or different.
 *
 * Throws a ConfigError for a malformed receipt, a StateError `state.unverifiable` for one without sequences, a
 * RouteError `route.missing` if the stream does not exist or `route.offline` if its servers are down or too old for it,
 * and a ConnectionError if the server does not answer or refuses to let it read.
 *
 * @param nc the connection
 * @param receipt the receipt of `publish`, `apply` or `onReceipt`, or one parsed from JSON
 * @param options `domain`, `inboxPrefix` and `signal`; also accepts a whole SinkConfig
 *
 * @example
 * ```ts
 * import type { NatsConnection } from "@nats-io/nats-core";
 * import assert from "node:assert/strict";
 *
 * const receipt = { uri: "nats://ORDERS/orders", resource: "orders", stream: "ORDERS", subject: "orders.new" };
 * const unread = { ...receipt, rows: 1, bytes: 2, crc32c: 1, batch: 0, offset: 0 };
 * await assert.rejects(() => verifyReceipt({} as NatsConnection, unread), { code: "state.unverifiable" });
 * ```
 */
export async function verifyReceipt(
  nc: NatsConnection,
  receipt: WriteReceipt,
  options: ReadingOptions = {},
): Promise<Verification> {
  const api = resolveReading(options);
  const { stream, rows, bytes, crc32c: crc, sequences } = checkReceipt(receipt);
  const found = { rows: 0, bytes: 0, crc32c: 0, missing: 0 };
  if (sequences.length > 0) {
    const info = await streamOf(nc, stream, api);
    const sources = sourcesOf(nc, stream, info, api);
    const first = info?.state.first_seq ?? 0;
    const read = (window: Window) => readWindow(nc, stream, window, sources, first, api);
    try {
      for await (const bodies of inOrder(windows(sequences, windowRows(rows, bytes)), WINDOWS_AHEAD, read)) {
        for (const body of bodies) count(found, body);
      }
    } finally {
      await Promise.allSettled(sources.map((source) => source.close()));
    }
  }
  return { ok: found.rows === rows && found.bytes === bytes && found.crc32c === crc, ...found };
}

function count(found: { rows: number; bytes: number; crc32c: number; missing: number }, body?: Uint8Array): void {
  if (body === undefined) {
    found.missing++;
    return;
  }
  found.rows++;
  found.bytes += body.length;
  found.crc32c = crc32c(body, found.crc32c);
}

function windowRows(rows: number, bytes: number): number {
  return Math.max(1, Math.min(WINDOW_ROWS, Math.floor(WINDOW_BYTES * rows / Math.max(1, bytes))));
}

/** Returns the stream; undefined if the user may not look it up, since reading may still be permitted. */
async function streamOf(nc: NatsConnection, stream: string, api: ApiOptions): Promise<StreamInfo | undefined> {
  try {
    const answer = await requestStreamInfo(nc, stream, api);
    if (!isApiFailure(answer)) return answer;
    throw new RouteError(
      answer.error.code === 404 ? "route.missing" : "route.offline",
      `Cannot verify a receipt of ${stream}: the server answered: ${failureText(answer.error)}`,
      { stream },
    );
  } catch (error) {
    if (error instanceof ConnectionError && error.code === "connection.permission") return undefined;
    throw error;
  }
}

/** Returns the ways to read this stream, the fastest first. */
function sourcesOf(nc: NatsConnection, stream: string, info: StreamInfo | undefined, api: ApiOptions): Source[] {
  const { version } = hostOf(info?.config, { version: nc.info?.version ?? "", maxPayload: 0 });
  const sources: Source[] = [];
  if ((info?.config.allow_direct ?? true) && atLeast(version, "2.11.0")) sources.push(directSource(nc, stream, api));
  // A consumer of a work queue would remove its rows, one of an interest stream would keep them.
  if (info?.config.retention === "limits") sources.push(consumerSource(nc, stream, api));
  return sources;
}

/** Returns the bodies of a window, in row order; undefined for a sequence without a message. */
async function readWindow(
  nc: NatsConnection,
  stream: string,
  window: Window,
  sources: Source[],
  firstSequence: number,
  api: ApiOptions,
): Promise<readonly (Uint8Array | undefined)[]> {
  const bodies = window.last < firstSequence ? new Map<number, Uint8Array>() : await readBodies(window, sources);
  // Below the leader's first sequence nothing is left.
  const lacking = window.wanted.filter((sequence) => sequence >= firstSequence && !bodies.has(sequence));
  const ask = async (sequence: number) => [sequence, await leaderMessage(nc, stream, sequence, api)] as const;
  for await (const [sequence, body] of inOrder(new Set(lacking), MESSAGES_AHEAD, ask)) {
    if (body !== undefined) bodies.set(sequence, body);
  }
  return window.wanted.map((sequence) => bodies.get(sequence));
}

/** Reads by the fastest way that works; one that does not work is not tried again. */
async function readBodies(window: Window, sources: Source[]): Promise<Bodies> {
  while (sources.length > 0) {
    const source = sources[0]!;
    try {
      return await source.read(window);
    } catch (error) {
      if (!(error instanceof ConnectionError) || error.code === "connection.closed") throw error;
      if (sources[0] !== source) continue; // a concurrent window found out first
      sources.shift();
      await source.close().catch(() => {});
    }
  }
  return new Map();
}
