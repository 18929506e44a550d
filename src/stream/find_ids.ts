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
  /** The values of `Nats-Msg-Id`; an empty string is not looked for. */
  readonly ids: readonly string[];
  /** How far back: in milliseconds of the server's clock, or after a sequence. */
  readonly since: { readonly window: number } | { readonly sequence: number };
}

/** Sequences that one walker looks through, and how many walkers read at a time. */
const STRIDE = 500;
const WALKERS = 16;
/** Ids that are remembered, in bytes some 100 MiB at most; a search for one that was forgotten reads on. */
const MOST_KNOWN = 1 << 19;

interface Found {
  readonly seq: number;
  readonly hdrs?: string;
}

/** What was read of one subject of a stream: all messages before `next`, since the first search. */
interface Reading {
  next: number;
  /** Whether some ids were forgotten, so that what is not known has to be read again. */
  forgot: boolean;
  readonly known: Map<string, number>;
  /** The searches so far: one follows the other, so that none reads what another one reads. */
  searches: Promise<unknown>;
}

/**
 * Finds messages by their ids. Searches share what they have read: a load that is stored already and published again
 * batch by batch is read once, in time that grows with its rows.
 */
export class IdFinder {
  readonly #nc: NatsConnection;
  readonly #options: ApiOptions;
  readonly #readings = new Map<string, Reading>();

  /** Makes a finder that has read nothing. */
  constructor(nc: NatsConnection, options: ApiOptions) {
    this.#nc = nc;
    this.#options = options;
  }

  /**
   * Returns the stream sequence of each id, 0 for one that the stream does not have. Reads by STREAM.MSG.GET, which the
   * leader answers. Throws a ConnectionError if reading is not permitted or not answered, and the signal's reason after
   * an abort.
   */
  async find(search: IdSearch, signal?: AbortSignal): Promise<Float64Array> {
    const key = `${search.stream} ${search.subject}`;
    const reading = this.#readings.get(key) ??
      { next: 0, forgot: false, known: new Map(), searches: Promise.resolve() };
    this.#readings.set(key, reading);
    const found = reading.searches.then(() => this.#search(search, reading, { ...this.#options, signal }));
    reading.searches = found.catch(() => {}); // the next search reads on where this one has failed
    return await found;
  }

  async #search(
    { stream, subject, ids, since }: IdSearch,
    reading: Reading,
    options: ApiOptions,
  ): Promise<Float64Array> {
    const wanted = new Set(ids.filter((id) => id !== "" && !reading.known.has(id)));
    if (wanted.size > 0) {
      const info = await requestStreamInfo(this.#nc, stream, options);
      if (isApiFailure(info)) throw unexpectedFailure(`look for rows in ${stream}`, info);
      // A stream that transforms subjects keeps its messages under other ones.
      const filter = info.config.subject_transform === undefined ? subject : ">";
      const start = "sequence" in since ? { seq: since.sequence + 1 } : { start_time: timeBefore(info, since.window) };
      const first = await next(this.#nc, stream, { ...start, next_by_subj: filter }, options);
      const last = info.state.last_seq;
      const walk = { stream, filter, wanted, reading, options };
      if (first !== undefined && reading.next === 0) {
        // The rows of an answer that was lost are among the newest messages: these are looked through first.
        await this.#readBlock(Math.max(first.seq, last - Math.max(STRIDE * WALKERS, 2 * ids.length) + 1), last, walk);
      }
      const from = reading.forgot ? 0 : reading.next;
      reading.forgot = false;
      if (first !== undefined) await this.#readOn(Math.max(first.seq, from), last, walk);
    }
    return Float64Array.from(ids, (id) => reading.known.get(id) ?? 0);
  }

  /** Reads messages in order, until all wanted ids are known. */
  async #readOn(from: number, last: number, walk: Walk): Promise<void> {
    const { reading, wanted } = walk;
    for (let at = from; at <= last && wanted.size > 0;) {
      at = await this.#readBlock(at, Math.min(last, at + STRIDE * WALKERS - 1), walk);
      reading.next = at;
    }
  }

  /** Reads the messages of a range of sequences. Returns the sequence from which on there may be others. */
  async #readBlock(from: number, to: number, { stream, filter, wanted, reading, options }: Walk): Promise<number> {
    let stride = from;
    let beyond = Infinity;
    let isEmpty = true;
    const walker = async (): Promise<void> => {
      while (stride <= to) {
        const end = Math.min(to, stride + STRIDE - 1);
        let at = stride;
        stride = end + 1;
        while (at <= end) {
          const message = await next(this.#nc, stream, { seq: at, next_by_subj: filter }, options);
          if (message === undefined || message.seq > end) {
            beyond = Math.min(beyond, message === undefined || message.seq <= to ? beyond : message.seq);
            break;
          }
          isEmpty = false;
          at = message.seq + 1;
          const id = idOf(message);
          if (id === undefined) continue;
          remember(reading, id, message.seq);
          wanted.delete(id);
        }
      }
    };
    await Promise.all(Array.from({ length: WALKERS }, walker));
    return isEmpty && beyond < Infinity ? beyond : to + 1;
  }
}

interface Walk {
  readonly stream: string;
  readonly filter: string;
  readonly wanted: Set<string>;
  readonly reading: Reading;
  readonly options: ApiOptions;
}

/** Remembers the highest sequence of an id; of too many ids the first ones are forgotten. */
function remember(reading: Reading, id: string, sequence: number): void {
  const { known } = reading;
  known.set(id, Math.max(sequence, known.get(id) ?? 0));
  if (known.size <= MOST_KNOWN) return;
  reading.forgot = true;
  for (const oldest of known.keys()) return void known.delete(oldest);
}

/** A time by the server's clock: the client's may be another. */
function timeBefore(info: StreamInfo, window: number): string {
  const time = new Date(Date.parse((info as { ts?: string }).ts ?? "") - window);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new ConnectionError("connection.no_answer", `${info.config.name} tells no time`);
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
