/**
 * A TCP proxy that causes faults between a client and a server.
 *
 * ```ts
 * await using proxy = await startTcpProxy(server.url);
 * const nc = await connect({ servers: proxy.url });
 * proxy.stall("down");
 * ```
 *
 * `up` is from the client to the server, `down` from the server to the client. Works on Deno, Node and Bun.
 *
 * @module
 */

import { connect as dial, createServer, type Server, type Socket } from "node:net";
import { Lane, type LaneRules } from "./tcp_direction.ts";
import { until } from "../wait.ts";

/** A direction: from the client to the server, or from the server to the client. */
export type Way = "up" | "down";

/** Receives the bytes of one direction of one connection, and returns the bytes to pass on; undefined: none. */
export type Tap = (bytes: Uint8Array) => Uint8Array | undefined;

/** How a proxy is started. */
export interface TcpProxyOptions {
  /** Called once for each direction of each connection (counted from 0). */
  readonly tap?: (way: Way, connection: number) => Tap;
}

/** A running proxy. Its methods apply to current and future connections. */
export interface TcpProxy extends AsyncDisposable {
  /** The proxy's address, with the scheme of its target. */
  readonly url: string;
  /** The number of current connections. */
  readonly open: number;
  /** The number of connections since the start. */
  readonly accepted: number;
  /** Bytes received from each side since the start. */
  readonly bytes: Readonly<Record<Way, number>>;
  /** Resets all connections, for both sides. */
  cut(): void;
  /** Closes all connections after everything on its way is delivered. */
  close(): void;
  /** Stops reading: the sender's buffers fill, then it must wait. Without a direction: both. */
  stall(way?: Way): void;
  /** Ends `stall` and `drop`. Without a direction: both. */
  resume(way?: Way): void;
  /** Discards all bytes of a direction, without an error. */
  drop(way: Way): void;
  /** Delays each byte by this many milliseconds, in order, without a limit on their number. */
  delay(milliseconds: Partial<Record<Way, number>>): void;
  /** Delivers pieces of at most this many bytes; `undefined`: as they arrive. */
  slice(bytes: number | undefined): void;
  /** Refuses new connections until `accept`. */
  refuse(): Promise<void>;
  /** Accepts new connections again, on the same port. */
  accept(): Promise<void>;
}

/**
 * Starts a proxy on a free port of 127.0.0.1.
 *
 * @param target the server's address, such as `nats://127.0.0.1:4222`
 * @param options taps
 * @returns the running proxy, to be held by `await using`
 */
export async function startTcpProxy(target: string, options: TcpProxyOptions = {}): Promise<TcpProxy> {
  const proxy = new Proxy(target, options);
  await proxy.accept();
  return proxy;
}

class Proxy implements TcpProxy {
  readonly bytes: Record<Way, number> = { up: 0, down: 0 };
  accepted = 0;
  readonly #target: URL;
  readonly #options: TcpProxyOptions;
  readonly #rules: Record<Way, LaneRules> = { up: {}, down: {} };
  readonly #pairs = new Set<Pair>();
  #server: Server | undefined;
  #port = 0;

  constructor(target: string, options: TcpProxyOptions) {
    this.#target = new URL(target);
    this.#options = options;
  }

  get url(): string {
    return `${this.#target.protocol}//127.0.0.1:${this.#port}`;
  }

  get open(): number {
    return this.#pairs.size;
  }

  cut(): void {
    for (const { client, server } of this.#pairs) {
      reset(client);
      reset(server);
    }
  }

  close(): void {
    for (const { lanes } of this.#pairs) for (const lane of lanes) lane.end();
  }

  stall(way?: Way): void {
    this.#set(way, { stalled: true });
  }

  resume(way?: Way): void {
    this.#set(way, { stalled: false, dropped: false });
  }

  drop(way: Way): void {
    this.#set(way, { dropped: true });
  }

  delay(milliseconds: Partial<Record<Way, number>>): void {
    for (const way of WAYS) {
      const delay = milliseconds[way];
      if (delay !== undefined) this.#set(way, { delay });
    }
  }

  slice(bytes: number | undefined): void {
    this.#set(undefined, { slice: bytes });
  }

  async refuse(): Promise<void> {
    const server = this.#server;
    if (server === undefined) return;
    this.#server = undefined;
    // Its callback would wait for the connections to end, but they stay.
    server.close();
    // Another thread that is about to start a process may keep the port listening.
    await until("the port to close", () => isRefused(this.#port), { every: 1 });
  }

  async accept(): Promise<void> {
    if (this.#server !== undefined) return;
    const server = createServer({ allowHalfOpen: true, noDelay: true }, (client) => this.#connect(client));
    this.#server = server;
    await new Promise<void>((resolve, reject) => {
      server.once("error", reject);
      server.listen(this.#port, "127.0.0.1", resolve);
    });
    const address = server.address();
    if (address !== null && typeof address === "object") this.#port = address.port;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.refuse();
    const pairs = [...this.#pairs];
    this.cut();
    await Promise.all(pairs.flatMap(({ gone, lanes }) => [gone, ...lanes.map((lane) => gone.then(() => lane.idle()))]));
  }

  #set(way: Way | undefined, rules: LaneRules): void {
    for (const each of way === undefined ? WAYS : [way]) {
      Object.assign(this.#rules[each], rules);
      for (const { lanes } of this.#pairs) lanes[WAYS.indexOf(each)]?.changed();
    }
  }

  #connect(client: Socket): void {
    const server = dial({
      host: this.#target.hostname,
      port: Number(this.#target.port),
      allowHalfOpen: true,
      noDelay: true,
    });
    const index = this.accepted++;
    const lane = (way: Way, from: Socket, to: Socket) =>
      new Lane(from, to, this.#rules[way], this.#options.tap?.(way, index), (bytes) => this.bytes[way] += bytes);
    const lanes = [lane("up", client, server), lane("down", server, client)];
    const ends = [client, server].map((socket) =>
      new Promise<void>((resolve) => socket.once("close", () => resolve()))
    );
    const pair: Pair = { client, server, lanes, gone: Promise.all(ends) };
    this.#pairs.add(pair);
    pair.gone.then(() => this.#pairs.delete(pair));
  }
}

const WAYS: readonly Way[] = ["up", "down"];

interface Pair {
  readonly client: Socket;
  readonly server: Socket;
  readonly lanes: readonly Lane[];
  readonly gone: Promise<unknown>;
}

/** Ends a connection so that its peer sees a reset. */
function reset(socket: Socket): void {
  if (!socket.destroyed) socket.resetAndDestroy();
}

function isRefused(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = dial({ host: "127.0.0.1", port });
    probe.once("connect", () => probe.destroy());
    probe.on("error", (error) => resolve((error as { code?: string }).code === "ECONNREFUSED"));
    probe.once("close", () => resolve(false));
  });
}
