/**
 * What a stream holds, read past jetrow: by STREAM.MSG.GET through the client's own library.
 *
 * @module
 */

import { jetstreamManager, type StreamConfig, type StreamInfo } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";

/** A stored message. */
export interface Stored {
  /** Its stream sequence. */
  readonly seq: number;
  /** Its subject. */
  readonly subject: string;
  /** Its body, as text. */
  readonly body: string;
  /** Its headers' names and values, in order. */
  readonly headers: readonly (readonly [string, string])[];
}

/** Creates a stream with server defaults for what is not given. */
export async function addStream(
  nc: NatsConnection,
  config: Partial<StreamConfig> & { name: string },
): Promise<StreamInfo> {
  const manager = await jetstreamManager(nc, { checkAPI: false });
  return await manager.streams.add(config);
}

/** A stream's state and configuration. */
export async function infoOf(nc: NatsConnection, stream: string): Promise<StreamInfo> {
  return await (await jetstreamManager(nc, { checkAPI: false })).streams.info(stream);
}

/** Every message of a small stream, by sequence. */
export async function storedIn(nc: NatsConnection, stream: string): Promise<Stored[]> {
  const manager = await jetstreamManager(nc, { checkAPI: false });
  const { state } = await manager.streams.info(stream);
  const messages: Stored[] = [];
  for (let seq = state.first_seq; seq <= state.last_seq; seq++) {
    const message = await manager.streams.getMessage(stream, { seq }).catch(() => null);
    if (message === null) continue;
    const headers = [...message.header ?? []].map(([name, values]) => [name, values.join("|")] as const);
    messages.push({ seq, subject: message.subject, body: new TextDecoder().decode(message.data), headers });
  }
  return messages;
}
