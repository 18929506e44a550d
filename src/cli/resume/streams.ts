/**
 * Checks that the streams of a journal still exist and have their rows.
 *
 * @module
 */

import type { StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import type { Settings } from "../../options/publisher.ts";
import { failureText } from "../../stream/api/answer.ts";
import { apiRequest, isApiFailure, requestStreamInfo, unexpectedFailure } from "../../stream/api/request.ts";
import { millisOf } from "../../stream/checks/facts.ts";
import { JournalError } from "../journal/error.ts";
import type { KnownStream } from "../journal/state.ts";

/** The current state of a stream. */
export interface StreamNow {
  /** When it was created. */
  readonly created: string;
  /** Its last sequence. */
  readonly last: number;
  /** Its duplicate window in milliseconds. */
  readonly duplicateWindow: number;
}

/**
 * Reads the current state of a stream.
 *
 * @throws {JournalError} if it does not exist
 * @throws {ConnectionError} without an answer
 */
export async function streamNow(
  nc: NatsConnection,
  stream: string,
  { domain, inboxPrefix }: Settings,
  signal: AbortSignal,
): Promise<StreamNow> {
  const info = await requestStreamInfo(nc, stream, { domain, inboxPrefix, signal });
  if (isApiFailure(info)) throw new JournalError(`${stream}: ${failureText(info.error)}`);
  return {
    created: String(info.created),
    last: info.state.last_seq,
    duplicateWindow: millisOf(info.config.duplicate_window),
  };
}

/**
 * Reads the streams of a journal.
 *
 * @throws {JournalError} if one is gone, or another stream has its name
 */
export async function sameStreams(
  nc: NatsConnection,
  known: ReadonlyMap<string, KnownStream>,
  settings: Settings,
  signal: AbortSignal,
): Promise<Map<string, StreamNow>> {
  const streams = new Map<string, StreamNow>();
  for (const [stream, { created, last, duplicateWindow }] of known) {
    const now = await streamNow(nc, stream, settings, signal);
    if (now.created !== created || now.last < last) {
      throw new JournalError(
        `Cannot resume: ${stream} is not the stream that was published to: it was made ${now.created} and its last ` +
          `sequence is ${now.last}, the journal's was made ${created} and had ${last}`,
      );
    }
    // A window that was widened later still has only the ids of the shorter window.
    streams.set(stream, { ...now, duplicateWindow: Math.min(now.duplicateWindow, duplicateWindow) });
  }
  return streams;
}

/** The server lists interior deletes in one answer: of more than this many, which take megabytes, only the count is read. */
const MOST_LISTED = 100_000;

/**
 * Returns how many messages after a sequence are gone. If the interior deletes are not listed, all of them count, since
 * any may have been after it.
 *
 * @throws {ConnectionError} without an answer
 */
export async function removedBehind(
  nc: NatsConnection,
  stream: string,
  after: number,
  { domain, inboxPrefix }: Settings,
  signal: AbortSignal,
): Promise<number> {
  const options = { domain, inboxPrefix, signal };
  const stateOf = async (details: { readonly deleted_details: true } | undefined): Promise<StreamInfo["state"]> => {
    const info = await apiRequest<StreamInfo>(nc, `STREAM.INFO.${stream}`, "stream_info_response", details, options);
    if (isApiFailure(info)) throw unexpectedFailure(`look up stream ${stream}`, info);
    return info.state;
  };
  let state = await stateOf(undefined);
  const interior = state.num_deleted ?? 0;
  if (interior > 0 && interior <= MOST_LISTED) state = await stateOf({ deleted_details: true });
  const { first_seq, last_seq, num_deleted = 0, deleted } = state;
  const before = Math.max(0, Math.min(first_seq, last_seq + 1) - (after + 1));
  if (deleted === undefined) return before + num_deleted;
  return before + deleted.filter((sequence) => sequence > after).length;
}
