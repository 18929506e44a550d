/** The HTTP server that the suite uses: it controls a proxy and serves data, and a page for browsers. */

import { fuzzCases, readBytes, readVectors } from "../_support/testdata.ts";
import { isMisread } from "../_support/arrow/readers.ts";
import { startNatsServer } from "../_support/nats/server.ts";
import { freePorts } from "../_support/nats/ports.ts";
import { startTcpProxy, type TcpProxy } from "../_support/nats/tcp_proxy.ts";
import { until } from "../_support/wait.ts";
import type { Env, Fixtures } from "./context.ts";
import type { Result } from "./suite.ts";

/** A running control server, with its own nats-server. */
export interface Control extends AsyncDisposable {
  /** `http://127.0.0.1:<port>`. */
  readonly url: string;
  /** What the suite reported; pending until then. */
  readonly results: Promise<readonly Result[]>;
}

/** How the suite reaches the server. */
export type Transport = "tcp" | "websocket";

/** The minimum size of an `apply`'s rows on the wire, in bytes; the client's own pings are shorter. */
const SENT = 300;

/**
 * Starts a server, a proxy in front of it, and the control server.
 *
 * @param name the run's name
 * @param transport how the suite reaches the server
 * @param script a bundle to serve to a browser
 */
export async function startControl(name: string, transport: Transport, script?: string): Promise<Control> {
  const nats = await startNatsServer({ websocket: transport === "websocket" });
  const url = transport === "websocket" ? nats.wsUrl : nats.url;
  const proxy = await startTcpProxy(url);
  const [dead] = await freePorts(1);
  const env: Env = { name, url, proxyUrl: proxy.url, deadUrl: `${new URL(url).protocol}//127.0.0.1:${dead}` };
  const { promise, resolve } = Promise.withResolvers<readonly Result[]>();
  const routes: Readonly<Record<string, (request: Request) => Response | Promise<Response>>> = {
    "GET /env": () => Response.json(env),
    "GET /fixtures": () => Response.json(readFixtures()),
    "GET /": () => html('<!doctype html><title>jetrow</title><script type="module" src="script.js"></script>'),
    "GET /script.js": () => new Response(script, { headers: { "content-type": "text/javascript" } }),
    "POST /results": async (request) => {
      resolve(await request.json());
      return new Response("noted");
    },
    ...ordersOf(proxy),
  };
  const server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const route = routes[`${request.method} ${new URL(request.url).pathname}`];
    return await route?.(request) ?? new Response(null, { status: 404 });
  });
  return {
    url: `http://127.0.0.1:${server.addr.port}`,
    results: promise,
    [Symbol.asyncDispose]: async () => {
      await server.shutdown();
      await proxy[Symbol.asyncDispose]();
      await nats[Symbol.asyncDispose]();
    },
  };
}

function ordersOf(proxy: TcpProxy): Record<string, () => Promise<Response>> {
  let before = 0;
  const done = (order: () => void) => () => {
    order();
    return Promise.resolve(new Response("done"));
  };
  return {
    "POST /drop": done(() => {
      before = proxy.bytes.up;
      proxy.drop("down");
    }),
    "POST /resume": done(() => proxy.resume()),
    "POST /cut": async () => {
      await until("rows to be sent", () => proxy.bytes.up >= before + SENT);
      before = 0;
      proxy.cut();
      proxy.resume();
      return new Response("done");
    },
  };
}

function html(text: string): Response {
  return new Response(text, { headers: { "content-type": "text/html" } });
}

function readFixtures(): Fixtures {
  const golden = fuzzCases().map(({ name, about, ipc, lines }) => ({
    name,
    ipc: ipc.toBase64(),
    ...(lines === undefined ? {} : { lines: readBytes(`fuzz/${name}.ndjson`).toBase64() }),
    misread: isMisread("flechette", about),
  }));
  return { golden, ids: readVectors("message_ids") };
}
