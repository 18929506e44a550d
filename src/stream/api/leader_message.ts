/**
 * Reads single messages from a stream's leader.
 *
 * @module
 */

import type { NatsConnection } from "@nats-io/nats-core";
import { ConnectionError } from "../../errors/mod.ts";
import { type ApiOptions, apiRequest, isApiFailure, unexpectedFailure } from "./request.ts";
import { NO_MESSAGE } from "./server_codes.ts";

/** Returns one message by STREAM.MSG.GET, which the leader answers; undefined if the sequence holds none. */
export async function leaderMessage(
  nc: NatsConnection,
  stream: string,
  sequence: number,
  options: ApiOptions,
): Promise<Uint8Array | undefined> {
  const type = "stream_msg_get_response";
  const answer = await apiRequest<{ message: { seq?: unknown; data?: unknown } }>(
    nc,
    `STREAM.MSG.GET.${stream}`,
    type,
    { seq: sequence },
    options,
  );
  if (isApiFailure(answer)) {
    if (answer.error.err_code === NO_MESSAGE) return undefined;
    throw unexpectedFailure(`read message ${sequence} of ${stream}`, answer);
  }
  const { seq, data = "" } = answer.message;
  const body = typeof data === "string" && seq === sequence ? fromBase64(data) : undefined;
  if (body !== undefined) return body;
  throw new ConnectionError(
    "connection.no_answer",
    `Cannot read message ${sequence} of ${stream}: not what was asked for`,
  );
}

function fromBase64(text: string): Uint8Array | undefined {
  try {
    return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
