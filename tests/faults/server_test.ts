import { makeOperator, passwordUsers, startNatsServer } from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";
import { type ConnectionOf, playOnServer, type ServerFault } from "./_server.ts";

Deno.test("publish() to a killed server reports every row's outcome, and a replay after its restart stores every row", async () => {
  await using server = await startNatsServer();
  await playOnServer({
    server,
    act: () => server.kill(),
    repair: () => server.restart(),
    expected: { code: "publish.disconnected", outcome: "uncertain" },
  });
});

Deno.test("publish() to a server that restarts between rows 500 and 501 never succeeds", async () => {
  await using server = await startNatsServer();
  await playOnServer({
    server,
    rows: 1000,
    at: 500,
    act: () => server.restart(),
    expected: { code: ["publish.disconnected", "publish.no_responders"] },
  });
});

Deno.test("publish() to a server that is stopped with SIGTERM fails at once", async () => {
  await using server = await startNatsServer();
  await playOnServer({
    server,
    act: () => server.stop(),
    repair: () => server.restart(),
    // JetStream ends before the clients are disconnected.
    expected: { code: ["publish.disconnected", "publish.no_responders", "publish.timeout"] },
  });
});

Deno.test("publish() to a server in lame duck mode fails, and reports every row's outcome", async () => {
  await using server = await startNatsServer({ config: `lame_duck_duration: "30s"\nlame_duck_grace_period: "1s"` });
  await playOnServer({
    server,
    act: () => server.lameDuck(),
    repair: async () => {
      await server.kill();
      await server.restart();
    },
    expected: { code: ["publish.no_responders", "publish.disconnected", "publish.timeout"] },
  });
});

Deno.test("publish() over a connection that is reset with a full window fails at once", async () => {
  await using server = await startNatsServer();
  await playOnServer({
    server,
    options: { publishTimeout: "1m", maxInFlight: 512 },
    rows: 5000,
    act: ({ proxy }) => proxy.cut(),
    expected: { code: "publish.disconnected", outcome: "uncertain" },
  });
});

Deno.test("publish() over a connection that is closed without a reset fails at once", async () => {
  await using server = await startNatsServer();
  await playOnServer({
    server,
    options: { publishTimeout: "1m" },
    act: ({ proxy }) => proxy.close(),
    expected: { code: "publish.disconnected", outcome: "uncertain" },
  });
});

/** Failures that leave rows without an answer. */
const SILENCES: Readonly<Record<string, Pick<ServerFault, "act" | "repair">>> = {
  "from a server that stops answering times out": {
    act: ({ server }) => server.pause(),
    repair: ({ server }) => server.resume(),
  },
  "because acknowledgments are lost leaves stored rows unknown, and a replay reports duplicates": {
    act: ({ proxy }) => proxy.drop("down"),
  },
  "because rows are lost leaves them unknown": {
    act: ({ proxy }) => proxy.drop("up"),
  },
  "in time times out, and late acknowledgments have no effect": {
    act: ({ proxy }) => proxy.stall("down"),
    repair: ({ proxy }) => proxy.resume(),
  },
};

// Concurrently: each waits for the publish timeout.
Deno.test("publish() without an answer", async (t) => {
  const steps = Object.entries(SILENCES).map(([name, fault]) =>
    t.step({
      name,
      sanitizeOps: false,
      sanitizeResources: false,
      sanitizeExit: false,
      fn: async () => {
        await using server = await startNatsServer();
        const expected = { code: "publish.timeout", outcome: "uncertain" } as const;
        await playOnServer({ ...fault, server, options: { publishTimeout: 5000 }, expected });
      },
    })
  );
  await Promise.all(steps);
});

Deno.test("publish() that reads no acknowledgments is disconnected by the server, and reports every row's outcome", async () => {
  await using server = await startNatsServer({ config: `write_deadline: "500ms"` });
  const stream = "A".repeat(240);
  await playOnServer({
    server,
    rows: 45_000,
    at: 0,
    options: { maxInFlight: 65_536, publishTimeout: 5000, stream, expectedStream: false },
    stream: { name: stream },
    act: async ({ proxy }) => {
      proxy.stall("down");
      await until("rows at the server", () => proxy.bytes.up > 5_000_000);
    },
    repair: async ({ proxy }) => {
      await until("the server's complaint", () => server.log().includes("Slow Consumer"));
      // The replay may read as slowly as this machine is.
      await server.reload({ config: `write_deadline: "60s"` });
      proxy.resume();
    },
    expected: { code: ["publish.disconnected", "publish.timeout"], outcome: "uncertain" },
  });
});

const admin: ConnectionOf = { url: "", authMode: "user_password", username: "admin", password: "admin-secret" };
const sink = { authMode: "user_password", username: "sink", password: "sink-secret" } as const;
const users = (publish: readonly string[]) =>
  passwordUsers({ username: "admin", password: "admin-secret" }, {
    username: "sink",
    password: "sink-secret",
    permissions: { publish, subscribe: ["_INBOX.>"] },
  });

Deno.test("publish() to a subject that the user may not publish to fails with publish.permission", async () => {
  await using server = await startNatsServer({ config: users(["$JS.API.STREAM.INFO.ORDERS"]) });
  await playOnServer({
    server,
    admin: () => ({ ...admin, url: server.url }),
    options: { ...sink, publishTimeout: 5000 },
    rows: 100,
    at: 0,
    act: () => {},
    repair: () => server.reload({ config: users([">"]) }),
    expected: { code: "publish.permission", outcome: "uncertain", counts: { unknown: 20, unsent: 80 } },
  });
});

Deno.test("publish() whose permission is revoked meanwhile fails, and reports every row's outcome", async () => {
  await using server = await startNatsServer({ config: users(["$JS.API.STREAM.INFO.ORDERS", "orders.>"]) });
  await playOnServer({
    server,
    admin: () => ({ ...admin, url: server.url }),
    options: { ...sink, publishTimeout: 5000 },
    act: () => server.reload({ config: users(["$JS.API.STREAM.INFO.ORDERS"]) }),
    repair: () => server.reload({ config: users(["$JS.API.STREAM.INFO.ORDERS", "orders.>"]) }),
    expected: { code: ["publish.permission", "publish.disconnected"] },
  });
});

Deno.test("publish() of a user that expires meanwhile fails as disconnected", async () => {
  const operator = await makeOperator();
  await using server = await startNatsServer({ config: operator.config });
  const [staying, leaving] = [await operator.user(), await operator.user({ expiresIn: 6 })];
  await playOnServer({
    server,
    admin: () => ({ url: server.url, authMode: "jwt", jwt: staying.jwt, nkeySeed: staying.nkeySeed }),
    options: { authMode: "jwt", jwt: leaving.jwt, nkeySeed: leaving.nkeySeed, publishTimeout: "1m", maxInFlight: 4 },
    rows: 40_000, // more than can be sent in the time: four in 4 ms
    act: () => {},
    expected: { code: "publish.disconnected", outcome: "uncertain" },
    replay: false,
  });
});

Deno.test("publish() that reaches the account's limit fails with the server's code", async () => {
  const operator = await makeOperator({ disk_storage: 200_000 });
  await using server = await startNatsServer({ config: operator.config });
  const user = await operator.user();
  const jwt = { authMode: "jwt", jwt: user.jwt, nkeySeed: user.nkeySeed } as const;
  await playOnServer({
    server,
    admin: () => ({ url: server.url, ...jwt }),
    options: { ...jwt },
    at: 0,
    act: () => {},
    expected: { code: "publish.rejected", serverCode: 10002, outcome: "partial" },
    replay: false,
  });
});
