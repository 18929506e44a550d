/**
 * Reads a stream without jetrow: by STREAM.MSG.GET, through the client's own library.
 *
 * @module
 */

import { type JetStreamManager, jetstreamManager, type StreamConfig, type StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { evenIfLost } from "./api.ts";

/** A stored message. */
export interface Stored {
  /** Its stream sequence. */
  readonly seq: number;
  /** Its subject. */
  readonly subject: string;
  /** Its body, as a string. */
  readonly body: string;
  /** Its headers' names and values, in order. */
  readonly headers: readonly (readonly [string, string])[];
}

/** Manages streams and consumers by the client's own library, with a timeout for a busy machine. */
export function managerOf(nc: NatsConnection): Promise<JetStreamManager> {
  return jetstreamManager(nc, { checkAPI: false, timeout: 10_000 });
}

/** Creates a stream, with server defaults for absent fields. */
export async function addStream(
  nc: NatsConnection,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo> {
  const { streams } = await managerOf(nc);
  return await evenIfLost(() => streams.add(config));
}

/** A stream's state and configuration. */
export async function infoOf(nc: NatsConnection, stream: string): Promise<StreamInfo> {
  const { streams } = await managerOf(nc);
  return await evenIfLost(() => streams.info(stream));
}

/** Every message of a small stream, by sequence. */
export async function storedIn(nc: NatsConnection, stream: string): Promise<Stored[]> {
  const { streams } = await managerOf(nc);
  const { state } = await infoOf(nc, stream);
  const messages: Stored[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await evenIfLost(() => streams.getMessage(stream, { seq }));
    if (message === null) continue;
    const headers = [...message.header ?? []].map(([name, values]) => [name, values.join("|")] as const);
    messages.push({ seq, subject: message.subject, body: new TextDecoder().decode(message.data), headers });
  }
  return messages;
}
