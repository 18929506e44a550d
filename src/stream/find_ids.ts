/**
 * Looks for message ids among a subject's recent messages. The stream's leader answers, so that nothing it has stored
 * is missed.
 *
 * @module
 */

import type { StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { ConnectionError } from "../errors/mod.ts";
import { type ApiOptions, apiRequest, isApiFailure, requestStreamInfo, unexpectedFailure } from "./api/request.ts";
import { NO_MESSAGE } from "./api/server_codes.ts";

/** What is looked for, and where. */
export interface IdSearch {
  /** The stream. */
  readonly stream: string;
  /** The subject of the messages. */
  readonly subject: string;
  /** The values of `Nats-Msg-Id`. */
  readonly ids: readonly string[];
  /** How far back: in milliseconds of the server's clock, or behind a sequence. */
  readonly since: { readonly window: number } | { readonly sequence: number };
  /** Milliseconds that the search may take. */
  readonly limit: number;
}

/** Sequences that one walker looks through; several walk at a time, the newest sequences first. */
const STRIDE = 500;
const WALKERS = 16;

interface Found {
  readonly seq: number;
  readonly hdrs?: string;
}

/**
 * The stream sequence of each id's message, 0 where there is none. Throws a {@linkcode ConnectionError} where
 * reading is not permitted, not answered, or takes too long; and the signal's reason after an abort.
 */
export async function findIds(nc: NatsConnection, search: IdSearch, options: ApiOptions): Promise<Float64Array> {
  const { stream, subject, ids, since, limit } = search;
  const sequences = new Float64Array(ids.length);
  const wanted = new Map(ids.map((id, index) => [id, index]));
  const info = await requestStreamInfo(nc, stream, options);
  if (isApiFailure(info)) throw unexpectedFailure(`look for rows in ${stream}`, info);
  const last = info.state.last_seq;
  // A stream that transforms subjects keeps its messages under other ones.
  const filter = info.config.subject_transform === undefined ? subject : ">";
  const start = "sequence" in since ? { seq: since.sequence + 1 } : { start_time: timeBefore(info, since.window) };
  const first = await next(nc, stream, { ...start, next_by_subj: filter }, options);
  if (first === undefined) return sequences;

  const end = performance.now() + limit;
  let high = last;
  const walk = async (): Promise<void> => {
    while (high >= first.seq && wanted.size > 0) {
      const to = high;
      high -= STRIDE;
      for (let at = Math.max(first.seq, to - STRIDE + 1); at <= to && wanted.size > 0;) {
        if (performance.now() > end) throw tooLong(search);
        const message = await next(nc, stream, { seq: at, next_by_subj: filter }, options);
        if (message === undefined) break;
        at = message.seq + 1;
        const id = idOf(message);
        const index = id === undefined ? undefined : wanted.get(id);
        if (index === undefined || message.seq > to) continue;
        sequences[index] = message.seq;
        wanted.delete(id!);
      }
    }
  };
  await Promise.all(Array.from({ length: WALKERS }, walk));
  return sequences;
}

/** A time by the server's clock: the client's may be another. */
function timeBefore(info: StreamInfo, window: number): string {
  const time = new Date(Date.parse((info as { ts?: string }).ts ?? "") - window);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new ConnectionError("connection.no_answer", `${info.config.name} tells no time`);
}

function tooLong({ stream, limit }: IdSearch): ConnectionError {
  return new ConnectionError("connection.no_answer", `Cannot look for rows in ${stream}: not done within ${limit} ms`);
}

/** The first message that matches; undefined where there is none. */
async function next(
  nc: NatsConnection,
  stream: string,
  query: Readonly<Record<string, unknown>>,
  options: ApiOptions,
): Promise<Found | undefined> {
  const answer = await apiRequest<{ message: { seq?: unknown; hdrs?: unknown } }>(
    nc,
    `STREAM.MSG.GET.${stream}`,
    "stream_msg_get_response",
    query,
    options,
  );
  if (isApiFailure(answer)) {
    if (answer.error.err_code === NO_MESSAGE) return undefined;
    throw unexpectedFailure(`look for rows in ${stream}`, answer);
  }
  const { seq, hdrs } = answer.message;
  if (!Number.isSafeInteger(seq) || (hdrs !== undefined && typeof hdrs !== "string")) {
    throw new ConnectionError("connection.no_answer", `Cannot look for rows in ${stream}: not what was asked for`);
  }
  return { seq: seq as number, ...(hdrs === undefined ? {} : { hdrs: hdrs as string }) };
}

function idOf({ hdrs }: Found): string | undefined {
  if (hdrs === undefined) return undefined;
  try {
    return /\r\nNats-Msg-Id: *([^\r]*)\r\n/.exec(atob(hdrs))?.[1];
  } catch {
    return undefined; // no base64: a message that tells no id
  }
}
