import { connect as connectSocket } from "node:net";
import assert from "node:assert/strict";
import { startNatsServer } from "../_support/nats/mod.ts";
import { failureOf, roundTrip, tcpServer } from "./_dialling.ts";

const INFO = 'INFO {"server_id":"x","version":"2.11.0","max_payload":1024}\r\n';

Deno.test("connect() reads an INFO that arrives byte by byte", async () => {
  await using server = await startNatsServer({ jetstream: false });
  const port = Number(new URL(server.url.replace(/^\w+/, "http")).port);
  await using proxy = await tcpServer((socket) => {
    const upstream = connectSocket(port, "127.0.0.1");
    upstream.on("error", () => socket.destroy());
    socket.on("close", () => upstream.destroy());
    socket.setNoDelay(true);
    socket.pipe(upstream);
    upstream.once("data", (info: Uint8Array) => {
      upstream.pause();
      // Each byte is flushed before the next, so that the client reads several times.
      const send = (at: number): void => {
        if (at === info.length) upstream.pipe(socket);
        else socket.write(info.subarray(at, at + 1), () => setImmediate(send, at + 1));
      };
      send(0);
    });
  });
  await roundTrip({ url: `nats://127.0.0.1:${proxy.port}` });
});

for (const [when, bytes] of [["before", ""], ["within", INFO.slice(0, 20)], ["after", INFO]] as const) {
  Deno.test(`connect() fails before its timeout when the server half-closes ${when} its INFO`, async () => {
    await using half = await tcpServer((socket) => void socket.end(bytes));
    const error = await failureOf(
      { url: `nats://127.0.0.1:${half.port}`, connectTimeout: 60_000 },
      "connection.refused",
    );
    assert.match(error.message, /closed|reset/);
  });
}
