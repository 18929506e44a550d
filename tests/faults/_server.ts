/** Failures on a real server: one publish that fails, and the checks of what it leaves. */

import assert from "node:assert/strict";
import { jetstream, type StreamConfig } from "@nats-io/jetstream";
import type { NatsConnection } from "@nats-io/nats-core";
import { type Options, Publisher, type PublishError, type RowBatch, type SinkConfig } from "../../mod.ts";
import { connect } from "../../src/runtime/deno.ts";
import { assertFailedPublish, type ExpectedFailure, failureOf } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { clientsOf, managerOf, type NatsServer, startTcpProxy, type TcpProxy } from "../_support/nats/mod.ts";
import { GiveUp, until } from "../_support/wait.ts";

/** A failure, and what it needs. */
export interface ServerFault {
  /** The server, or the node to which the publisher is connected. */
  readonly server: NatsServer;
  /** Where the stream is read afterwards. @default the same server */
  readonly admin?: () => ConnectionOf;
  /** The stream's configuration without name and subjects. */
  readonly stream?: Partial<StreamConfig>;
  /** Whether the stream exists already. @default {false} */
  readonly exists?: boolean;
  /** The publisher's options and credentials. */
  readonly options?: Partial<SinkConfig>;
  /** The number of rows. @default {3000} */
  readonly rows?: number;
  /** Causes the failure, once some hundred rows are acknowledged; with `at` 0 immediately after the call. */
  readonly act: (scene: ServerScene) => void | Promise<void>;
  /** The number of acknowledged rows before `act` is called. @default {200} */
  readonly at?: number;
  /** Ends the failure, before the stream is read. */
  readonly repair?: (scene: ServerScene) => void | Promise<void>;
  /** What the error must be. */
  readonly expected: ExpectedFailure;
  /** Whether the stream is still the one in which rows were acknowledged. @default {true} */
  readonly kept?: boolean;
  /** Whether the rows can be sent again afterwards. @default {true} */
  readonly replay?: boolean;
  /** Additional bytes per row. */
  readonly payload?: number;
}

/** A user that may do everything, and the address. */
export type ConnectionOf = Pick<
  SinkConfig,
  "url" | "authMode" | "username" | "password" | "jwt" | "nkeySeed" | "token"
>;

/** A publish in progress. */
export interface ServerScene {
  readonly server: NatsServer;
  readonly proxy: TcpProxy;
  readonly publisher: Publisher;
  /** Calls `work` with a new connection that may do everything. */
  admin<T>(work: (nc: NatsConnection) => Promise<T>): Promise<T>;
}

const INBOX = "_INBOX.fault";

/** Runs a failure and all checks. The link has a round trip of some ms, so that things can happen meanwhile. */
export async function playOnServer(fault: ServerFault): Promise<PublishError> {
  const { server, rows = 3000, at = 200 } = fault;
  await using proxy = await startTcpProxy(server.url);
  proxy.delay({ up: 2, down: 2 });
  const admin = <T>(work: (nc: NatsConnection) => Promise<T>) => asAdmin(fault.admin?.() ?? { url: server.url }, work);
  await admin(async (nc) => {
    if (fault.exists) return;
    const config = { name: "ORDERS", subjects: ["orders.>"], ...fault.stream };
    await (await managerOf(nc)).streams.add(config);
  });
  const name = `sink-${crypto.randomUUID().slice(0, 8)}`;
  const config: SinkConfig & Options = {
    url: proxy.url,
    name,
    stream: "ORDERS",
    subject: "orders.{resource}",
    publishTimeout: "20s",
    maxInFlight: 20,
    inboxPrefix: INBOX,
    ...fault.options,
  };
  const publisher = await Publisher.open(() => connect(config), config);
  const scene: ServerScene = { server, proxy, publisher, admin };
  const inboxes = await inboxesOf(server, name);
  const batch: RowBatch = { resource: "eu", rows: idBatch(rows, { payload: fault.payload ?? 0 }) };
  const failing = failureOf(publisher.publish(batch));
  if (at > 0) {
    await until("some rows acknowledged", async () => {
      const { acked, failures } = publisher.stats();
      if (acked >= at) return true;
      if (failures > 0) throw new GiveUp("failed before the fault", { cause: await failing });
    }, { every: 1 });
  }
  await fault.act(scene);
  const error = await failing;
  await fault.repair?.(scene);
  return await assertFailedPublish({
    error,
    expected: fault.expected,
    batch,
    rows,
    publisher,
    // A stream that has just got another leader may leave a request unanswered.
    stored: () => until("the stream's rows", () => admin((nc) => storedRows(nc, config.stream))),
    assertReleased: () => assertGone(server, name),
    answerLate: () => admin((nc) => answerLate(nc, inboxes)),
    kept: fault.kept ?? true,
    ...(fault.replay === false
      ? {}
      : { reopen: () => Publisher.open(() => connect({ ...config, url: server.url }), config) }),
  });
}

/** Calls `work` with a new connection, and closes it. */
export async function asAdmin<T>(config: ConnectionOf, work: (nc: NatsConnection) => Promise<T>): Promise<T> {
  const nc = await connect(config);
  try {
    return await work(nc);
  } finally {
    await nc.close();
  }
}

/** The numbers of the stored rows, each as often as it is stored. */
export async function storedRows(nc: NatsConnection, stream = "ORDERS"): Promise<readonly number[]> {
  const manager = await managerOf(nc);
  const info = await manager.streams.info(stream).catch((error: Error) => {
    if (error.name !== "StreamNotFoundError") throw error;
  });
  if (info === undefined || info.state.messages === 0) return [];
  const consumer = await jetstream(nc).consumers.get(stream);
  const rows: number[] = [];
  const messages = await consumer.consume({ max_messages: 5000 });
  for await (const message of messages) {
    rows.push(message.json<{ n: number }>().n);
    if (message.info.pending === 0) break;
  }
  return rows;
}

/** The publisher's inbox, as the server's monitoring reports it. */
async function inboxesOf(server: NatsServer, name: string): Promise<readonly string[]> {
  const client = (await clientsOf(server)).find((client) => client.name === name);
  const inboxes = (client?.subscriptions_list ?? []).filter((subject) => subject.startsWith(INBOX));
  assert.equal(inboxes.length, 1, "one wildcard inbox");
  return inboxes;
}

/** Waits until the publisher's connection is gone. */
export async function assertGone(server: NatsServer, name: string): Promise<void> {
  if (!server.running()) return;
  await until(
    "the publisher's connection gone",
    async () => !(await clientsOf(server)).some((client) => client.name === name),
  );
}

/** Acknowledges tokens of the window, as if the answers had been delayed. */
async function answerLate(nc: NatsConnection, inboxes: readonly string[]): Promise<void> {
  for (const inbox of inboxes) {
    for (let token = 0; token < 100; token++) {
      nc.publish(inbox.replace("*", String(token)), JSON.stringify({ stream: "ORDERS", seq: token + 1 }));
    }
  }
  await nc.flush();
}
