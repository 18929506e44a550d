/**
 * Searches a subject's recent messages for message ids. The stream's leader answers, so that no stored message is
 * missed.
 *
 * @module
 */

import type { StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { ConnectionError } from "../errors/mod.ts";
import { type ApiOptions, apiRequest, isApiFailure, requestStreamInfo, unexpectedFailure } from "./api/request.ts";
import { NO_MESSAGE } from "./api/server_codes.ts";
import { currentMoment, elapsedBetween, type Moment } from "./resend.ts";

/** The arguments of a search. */
export interface IdSearch {
  /** The stream. */
  readonly stream: string;
  /** The subject of the messages. */
  readonly subject: string;
  /** The values of `Nats-Msg-Id`; an empty string is not searched. */
  readonly ids: readonly string[];
  /** How far back: in milliseconds of the server's clock, or after a sequence. */
  readonly since: { readonly window: number } | { readonly sequence: number };
}

/** The number of sequences that one reader reads, and the number of concurrent readers. */
const STRIDE = 500;
const WALKERS = 16;
/** How many ids of all subjects are remembered, some 100 MiB at most: forgotten ones are read again. */
const MOST_KNOWN = 1 << 19;

interface Found {
  readonly seq: number;
  readonly hdrs?: string;
}

/** The messages that were read of one subject of a stream. */
interface Reading {
  /** When the stream was created: another stream of the same name has other messages. */
  created: string;
  /** All messages from `start` to `next` (exclusive) were read. */
  start: number;
  next: number;
  /** The highest sequence of each id that is remembered. */
  readonly known: Map<string, number>;
  /** Whether some ids were forgotten, so that an unknown id may be among the messages that were read. */
  forgot: boolean;
  /** The number of searches in progress. */
  pending: number;
  /** The searches so far: they run one after another, so that none reads what another one reads. */
  searches: Promise<unknown>;
}

/** One search in progress. */
interface Walk {
  readonly stream: string;
  readonly filter: string;
  /** The ids that are not found yet. */
  readonly wanted: Set<string>;
  /** The sequences of the others, kept apart from the remembered ids, which may be forgotten meanwhile. */
  readonly found: Map<string, number>;
  readonly reading: Reading;
  readonly options: ApiOptions;
}

/**
 * Finds messages by their ids. Searches share what they have read: a stored load that is published again batch by batch
 * is read once, in time proportional to its rows.
 */
export class IdFinder {
  readonly #nc: NatsConnection;
  readonly #options: ApiOptions;
  readonly #mostKnown: number;
  /** By stream and subject; the most recently searched is the last. */
  readonly #readings = new Map<string, Reading>();

  /** Creates a finder that remembers at most `mostKnown` ids between searches. */
  constructor(nc: NatsConnection, options: ApiOptions, mostKnown: number = MOST_KNOWN) {
    this.#nc = nc;
    this.#options = options;
    this.#mostKnown = mostKnown;
  }

  /**
   * Returns the stream sequence of each id, 0 for an id that the stream does not have. Reads by STREAM.MSG.GET, which the
   * leader answers. Throws a ConnectionError if reading is not permitted or not answered, and the signal's reason after
   * an abort.
   */
  async find(search: IdSearch, signal?: AbortSignal): Promise<Float64Array> {
    const key = `${search.stream} ${search.subject}`;
    const reading = this.#readings.get(key) ?? unread();
    this.#readings.delete(key);
    this.#readings.set(key, reading);
    reading.pending++;
    const asked = currentMoment();
    const found = reading.searches.then(() => this.#search(search, asked, reading, { ...this.#options, signal }));
    reading.searches = found.catch(() => {}); // the next search continues where this one has failed
    try {
      return await found;
    } finally {
      reading.pending--;
      this.#dropOldReadings();
    }
  }

  async #search(
    { stream, subject, ids, since }: IdSearch,
    asked: Moment,
    reading: Reading,
    options: ApiOptions,
  ): Promise<Float64Array> {
    const wanted = new Set(ids.filter((id) => id !== ""));
    const found = new Map<string, number>();
    if (wanted.size > 0) {
      const info = await requestStreamInfo(this.#nc, stream, options);
      if (isApiFailure(info)) throw unexpectedFailure(`look for rows in ${stream}`, info);
      const created = String(info.created);
      if (created !== reading.created) {
        reading.known.clear();
        Object.assign(reading, { created, start: 0, next: 0, forgot: false });
      }
      const after = "sequence" in since ? since.sequence : 0;
      for (const id of wanted) {
        const sequence = reading.known.get(id) ?? 0;
        if (sequence <= after) continue;
        found.set(id, sequence);
        wanted.delete(id);
      }
      // A stream that transforms subjects keeps its messages under other ones.
      const filter = info.config.subject_transform === undefined ? subject : ">";
      const start = "sequence" in since
        ? { seq: since.sequence + 1 }
        // The window counts from the request of the search, not from the end of the previous ones.
        : { start_time: timeBefore(info, since.window + elapsedBetween(asked, currentMoment())) };
      await this.#readAll(start, info.state.last_seq, ids.length, { stream, filter, wanted, found, reading, options });
    }
    return Float64Array.from(ids, (id) => found.get(id) ?? 0);
  }

  /** Reads the unread messages from `start` to the sequence `last`, until all wanted ids are found. */
  async #readAll(start: Readonly<Record<string, unknown>>, last: number, ids: number, walk: Walk): Promise<void> {
    const { stream, filter, reading, wanted, options } = walk;
    if (wanted.size === 0) return;
    const first = await next(this.#nc, stream, { ...start, next_by_subj: filter }, options);
    if (first === undefined) return;
    if (first.seq > reading.next) {
      reading.start = reading.next = first.seq;
      reading.forgot = false;
      // The rows of a lost answer are among the newest messages, which are therefore read first.
      const newest = Math.max(first.seq, last - Math.max(STRIDE * WALKERS, 2 * ids) + 1);
      const end = await this.#readBlock(newest, last, walk);
      if (newest === first.seq) reading.next = end;
    }
    const { start: readFrom, next: readTo } = reading;
    if (first.seq < readFrom && await this.#read(first.seq, readFrom - 1, walk)) reading.start = first.seq;
    await this.#read(readTo, last, walk, (at) => reading.next = at);
    if (reading.forgot) await this.#read(Math.max(first.seq, readFrom), Math.min(readTo - 1, last), walk);
  }

  /** Reads the messages of a range in order. Returns false if all wanted ids are found before its end. */
  async #read(from: number, to: number, walk: Walk, readTo?: (next: number) => void): Promise<boolean> {
    for (let at = from; at <= to;) {
      if (walk.wanted.size === 0) return false;
      at = await this.#readBlock(at, Math.min(to, at + STRIDE * WALKERS - 1), walk);
      readTo?.(at);
    }
    return true;
  }

  /** Reads the messages of a range of sequences. Returns the sequence from which on there may be more. */
  async #readBlock(from: number, to: number, walk: Walk): Promise<number> {
    const { stream, filter, options } = walk;
    let stride = from;
    let beyond = Infinity;
    let isEmpty = true;
    let hasFailed = false;
    const walker = async (): Promise<void> => {
      while (stride <= to) {
        const end = Math.min(to, stride + STRIDE - 1);
        let at = stride;
        stride = end + 1;
        while (at <= end && !hasFailed) {
          const message = await next(this.#nc, stream, { seq: at, next_by_subj: filter }, options);
          if (message === undefined || message.seq > end) {
            beyond = Math.min(beyond, message === undefined || message.seq <= to ? beyond : message.seq);
            break;
          }
          isEmpty = false;
          at = message.seq + 1;
          this.#note(message, walk);
        }
        if (hasFailed) return;
      }
    };
    const walkers = Array.from({ length: WALKERS }, () =>
      walker().catch((error) => {
        hasFailed = true; // the other readers stop, too
        throw error;
      }));
    await Promise.all(walkers);
    return isEmpty && beyond < Infinity ? beyond : to + 1;
  }

  #note(message: Found, { wanted, found, reading }: Walk): void {
    const id = idOf(message);
    if (id === undefined) return;
    if (wanted.delete(id)) found.set(id, message.seq);
    const { known } = reading;
    known.set(id, Math.max(message.seq, known.get(id) ?? 0));
    if (known.size <= this.#mostKnown) return;
    reading.forgot = true;
    for (const oldest of known.keys()) return void known.delete(oldest);
  }

  /** Drops the least recently searched readings if all together remember too many ids. The latest one stays. */
  #dropOldReadings(): void {
    const readings = [...this.#readings.values()];
    let known = readings.reduce((sum, reading) => sum + Math.max(1, reading.known.size), 0);
    for (const [key, reading] of this.#readings) {
      if (known <= this.#mostKnown) return;
      if (reading.pending > 0 || reading === readings.at(-1)) continue;
      known -= Math.max(1, reading.known.size);
      this.#readings.delete(key);
    }
  }
}

function unread(): Reading {
  const known = new Map<string, number>();
  return { created: "", start: 0, next: 0, known, forgot: false, pending: 0, searches: Promise.resolve() };
}

/** Returns a time by the server's clock, which the client's may differ from. */
function timeBefore(info: StreamInfo, window: number): string {
  const time = new Date(Date.parse((info as { ts?: string }).ts ?? "") - window);
  if (!Number.isNaN(time.getTime())) return time.toISOString();
  throw new ConnectionError("connection.no_answer", `${info.config.name} tells no time`);
}

/** Returns the first message that matches; undefined if none does. */
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
    return undefined; // not base64: a message without a usable id
  }
}
