/**
 * A nats-server's configuration file.
 *
 * @module
 */

import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Certificates of a server, as PEM strings. */
export interface ServerTls {
  /** The server's certificate. */
  readonly cert: string;
  /** Its key. */
  readonly key: string;
  /** The authority that must have signed a client's certificate. */
  readonly ca?: string;
  /** Whether clients must show a certificate. @default {false} */
  readonly verify?: boolean;
  /** Whether TLS starts before the server's first line (server 2.10.4). @default {false} */
  readonly handshakeFirst?: boolean;
}

/** A server's configuration, without its ports and folders. */
export interface ServerConfig {
  /** Further top-level configuration: users, limits, accounts. */
  readonly config?: string;
  /** Whether JetStream is enabled, or further lines in its block. @default {true} */
  readonly jetstream?: boolean | string;
  /** Whether there is a WebSocket port, or the lines in its block in place of `no_tls: true`. @default {false} */
  readonly websocket?: boolean | string;
  /** TLS for clients. The WebSocket port uses it too. */
  readonly tls?: ServerTls;
}

/** The ports of a server. */
export interface ServerPorts {
  /** For clients. */
  readonly client: number;
  /** For monitoring. */
  readonly monitor: number;
  /** For clients over WebSocket. */
  readonly websocket: number;
  /** For the other nodes of the cluster. */
  readonly cluster: number;
}

/** A server's membership in a cluster. */
export interface ClusterConfig {
  /** The cluster's name. */
  readonly name: string;
  /** The cluster ports of all nodes. */
  readonly routes: readonly number[];
}

/** A server's name, folder, ports and cluster. */
export interface ServerIdentity {
  /** The server's name. */
  readonly name: string;
  /** Its folder. */
  readonly folder: string;
  /** Its ports. */
  readonly ports: ServerPorts;
  /** Its cluster, if it has one. */
  readonly cluster?: ClusterConfig;
}

/**
 * Writes the configuration file, and the certificates next to it.
 *
 * @param who the server's name, folder, ports and cluster
 * @param config its configuration
 * @returns the file's path
 */
export function writeConfig(who: ServerIdentity, config: ServerConfig): string {
  const tls = config.tls && tlsBlock(who.folder, config.tls);
  const path = join(who.folder, "server.conf");
  const parts = [
    `server_name: ${who.name}`,
    `listen: "127.0.0.1:${who.ports.client}"`,
    `http: "127.0.0.1:${who.ports.monitor}"`,
    jetstreamBlock(who.folder, config.jetstream ?? true),
    websocketBlock(who.ports.websocket, config.websocket ?? false, tls),
    tls && `tls {\n${tls.join("\n")}\n}`,
    who.cluster && clusterBlock(who.ports.cluster, who.cluster),
    config.config,
  ];
  writeFileSync(path, parts.filter((part) => part !== undefined).join("\n") + "\n");
  return path;
}

/** The folder in which a server of this folder keeps its streams. */
export function storeFolder(folder: string): string {
  return join(folder, "store");
}

function jetstreamBlock(folder: string, jetstream: boolean | string): string | undefined {
  if (jetstream === false) return undefined;
  return `jetstream {\nstore_dir: ${JSON.stringify(storeFolder(folder))}\n${jetstream === true ? "" : jetstream}\n}`;
}

function websocketBlock(port: number, websocket: boolean | string, tls?: readonly string[]): string | undefined {
  if (websocket === false) return undefined;
  const byDefault = tls
    ? `tls {\n${tls.filter((line) => !line.startsWith("handshake_first")).join("\n")}\n}`
    : "no_tls: true";
  return `websocket {\nlisten: "127.0.0.1:${port}"\n${websocket === true ? byDefault : websocket}\n}`;
}

function tlsBlock(folder: string, tls: ServerTls): string[] {
  const file = (name: string, pem: string) => {
    const path = join(folder, name);
    writeFileSync(path, pem, { mode: 0o600 });
    return JSON.stringify(path);
  };
  const lines = [`cert_file: ${file("server.crt", tls.cert)}`, `key_file: ${file("server.key", tls.key)}`];
  if (tls.ca !== undefined) lines.push(`ca_file: ${file("clients_ca.crt", tls.ca)}`);
  if (tls.verify) lines.push("verify: true");
  if (tls.handshakeFirst) lines.push("handshake_first: true");
  return lines;
}

function clusterBlock(port: number, { name, routes }: ClusterConfig): string {
  const urls = routes.map((route) => `"nats://127.0.0.1:${route}"`).join(", ");
  return `cluster {\nname: ${name}\nlisten: "127.0.0.1:${port}"\nroutes: [${urls}]\n}`;
}
