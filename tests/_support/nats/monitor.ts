/**
 * A server's monitoring endpoint, which needs no authentication, permissions or TLS.
 *
 * @module
 */

import { get } from "node:http";

/** The fields of `/varz` that tests use. */
export interface Varz {
  /** The server's version. */
  readonly version: string;
  /** The number of connected clients. */
  readonly connections: number;
  /** The number of subscriptions of all clients. */
  readonly subscriptions: number;
  /** When the configuration was last loaded. */
  readonly config_load_time: string;
}

/** A client in `/connz`. */
export interface ConnzClient {
  /** The server's number for the connection. */
  readonly cid: number;
  /** The client's name. */
  readonly name?: string;
  /** The subjects that it has subscribed. */
  readonly subscriptions_list?: readonly string[];
}

/** The fields of `/routez` that tests use: a server's connections to the other nodes. */
export interface Routez {
  /** The connections; several to each node. */
  readonly routes: readonly { readonly rid: number; readonly remote_id: string }[];
}

/** A stream in `/jsz`. */
export interface JszStream {
  /** The stream's name. */
  readonly name: string;
  /** Its leader and followers; absent on a single server. */
  readonly cluster?: {
    readonly leader?: string;
    readonly replicas?: readonly { readonly name: string; readonly current?: boolean }[];
  };
  /** Its state. */
  readonly state: { readonly messages: number; readonly last_seq: number };
}

/** The fields of `/jsz` that tests use. */
export interface Jsz {
  /** The group of servers that assigns streams to nodes; absent on a single server. */
  readonly meta_cluster?: { readonly leader?: string; readonly cluster_size: number };
  /** The accounts that use JetStream, if requested. */
  readonly account_details?: readonly {
    readonly name: string;
    readonly stream_detail?: readonly JszStream[];
  }[];
}

/** An answer of the endpoint. */
export interface MonitorAnswer {
  /** The HTTP status. */
  readonly status: number;
  /** The body. */
  readonly body: string;
}

/**
 * Sends a request on a new connection that is closed afterwards.
 *
 * @param url the whole address
 * @returns the status and the body
 */
export function ask(url: string): Promise<MonitorAnswer> {
  return new Promise((resolve, reject) => {
    const request = get(url, { agent: false, headers: { connection: "close" }, timeout: 5_000 });
    let answer: MonitorAnswer | undefined;
    let failure: unknown = new Error(`${url} closed the connection without an answer`);
    request.on("response", (response) => {
      let body = "";
      response.setEncoding("utf8");
      response.on("data", (text: string) => body += text);
      response.on("end", () => answer = { status: response.statusCode ?? 0, body });
      response.on("error", (error) => failure = error);
    });
    request.on("timeout", () => request.destroy(new Error(`no answer from ${url} within 5 s`)));
    request.on("error", (error) => failure = error);
    // The connection is closed now, and cannot fail any more when the server is killed.
    request.on("close", () => answer === undefined ? reject(failure) : resolve(answer));
  });
}

/**
 * Requests a JSON document.
 *
 * @param url the whole address
 * @returns the document
 */
export async function askJson<T>(url: string): Promise<T> {
  const { status, body } = await ask(url);
  if (status !== 200) throw new Error(`${url} answered ${status}: ${body.slice(0, 200)}`);
  return JSON.parse(body) as T;
}

/**
 * The server's current clients, with their subscriptions: whether a publisher has unsubscribed its inbox and closed its
 * connection.
 *
 * @param server the server
 * @returns the clients
 */
export async function clientsOf(server: { readonly monitorUrl: string }): Promise<readonly ConnzClient[]> {
  return (await askJson<{ connections: ConnzClient[] }>(`${server.monitorUrl}/connz?subs=true`)).connections;
}
