/**
 * JetStream API requests of tests, without the checks of the client's own library.
 *
 * @module
 */

import { errors, type NatsConnection } from "@nats-io/nats-core";

/** Any JSON document. */
type Document = Readonly<Record<string, unknown>>;

/** Sends an API request; throws the server's reason if it refuses. */
export async function api(nc: NatsConnection, name: string, body?: Document): Promise<Document> {
  const answer = await nc.request(`$JS.API.${name}`, body === undefined ? "" : JSON.stringify(body), {
    timeout: 10_000,
  });
  const document = answer.json<Document>();
  if (document.error !== undefined) throw new Error(`${name}: ${JSON.stringify(document.error)}`);
  return document;
}

/**
 * Sends a request again if it was not answered: a cluster that changes its routes or leader may lose one. For reads,
 * and for creations, which have no effect the second time.
 */
export async function evenIfLost<T>(ask: () => Promise<T>): Promise<T> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof errors.TimeoutError)) throw error;
    return await ask();
  }
}

/** Creates a stream with exactly this configuration. */
export async function createStream(nc: NatsConnection, config: Document & { readonly name: string }): Promise<void> {
  await evenIfLost(() => api(nc, `STREAM.CREATE.${config.name}`, config));
}

/** Creates a consumer with this configuration, with explicit acknowledgments unless it sets others. */
export async function createConsumer(
  nc: NatsConnection,
  stream: string,
  config: Document & { readonly name: string },
): Promise<void> {
  const body = { stream_name: stream, config: { ack_policy: "explicit", ...config }, action: "create" };
  await evenIfLost(() => api(nc, `CONSUMER.CREATE.${stream}.${config.name}`, body));
}

/** Publishes bodies one after another, awaiting each acknowledgment; returns their sequences. */
export async function publishAcked(
  nc: NatsConnection,
  subject: string,
  bodies: readonly (string | Uint8Array)[],
): Promise<number[]> {
  const acks = await Promise.all(bodies.map((body) => nc.request(subject, body, { timeout: 10_000 })));
  return acks.map((ack) => {
    const { seq, error } = ack.json<{ seq: number; error?: unknown }>();
    if (error !== undefined) throw new Error(`${subject}: ${JSON.stringify(error)}`);
    return seq;
  });
}
