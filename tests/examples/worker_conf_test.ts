import { headers, type NatsConnection } from "@nats-io/nats-core";
import assert from "node:assert/strict";
import { connect, inspect, isJetrowError, openRun } from "../../src/runtime/deno.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { addStream, infoOf, natsServerBinary } from "../_support/nats/mod.ts";
import { PASSWORDS, startWorkerServer, WORKER_CONF } from "./_worker_conf.ts";

Deno.test("the server accepts worker.conf unchanged", async () => {
  const { code, stderr } = await new Deno.Command(await natsServerBinary(), {
    args: ["-t", "-c", WORKER_CONF],
    env: PASSWORDS,
  }).output();
  assert.equal(code, 0, new TextDecoder().decode(stderr));
});

/** The server's reason for refusing a message. */
async function refusal(nc: NatsConnection, subject: string, act: () => unknown): Promise<string> {
  const said = (async () => {
    for await (const status of nc.status()) {
      if (status.type === "error" && status.error.message.includes(subject)) return status.error.message;
    }
    return "nothing";
  })();
  await act();
  return await said;
}

Deno.test("a worker of worker.conf can publish its rows, and do nothing else", async (t) => {
  await using server = await startWorkerServer();
  const admin = { authMode: "user_password", username: "admin", password: PASSWORDS.ADMIN_PASSWORD } as const;
  await using owner = await connect({ url: server.url, ...admin });
  await addStream(owner, { name: "EVENTS", subjects: ["events.>"], deny_delete: true, deny_purge: true });
  await addStream(owner, { name: "OTHER", subjects: ["other.>"] });
  const config = {
    url: server.wsUrl,
    authMode: "user_password",
    username: "worker",
    password: PASSWORDS.WORKER_PASSWORD,
    inboxPrefix: "_INBOX_worker",
    stream: "EVENTS",
    subject: "events.{resource}",
    createStream: false,
  } as const;

  await t.step("publishes", async () => {
    await using run = await openRun(() => connect(config), config);
    await run.apply({ resource: "eu", rows: idBatch(100) });
    assert.equal((await run.commit()).rows, 100);
  });

  await using nc = await connect(config);

  await t.step("finds nothing wrong with the stream", async () => {
    const errors = (await inspect(nc, config, { resource: "eu" })).filter(({ severity }) => severity === "error");
    assert.deepEqual(errors, []);
  });

  for (
    const subject of [
      "$JS.API.INFO",
      "$JS.API.STREAM.NAMES",
      "$JS.API.STREAM.LIST",
      "$JS.API.STREAM.INFO.OTHER",
      "$JS.API.STREAM.CREATE.EVENTS",
      "$JS.API.STREAM.UPDATE.EVENTS",
      "$JS.API.STREAM.PURGE.EVENTS",
      "$JS.API.STREAM.DELETE.EVENTS",
      "$JS.API.STREAM.MSG.GET.EVENTS",
      "$JS.API.STREAM.MSG.DELETE.EVENTS",
      "$JS.API.STREAM.SNAPSHOT.EVENTS",
      "$JS.API.DIRECT.GET.EVENTS",
      "$JS.API.DIRECT.GET.EVENTS.events.eu",
      "$JS.API.CONSUMER.CREATE.EVENTS",
      "$JS.API.CONSUMER.DURABLE.CREATE.EVENTS.d",
      "$JS.API.CONSUMER.MSG.NEXT.EVENTS.d",
      "other.eu",
      "events",
      "_INBOX.someone",
    ]
  ) {
    await t.step(`cannot publish to ${subject}`, async () => {
      const said = await refusal(nc, subject, () => nc.publish(subject, "{}", { reply: "_INBOX_worker.x" }));
      assert.match(said, /^Permissions Violation for Publish to "/);
    });
  }

  for (const subject of ["events.>", "events.eu", ">", "_INBOX.>", "$JS.EVENT.>"]) {
    await t.step(`cannot subscribe to ${subject}`, async () => {
      const said = await refusal(nc, subject, () => void nc.subscribe(subject, { callback: () => {} }));
      assert.match(said, /^Permissions Violation for Subscription to "/);
    });
  }

  await t.step("cannot purge the stream by a message with a rollup header", async () => {
    const rollup = headers();
    rollup.set("Nats-Rollup", "all");
    const answer = await nc.request("events.eu", "{}", { headers: rollup, timeout: 5000 });
    assert.match(answer.string(), /"error":.*rollup not permitted/);
  });

  await t.step("cannot connect over TCP, with another password, or without a user", async () => {
    for (
      const other of [{ url: server.url }, { password: "guess" }, { authMode: "none" } as const]
    ) {
      const { username: _, password: __, ...anonymous } = config;
      const login = "authMode" in other ? { ...anonymous, ...other } : { ...config, ...other };
      const error = await connect(login).catch((error) => error);
      assert.ok(isJetrowError(error) && error.code === "connection.auth", String(error));
    }
  });

  await t.step("has changed nothing but the stream's rows", async () => {
    assert.equal((await infoOf(owner, "EVENTS")).state.messages, 100);
    assert.equal((await infoOf(owner, "OTHER")).state.messages, 0);
  });

  for (const [origin, status] of [["http://localhost:8000", 101], ["http://elsewhere.example", 403]] as const) {
    await t.step(`a page of ${origin} is answered with ${status}`, async () => {
      assert.equal(await handshake(server.wsUrl, origin), status);
    });
  }
});

/** The status of a WebSocket handshake from a page of this origin. */
async function handshake(url: string, origin: string): Promise<number> {
  const { hostname, port } = new URL(url);
  using socket = await Deno.connect({ hostname, port: Number(port) });
  const request = [
    "GET / HTTP/1.1",
    `Host: ${hostname}:${port}`,
    "Upgrade: websocket",
    "Connection: Upgrade",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==",
    "Sec-WebSocket-Protocol: nats",
    `Origin: ${origin}`,
  ];
  await socket.write(new TextEncoder().encode(`${request.join("\r\n")}\r\n\r\n`));
  const { value } = await socket.readable.getReader().read();
  return Number(new TextDecoder().decode(value).split(" ")[1]);
}
