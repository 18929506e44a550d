import assert from "node:assert/strict";
import { jetstream } from "@nats-io/jetstream";
import { type ConnectionOptions, jwtAuthenticator } from "@nats-io/nats-core";
// The original dials so that an error of a refused socket can end the process.
import { connectNode as connect } from "../../src/runtime/tcp_node.ts";
import {
  type JwtUser,
  makeCertificates,
  makeOperator,
  managerOf,
  opensslMissing,
  passwordUsers,
  publisherPermissions,
  startNatsServer,
} from "../_support/nats/mod.ts";

const by = ({ jwt, nkeySeed }: JwtUser) => ({
  authenticator: jwtAuthenticator(jwt, new TextEncoder().encode(nkeySeed)),
});

async function refused(servers: string, options: ConnectionOptions): Promise<void> {
  await assert.rejects(connect({ servers, ...options, reconnect: false }), /Authorization Violation/);
}

Deno.test("passwordUsers() lets a user with the right password do what its permissions allow", async () => {
  const permissions = publisherPermissions({ stream: "S", subjects: ["s.*"], create: true, inboxPrefix: "_IN.me" });
  await using server = await startNatsServer({
    config: passwordUsers({ username: "all", password: "a-b" }, { username: "few", password: '"c"', permissions }),
  });
  await using all = await connect({ servers: server.url, user: "all", pass: "a-b" });
  await (await managerOf(all)).streams.add({ name: "S", subjects: ["s.*"] });
  await using few = await connect({ servers: server.url, user: "few", pass: '"c"', inboxPrefix: "_IN.me" });
  await jetstream(few).publish("s.a", "1");
  await few.request("$JS.API.STREAM.INFO.S");
  await assert.rejects(few.request("$JS.API.STREAM.DELETE.S"), /Permissions Violation/);
  await refused(server.url, { user: "all", pass: "x" });
  await refused(server.url, {});
});

Deno.test("makeOperator() creates users with permissions and limits", async () => {
  const operator = await makeOperator({ streams: 1 });
  await using server = await startNatsServer({ config: operator.config });
  await using nc = await connect({ servers: server.url, ...by(await operator.user()) });
  const manager = await managerOf(nc);
  await manager.streams.add({ name: "S", subjects: ["s"] });
  await assert.rejects(manager.streams.add({ name: "T", subjects: ["t"] }), /maximum number of streams/);
  const permissions = publisherPermissions({ stream: "S", subjects: ["s"] });
  await using few = await connect({ servers: server.url, ...by(await operator.user({ permissions })) });
  await jetstream(few).publish("s", "1");
  await assert.rejects(few.request("$JS.API.STREAM.DELETE.S"), /Permissions Violation/);
  await refused(server.url, by(await (await makeOperator()).user()));
  await refused(server.url, by({ ...await operator.user(), nkeySeed: (await operator.user()).nkeySeed }));
});

Deno.test({
  name: "makeCertificates() creates an authority, a server and a client that trust each other and nothing else",
  ignore: opensslMissing("certificates"),
  fn: async () => {
    const { ca, server: { cert, key }, client } = await makeCertificates();
    const other = await makeCertificates();
    await using server = await startNatsServer({ tls: { cert, key, ca, verify: true }, websocket: true });
    assert.match(server.url, /^tls:/);
    const servers = server.url.replace("tls://", "");
    await using nc = await connect({ servers, tls: { ca, ...client } });
    await nc.flush();
    await assert.rejects(connect({ servers, tls: { ca: other.ca, ...client }, reconnect: false }));
    await assert.rejects(connect({ servers, tls: { ca, ...other.client }, reconnect: false }));
    await assert.rejects(connect({ servers, tls: { ca }, reconnect: false }));
  },
});
