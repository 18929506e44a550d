/** Helpers of the tests of dialling. */

import type { NatsConnection } from "@nats-io/nats-core";
import assert from "node:assert/strict";
import { createServer, type Server, type Socket } from "node:net";
import { inspect } from "node:util";
import { ConnectionError, type ConnectionErrorCode } from "../../src/errors/mod.ts";
import { connectBy } from "../../src/runtime/connect.ts";
import { connectNode } from "../../src/runtime/tcp_node.ts";
import type { ConnectionConfig } from "../../src/types/mod.ts";

/** Dials as the Deno entry point does. */
export function connect(config: ConnectionConfig): Promise<NatsConnection> {
  return connectBy(config, connectNode);
}

/** Dials, sends a request, and closes. Returns the server's answer about the connected user. */
export async function roundTrip(config: ConnectionConfig, secrets: readonly string[] = []): Promise<string> {
  const nc = await connect(config);
  try {
    await nc.flush();
    assertSecretless(nc, secrets);
    return nc.getServer();
  } finally {
    await nc.close();
  }
}

/** The ConnectionError that a dial fails with; asserts that none of its properties contains a secret. */
export async function failureOf(
  config: ConnectionConfig,
  code: ConnectionErrorCode,
  secrets: readonly string[] = [],
): Promise<ConnectionError> {
  const outcome = await connect(config).then(async (nc) => {
    await nc.close();
    return "connected";
  }, (error: unknown) => error);
  assert.ok(outcome instanceof ConnectionError, `expected a ConnectionError: ${inspect(outcome)}`);
  assert.equal(outcome.code, code, outcome.message);
  assert.doesNotMatch(outcome.message, /\n/);
  assertSecretless(outcome, secrets);
  return outcome;
}

/** Asserts that no way of printing a value shows a secret. */
export function assertSecretless(value: unknown, secrets: readonly string[]): void {
  const strings = [
    inspect(value, { depth: 12, showHidden: true }),
    Deno.inspect(value, { depth: 12, getters: false }),
    String(value),
    "toJSON" in Object(value) ? JSON.stringify(value) : "",
    value instanceof Error ? JSON.stringify({ ...value, message: value.message, stack: value.stack }) : "",
  ];
  for (const secret of secrets) {
    // A PEM string is printed with escaped line ends: one of its lines is enough to detect it.
    const lines = secret.split("\n").filter((line) => line !== "" && !line.startsWith("-----"));
    for (const line of lines) {
      for (const text of strings) assert.ok(!text.includes(line), "a secret is shown");
    }
  }
}

/** A TCP server that calls `serve` with each connection. */
export async function tcpServer(serve: (socket: Socket) => void): Promise<AsyncDisposable & { readonly port: number }> {
  const sockets = new Set<Socket>();
  const server: Server = createServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    serve(socket);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  return {
    port: (server.address() as { port: number }).port,
    [Symbol.asyncDispose]: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((closed) => server.close(() => closed()));
    },
  };
}

/** A port without a listener: it was free a moment ago, and is below the ports of outgoing connections. */
export async function deadPort(): Promise<number> {
  const { freePorts } = await import("../_support/nats/ports.ts");
  const [port] = await freePorts(1);
  return port!;
}
