import assert from "node:assert/strict";
import { once } from "node:events";
import { connect as dial, createServer, type Socket } from "node:net";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import { utf8 } from "../_support/bytes.ts";
import {
  editFrames,
  managerOf,
  startNatsServer,
  startTcpProxy,
  type TcpProxy,
  type TcpProxyOptions,
} from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";

/** A server that sends back the bytes it receives, behind a proxy, with one client that records what it receives. */
async function echo(options?: TcpProxyOptions) {
  const sockets = new Set<Socket>();
  const server = createServer({ noDelay: true }, (socket) => {
    sockets.add(socket);
    socket.on("error", () => {});
    socket.on("data", (bytes) => socket.write(bytes));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const proxy = await startTcpProxy(`tcp://127.0.0.1:${(server.address() as { port: number }).port}`, options);
  const client = dial({ host: "127.0.0.1", port: Number(new URL(proxy.url).port), noDelay: true });
  const chunks: { readonly text: string; readonly at: number }[] = [];
  const errors: string[] = [];
  client.on("data", (bytes) => chunks.push({ text: bytes.toString(), at: performance.now() }));
  client.on("error", (error) => errors.push((error as { code?: string }).code ?? error.message));
  const closed = new Promise<void>((resolve) => client.once("close", () => resolve()));
  await once(client, "connect");
  return {
    closed,
    proxy,
    client,
    chunks,
    errors,
    text: () => chunks.map(({ text }) => text).join(""),
    [Symbol.asyncDispose]: async () => {
      client.destroy();
      for (const socket of sockets) socket.destroy();
      await proxy[Symbol.asyncDispose]();
      server.close();
      await once(server, "close");
    },
  };
}

const got = (end: { text(): string }, text: string) => until(`"${text}"`, () => end.text() === text);
const sentUp = (proxy: TcpProxy, bytes: number) => until(`${bytes} bytes`, () => proxy.bytes.up === bytes);

Deno.test("startTcpProxy() passes bytes both ways and counts them", async () => {
  await using end = await echo();
  end.client.write("there and back");
  await got(end, "there and back");
  assert.deepEqual(end.proxy.bytes, { up: 14, down: 14 });
  assert.equal(end.proxy.open, 1);
});

Deno.test("TcpProxy.cut() resets the connection, and a new one can be made", async () => {
  await using end = await echo();
  end.client.write("a");
  await got(end, "a");
  end.proxy.cut();
  await end.closed;
  assert.deepEqual(end.errors, ["ECONNRESET"]);
  const next = dial({ host: "127.0.0.1", port: Number(new URL(end.proxy.url).port) });
  next.write("b");
  const [bytes] = await once(next, "data");
  assert.equal(bytes.toString(), "b");
  assert.equal(end.proxy.accepted, 2);
  next.destroy();
});

Deno.test("TcpProxy.close() ends the connection without a reset", async () => {
  await using end = await echo();
  end.client.write("a");
  await got(end, "a");
  end.proxy.close();
  await end.closed;
  assert.deepEqual(end.errors, []);
});

Deno.test("TcpProxy.stall() stops a direction, and resume() delivers all of its bytes", async () => {
  await using end = await echo();
  end.proxy.stall("down");
  end.client.write("held");
  await sentUp(end.proxy, 4);
  const whole = "x".repeat(20_000_000);
  end.client.write(whole);
  await until("the client to be held up", () => end.client.writableLength > 0 && end.proxy.bytes.up > 4);
  assert.equal(end.text(), "");
  end.proxy.resume("down");
  await until("all of it", () => end.proxy.bytes.down === whole.length + 4);
  await until("all of it", () => end.chunks.reduce((sum, { text }) => sum + text.length, 0) === whole.length + 4);
});

Deno.test("TcpProxy.drop() discards one direction until resume()", async () => {
  await using end = await echo();
  end.proxy.drop("up");
  end.client.write("lost");
  await sentUp(end.proxy, 4);
  end.proxy.resume();
  end.client.write("kept");
  await got(end, "kept");
});

Deno.test("TcpProxy.delay() delays each byte, in order, without limiting their number", async () => {
  await using end = await echo();
  end.proxy.delay({ up: 40, down: 40 });
  const start = performance.now();
  for (let i = 0; i < 1000; i++) end.client.write(`${i},`);
  await got(end, Array.from({ length: 1000 }, (_, i) => `${i},`).join(""));
  assert(end.chunks[0]!.at - start >= 79, `the first came after ${end.chunks[0]!.at - start} ms`);
  assert(end.chunks.at(-1)!.at - start < 60_000, `the last came after ${end.chunks.at(-1)!.at - start} ms`);
});

Deno.test("TcpProxy.slice() delivers in pieces", async () => {
  await using end = await echo();
  end.proxy.slice(3);
  const text = "0123456789".repeat(6);
  end.client.write(text);
  await got(end, text);
  assert(end.chunks.length >= 5, JSON.stringify(end.chunks));
});

Deno.test("TcpProxy.refuse() refuses new connections and keeps old ones; accept() accepts new ones on the same port", async () => {
  await using end = await echo();
  const port = Number(new URL(end.proxy.url).port);
  end.client.write("a");
  await got(end, "a");
  await end.proxy.refuse();
  const refused = dial({ host: "127.0.0.1", port });
  const [error] = await once(refused, "error");
  assert.equal(error.code, "ECONNREFUSED");
  end.client.write("b");
  await got(end, "ab");
  await end.proxy.accept();
  const taken = dial({ host: "127.0.0.1", port });
  await once(taken, "connect");
  taken.destroy();
});

Deno.test("startTcpProxy() passes bytes to a tap, which can change them", async () => {
  const tap: TcpProxyOptions["tap"] = (way) => (bytes) =>
    way === "up" ? utf8(new TextDecoder().decode(bytes).toUpperCase()) : bytes;
  await using end = await echo({ tap });
  end.client.write("loud");
  await got(end, "LOUD");
});

Deno.test("editFrames() drops acknowledgments of rows that the stream has", async () => {
  let lose = false;
  const edit = editFrames((frame, way) => lose && way === "down" && frame.op === "MSG" ? undefined : frame.bytes);
  await using server = await startNatsServer();
  await using proxy = await startTcpProxy(server.url, edit);
  await using direct = await connect({ servers: server.url });
  const manager = await managerOf(direct);
  await manager.streams.add({ name: "LOST", subjects: ["lost"] });
  await using nc = await connect({ servers: proxy.url });
  await jetstream(nc).publish("lost", "one");
  lose = true;
  proxy.slice(5);
  await assert.rejects(jetstream(nc).publish("lost", "two", { timeout: 200 }), /timeout/);
  await nc.flush();
  assert.equal((await manager.streams.info("LOST")).state.messages, 2);
});
