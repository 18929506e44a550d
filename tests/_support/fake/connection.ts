/**
 * A scripted connection, for behaviour that a real server cannot be made to show.
 *
 * ```ts
 * const fake = fakeConnection({
 *   answers: (published) => published.index === 3 ? { body: "+ACK" } : ack("ORDERS", published.index + 1),
 * });
 * const publisher = await Publisher.open(fake.nc, { stream: "ORDERS", subject: "orders.{resource}" });
 * ```
 *
 * Nothing happens by itself: answers arrive in the microtask after the messages, or, with `manual: true`, when
 * `deliver` is called. No clock is read, except for the timeouts of requests that are never answered.
 *
 * @module
 */

import type { NatsConnection, ServerInfo, Status } from "@nats-io/nats-core";
import { ack, type Answer, type Published, streamInfo } from "./answers.ts";
import { FakeClient } from "./client.ts";

/** A request to the JetStream API, or any other. */
export interface Asked {
  /** The subject. */
  readonly subject: string;
  /** The body, as a string. */
  readonly body: string;
}

/** How a scripted connection behaves. */
export interface FakeConnectionOptions {
  /** The server's info, overriding that of a 2.15.2 server with a `max_payload` of 1 MiB. */
  readonly info?: Partial<ServerInfo>;
  /** The connection's own inbox prefix. */
  readonly inboxPrefix?: string;
  /** Whether it has the protocol handler that takes whole frames. @default {false} */
  readonly frames?: boolean;
  /** The name of the stream in the default answers. @default {"ORDERS"} */
  readonly stream?: string;
  /**
   * The answers to a message that has reached the server; `undefined`: none (yet, see `answer`).
   *
   * @default a good acknowledgment, the sequences rising from 1
   */
  readonly answers?: (published: Published) => Answer | readonly Answer[] | undefined;
  /**
   * The answer to a request: a document or a body; an Error rejects it; `undefined`: never answered.
   *
   * @default `streamInfo` of any stream that is asked for
   */
  readonly requests?: (asked: Asked) => unknown;
  /** Answers wait for `deliver`. @default {false} */
  readonly manual?: boolean;
  /** What `flush` waits for. */
  readonly flush?: () => Promise<void>;
}

/** A scripted connection, and a record of its calls. */
export interface FakeConnection {
  /** The connection. */
  readonly nc: NatsConnection;
  /** The messages that have reached the server, in order. */
  readonly published: readonly Published[];
  /** The requests, in order. */
  readonly asked: readonly Asked[];
  /**
   * The calls, in order: `subscribe S`, `unsubscribe S`, `publish S`, `frames N`, `flush`, `request S`, `close`.
   */
  readonly calls: readonly string[];
  /** The currently subscribed subjects. */
  readonly subscribed: readonly string[];
  /** The number of answers that wait for `deliver`. */
  readonly waiting: number;
  /** Adds an answer to a message, after those that wait. */
  answer(published: Published, answer: Answer): void;
  /** Sends the published messages to the server and delivers waiting answers, in order: all, or the first `count`. */
  deliver(count?: number): void;
  /** Delivers waiting answers in another order: `order` maps the waiting answers to those to deliver. */
  deliverIn(order: <T>(waiting: readonly T[]) => readonly T[]): void;
  /** Emits a status, such as `{ type: "error", error }`. */
  emit(status: Status): void;
  /** Loses the connection for good: `disconnect`, then closed for this reason; waiting answers are lost. */
  lose(reason?: Error): void;
  /** Loses the connection until `reconnect`: `disconnect` and `reconnecting`; waiting answers are lost. */
  disconnect(): void;
  /** Ends `disconnect`. */
  reconnect(): void;
}

/**
 * Makes a scripted connection.
 *
 * @param options how it behaves
 * @returns the connection and its controls
 */
export function fakeConnection(options: FakeConnectionOptions = {}): FakeConnection {
  const stream = options.stream ?? "ORDERS";
  const client = new FakeClient({
    info: { ...SERVER, ...options.info },
    inboxPrefix: options.inboxPrefix,
    frames: options.frames ?? false,
    answers: options.answers ?? (({ index }) => ack(stream, index + 1)),
    requests: options.requests ?? (({ subject }) => streamInfo(subject.split(".").at(-1) ?? stream)),
    manual: options.manual ?? false,
    flush: options.flush ?? (() => Promise.resolve()),
  });
  return {
    nc: client as unknown as NatsConnection,
    published: client.published,
    asked: client.asked,
    calls: client.calls,
    get subscribed() {
      return client.open().map((sub) => sub.getSubject());
    },
    get waiting() {
      return client.waiting.length;
    },
    answer: (published, answer) => client.queue(published, answer),
    deliver: (count) => client.deliver((waiting) => waiting.slice(0, count)),
    deliverIn: (order) => client.deliver(order),
    emit: (status) => client.emit(status),
    lose: (reason) => client.lose(reason),
    disconnect: () => client.disconnect(),
    reconnect: () => client.emit({ type: "reconnect", server: client.getServer() }),
  };
}

const SERVER: ServerInfo = {
  server_id: "NFAKE",
  server_name: "fake",
  version: "2.15.2",
  proto: 1,
  go: "go1.26",
  host: "127.0.0.1",
  port: 4222,
  headers: true,
  max_payload: 1_048_576,
  jetstream: true,
  client_id: 1,
  api_lvl: 5,
};
