import { makeOperator, passwordUsers, startNatsServer } from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";
import { type ConnectionOf, playOnServer, type ServerFault } from "./_server.ts";

Deno.test("publish() to a server that is killed knows every row's fate, and a replay after its restart makes the stream whole", async () => {
  await using server = await startNatsServer();
  await playOnServer({
    server,
    act: () => server.kill(),
    mend: () => server.restart(),
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

Deno.test("publish() to a server that is stopped in order ends at once", async () => {
  await using server = await startNatsServer();
  await playOnServer({
    server,
    act: () => server.stop(),
    mend: () => server.restart(),
    // JetStream ends before its clients are sent away.
    expected: { code: ["publish.disconnected", "publish.no_responders", "publish.timeout"] },
  });
});

Deno.test("publish() to a server in lame duck mode fails, and knows every row's fate", async () => {
  await using server = await startNatsServer({ config: `lame_duck_duration: "30s"\nlame_duck_grace_period: "1s"` });
  await playOnServer({
    server,
    act: () => server.lameDuck(),
    mend: async () => {
      await server.kill();
      await server.restart();
    },
    expected: { code: ["publish.no_responders", "publish.disconnected", "publish.timeout"] },
  });
});

Deno.test("publish() over a connection that is cut with a full window fails at once", async () => {
  await using server = await startNatsServer();
  await playOnServer({
    server,
    options: { publishTimeout: "1m", maxInFlight: 512 },
    rows: 5000,
    act: ({ proxy }) => proxy.cut(),
    expected: { code: "publish.disconnected", outcome: "uncertain" },
  });
});

Deno.test("publish() over a connection that is closed in order fails at once", async () => {
  await using server = await startNatsServer();
  await playOnServer({
    server,
    options: { publishTimeout: "1m" },
    act: ({ proxy }) => proxy.close(),
    expected: { code: "publish.disconnected", outcome: "uncertain" },
  });
});

/** What leaves rows without an answer. */
const SILENCES: Readonly<Record<string, Pick<ServerFault, "act" | "mend">>> = {
  "from a server that answers nothing any more times out": {
    act: ({ server }) => server.pause(),
    mend: ({ server }) => server.resume(),
  },
  "since acknowledgments are lost leaves stored rows unknown, and a replay finds them duplicates": {
    act: ({ proxy }) => proxy.drop("down"),
  },
  "since rows are lost on their way leaves them unknown": {
    act: ({ proxy }) => proxy.drop("up"),
  },
  "in time times out, and late acknowledgments have no effect": {
    act: ({ proxy }) => proxy.stall("down"),
    mend: ({ proxy }) => proxy.resume(),
  },
};

// Side by side: each waits for the publish timeout.
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

Deno.test("publish() that reads no acknowledgments is sent away by the server, and knows every row's fate", async () => {
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
    mend: async ({ proxy }) => {
      await until("the server's complaint", () => server.log().includes("Slow Consumer"));
      // Whoever sends the rows again may read as slowly as this machine is.
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
    mend: () => server.reload({ config: users([">"]) }),
    expected: { code: "publish.permission", outcome: "uncertain", counts: { unknown: 20, unsent: 80 } },
  });
});

Deno.test("publish() whose permission is revoked meanwhile fails, and knows every row's fate", async () => {
  await using server = await startNatsServer({ config: users(["$JS.API.STREAM.INFO.ORDERS", "orders.>"]) });
  await playOnServer({
    server,
    admin: () => ({ ...admin, url: server.url }),
    options: { ...sink, publishTimeout: 5000 },
    act: () => server.reload({ config: users(["$JS.API.STREAM.INFO.ORDERS"]) }),
    mend: () => server.reload({ config: users(["$JS.API.STREAM.INFO.ORDERS", "orders.>"]) }),
    expected: { code: ["publish.permission", "publish.disconnected"] },
  });
});

Deno.test("publish() of a user that expires meanwhile ends as disconnected", async () => {
  const operator = await makeOperator();
  await using server = await startNatsServer({ config: operator.config });
  const [staying, leaving] = [await operator.user(), await operator.user({ expiresIn: 6 })];
  await playOnServer({
    server,
    admin: () => ({ url: server.url, authMode: "jwt", jwt: staying.jwt, nkeySeed: staying.nkeySeed }),
    options: { authMode: "jwt", jwt: leaving.jwt, nkeySeed: leaving.nkeySeed, publishTimeout: "1m", maxInFlight: 4 },
    rows: 40_000, // more than go in the time: four in 4 ms
    act: () => {},
    expected: { code: "publish.disconnected", outcome: "uncertain" },
    replay: false,
  });
});

Deno.test("publish() that reaches the account's limit fails by the server's code", async () => {
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
