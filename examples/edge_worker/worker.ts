/**
 * An edge worker that takes Arrow over HTTP, publishes its rows over WebSocket, and answers with the receipt.
 *
 *     curl https://<worker>/clicks -H "authorization: Bearer $UPLOAD_TOKEN" --data-binary @clicks.arrows
 *
 * The body is an Arrow IPC stream; the path is the resource. Rows are published while the body comes in, so that memory
 * stays flat. A request that failed can be sent again: rows with an event id are stored once.
 */

import { batchesOf, connect, isJetrowError, openRun, type SinkConfig } from "@jetrow/jetrow/web";
import { RecordBatchReader } from "apache-arrow";

interface Env {
  readonly NATS_URL: string; // wss://...
  readonly NATS_PASSWORD: string;
  readonly UPLOAD_TOKEN: string;
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    if (request.headers.get("authorization") !== `Bearer ${env.UPLOAD_TOKEN}`) {
      return new Response(null, { status: 401 });
    }
    if (request.method !== "POST" || request.body === null) return new Response(null, { status: 405 });
    const config = {
      url: env.NATS_URL,
      authMode: "user_password",
      username: "worker",
      password: env.NATS_PASSWORD,
      inboxPrefix: "_INBOX_worker",
      stream: "EVENTS",
      subject: "events.{resource}",
      createStream: false,
    } satisfies SinkConfig;
    try {
      const resource = decodeURIComponent(new URL(request.url).pathname.slice(1));
      const reader = await (await RecordBatchReader.from(request.body)).open();
      if (reader.closed) throw new Error("the body is empty");
      await using run = await openRun(() => connect(config), config);
      await run.applyAll(batchesOf(resource, reader));
      return Response.json(await run.commit());
    } catch (error) {
      return failure(error);
    }
  },
};

/** Who has to do something: whoever sent the data, whoever runs the server, or the sender once more. */
const STATUS = {
  EncodeError: 422,
  RouteError: 404,
  PublishError: 503,
  ConnectionError: 503,
  ConfigError: 500,
  StateError: 500,
} as const;

function failure(error: unknown): Response {
  // What is no Arrow stream is apache-arrow's to refuse.
  if (!isJetrowError(error)) return Response.json({ message: String(error) }, { status: 400 });
  const { name, code, message } = error;
  const rows = error.name === "PublishError" ? error.rowOutcomes.counts : undefined;
  return Response.json({ code, message, rows }, { status: STATUS[name] });
}
