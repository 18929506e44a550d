/**
 * An edge worker that receives Arrow over HTTP, publishes its rows over WebSocket, and answers with the receipt.
 *
 *     curl https://<worker>/clicks -H "authorization: Bearer $UPLOAD_TOKEN" --data-binary @clicks.arrows
 *
 * The body is an Arrow IPC stream; the path is the resource. Rows are published while the body arrives, so that memory
 * stays constant. A failed request can be sent again: rows with an event id are stored once.
 */

import { readArrow } from "@jetrow/jetrow/arrow";
import { batchesOf, connect, isJetrowError, openRun, type SinkConfig } from "@jetrow/jetrow/web";

interface Env {
  readonly NATS_URL: string; // wss://...
  readonly NATS_PASSWORD: string;
  readonly UPLOAD_TOKEN?: string; // without it every upload is refused
}

export default {
  async fetch(request: Request, env: Env): Promise<Response> {
    const answer = await upload(request, env);
    // A body that is not read to its end blocks the connection for the next request.
    if (request.body?.locked === false) await request.body.cancel();
    return answer;
  },
};

async function upload(request: Request, env: Env): Promise<Response> {
  if (!env.UPLOAD_TOKEN || request.headers.get("authorization") !== `Bearer ${env.UPLOAD_TOKEN}`) {
    return new Response(null, { status: 401 });
  }
  if (request.method !== "POST") return new Response(null, { status: 405 });
  const resource = new URL(request.url).pathname.slice(1);
  if (resource === "") return Response.json({ message: "the path must name a resource" }, { status: 404 });
  if (request.body === null) return Response.json({ message: "the body is empty" }, { status: 400 });
  const rows = readArrow(request.body);
  try {
    await rows.schema; // a body that is not Arrow is refused before a connection is opened
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
    await using run = await openRun(() => connect(config), config);
    await run.applyAll(batchesOf(decodeURIComponent(resource), rows));
    return Response.json(await run.commit());
  } catch (error) {
    return failure(error);
  } finally {
    await rows[Symbol.asyncIterator]().return?.(); // cancels a body that is not read to its end
  }
}

/** The HTTP status of each error: the client's fault, the server's, or a reason to send again. */
const STATUS = {
  EncodeError: 422,
  RouteError: 404,
  PublishError: 503,
  ConnectionError: 503,
  ConfigError: 500,
  StateError: 500,
} as const;

function failure(error: unknown): Response {
  if (error instanceof URIError) return Response.json({ message: "the path is not valid UTF-8" }, { status: 404 });
  if (!isJetrowError(error)) return Response.json({ message: String(error) }, { status: 500 });
  const { name, code, message } = error;
  const rows = error.name === "PublishError" ? error.rowOutcomes.counts : undefined;
  return Response.json({ code, message, rows }, { status: code === "encode.malformed" ? 400 : STATUS[name] });
}
