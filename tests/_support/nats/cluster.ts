/**
 * Several nats-servers that form one cluster.
 *
 * ```ts
 * await using cluster = await startNatsCluster({ nodes: 3 });
 * const leader = await cluster.leaderOf("ORDERS");
 * await leader.kill();
 * ```
 *
 * @module
 */

import { askJson, type Jsz, type JszStream, type Routez } from "./monitor.ts";
import { natsServerBinary } from "./binary.ts";
import type { ServerConfig } from "./config.ts";
import { type NatsServer, randomName, startOrDispose, withFreePorts } from "./server.ts";
import { freePorts } from "./ports.ts";
import { ServerProcess } from "./server_process.ts";
import { until } from "../wait.ts";

/** How a cluster is started. */
export interface NatsClusterOptions extends ServerConfig {
  /** The number of nodes. @default {3} */
  readonly nodes?: number;
  /** The program to run. @default what `natsServerBinary()` finds */
  readonly binary?: string;
}

/** A running cluster. */
export interface NatsCluster extends AsyncDisposable {
  /** The nodes; each can be killed and started again. */
  readonly nodes: readonly NatsServer[];
  /** The addresses of all nodes. */
  readonly urls: readonly string[];
  /** The version of the nodes. */
  readonly version: string;
  /** Waits until all running nodes have stable routes, agree on a leader and have loaded their streams. */
  ready(): Promise<void>;
  /** The running node that leads the cluster. */
  metaLeader(): Promise<NatsServer>;
  /** The running node that leads a stream, of any account; waits until there is one. */
  leaderOf(stream: string): Promise<NatsServer>;
  /** The running nodes that hold a stream and do not lead it; waits until all of them are up to date. */
  followersOf(stream: string): Promise<readonly NatsServer[]>;
}

/**
 * Starts a cluster on free ports of 127.0.0.1 and waits until streams can be created.
 *
 * @param options how it is configured
 * @returns the running cluster, to be held by `await using`
 */
export async function startNatsCluster(options: NatsClusterOptions = {}): Promise<NatsCluster> {
  const binary = options.binary ?? await natsServerBinary();
  const count = options.nodes ?? 3;
  return await withFreePorts(async () => {
    const name = randomName();
    const routes = await freePorts(count);
    const nodes = await Promise.all(routes.map(async (route, index) => {
      const [client, monitor, websocket] = await freePorts(3) as [number, number, number];
      const ports = { client, monitor, websocket, cluster: route };
      return new ServerProcess({
        binary,
        name: `${name}-${index + 1}`,
        ports,
        cluster: { name, routes },
        config: options,
      });
    }));
    const cluster = clusterOf(nodes);
    return await startOrDispose(cluster, () => start(nodes, cluster));
  });
}

async function start(nodes: readonly NatsServer[], cluster: NatsCluster): Promise<void> {
  // Waits for all of them, so that none is started after another one has failed and all were disposed.
  const starts = await Promise.allSettled(nodes.map((node) => node.restart({ wait: "listening" })));
  for (const start of starts) if (start.status === "rejected") throw start.reason;
  await cluster.ready();
}

function clusterOf(nodes: readonly NatsServer[]): NatsCluster {
  const leaderOf = (stream: string) =>
    until(
      `a leader of ${stream}`,
      () => firstOf(running(nodes).map(async (node) => await leads(node, stream) && node)),
    );
  return {
    nodes,
    urls: nodes.map((node) => node.url),
    get version() {
      return nodes[0]!.version;
    },
    ready: async () => {
      await routesAreKept(nodes);
      const leader = await until("a leader of the cluster", () => agreedLeader(nodes));
      await Promise.all(running(nodes).map((node) => node.ready()));
      if (!leader.running()) throw new Error(`${leader.name} leads the cluster, but has ended`);
    },
    metaLeader: () => until("a leader of the cluster", () => agreedLeader(nodes)),
    leaderOf,
    followersOf: async (stream) => {
      await leaderOf(stream);
      return await until(`the followers of ${stream}`, () => followers(nodes, stream));
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(nodes.map((node) => node[Symbol.asyncDispose]()));
    },
  };
}

/** The second after which a node retries a route to another node that did not listen yet. */
const ROUTES_KEPT_FOR = 1_200;

/**
 * Waits until no route between the running nodes is new. A second route between the same two is closed as a duplicate,
 * and an answer of the JetStream API on its way over it is lost: seen in two of 75 starts under load.
 */
async function routesAreKept(nodes: readonly NatsServer[]): Promise<void> {
  let known = "";
  let since = 0;
  await until("the routes to be kept", async () => {
    const up = running(nodes);
    const views = await Promise.all(up.map((node) => askJson<Routez>(`${node.monitorUrl}/routez`)));
    const peers = views.map(({ routes }) => new Set(routes.map(({ remote_id }) => remote_id)).size);
    const now = JSON.stringify(views.map(({ routes }) => routes.map(({ rid }) => rid).sort()));
    if (now !== known || peers.some((count) => count < up.length - 1)) [known, since] = [now, Date.now()];
    return Date.now() - since >= ROUTES_KEPT_FOR;
  }, { every: 50 });
}

function running(nodes: readonly NatsServer[]): NatsServer[] {
  return nodes.filter((node) => node.running());
}

/** Returns the first answer: a stopped node never answers, and must not delay another node's answer. */
async function firstOf(answers: readonly Promise<NatsServer | false>[]): Promise<NatsServer> {
  return await Promise.any(answers.map(async (answer) => {
    const node = await answer;
    if (node === false) throw new Error("another node");
    return node;
  }));
}

/** The node that all running ones, at least a majority, consider the leader. */
async function agreedLeader(nodes: readonly NatsServer[]): Promise<NatsServer | undefined> {
  const up = running(nodes);
  if (up.length * 2 <= nodes.length) return undefined;
  const views = await Promise.all(up.map((node) => askJson<Jsz>(`${node.monitorUrl}/jsz`)));
  const leader = views[0]?.meta_cluster?.leader;
  if (!views.every(({ meta_cluster: meta }) => meta?.leader === leader && meta?.cluster_size === nodes.length)) {
    return undefined;
  }
  return up.find((node) => node.name === leader);
}

async function streamAt(node: NatsServer, stream: string): Promise<JszStream | undefined> {
  const jsz = await askJson<Jsz>(`${node.monitorUrl}/jsz?accounts=true&streams=true`);
  return jsz.account_details?.flatMap((account) => account.stream_detail ?? []).find(({ name }) => name === stream);
}

/** A node is asked only about itself: what other nodes report may date from before an election. */
async function leads(node: NatsServer, stream: string): Promise<boolean> {
  return (await streamAt(node, stream))?.cluster?.leader === node.name;
}

async function followers(nodes: readonly NatsServer[], stream: string): Promise<NatsServer[] | undefined> {
  for (const node of running(nodes)) {
    const cluster = (await streamAt(node, stream))?.cluster;
    if (cluster?.leader !== node.name) continue;
    const up = (cluster.replicas ?? []).map(({ name, current }) =>
      current ? running(nodes).find((n) => n.name === name) : undefined
    );
    return up.every((follower) => follower !== undefined) ? up : undefined;
  }
}
