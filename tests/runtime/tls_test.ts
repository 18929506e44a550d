import assert from "node:assert/strict";
import {
  makeCertificates,
  natsServerVersion,
  olderThan,
  opensslMissing,
  startNatsServer,
  tokenAuth,
} from "../_support/nats/mod.ts";
import { failureOf, roundTrip } from "./_dialling.ts";

const ignore = opensslMissing("connect() over TLS");
const TOKEN = "tok-5l3x0fqa";

Deno.test({
  name: "connect() over TLS trusts the given authorities only",
  ignore,
  async fn(t) {
    const [mine, other] = [await makeCertificates(), await makeCertificates()];
    await using server = await startNatsServer({ jetstream: false, tls: mine.server, config: tokenAuth(TOKEN) });
    const { host } = new URL(server.url.replace(/^\w+/, "http"));
    const auth = { authMode: "token", token: TOKEN } as const;
    const port = host.split(":")[1];

    for (const url of [`tls://${host}`, `nats://${host}`, `tls://localhost:${port}`]) {
      await t.step(`${url.replace(port!, "...")} with the authority's certificate`, async () => {
        await roundTrip({ ...auth, url, tls: { ca: mine.ca } }, [TOKEN]);
      });
      await t.step(`${url.replace(port!, "...")} with another authority's`, async () => {
        await failureOf({ ...auth, url, tls: { ca: other.ca } }, "connection.tls", [TOKEN]);
      });
      await t.step(`${url.replace(port!, "...")} with the runtime's own authorities`, async () => {
        await failureOf({ ...auth, url }, "connection.tls", [TOKEN]);
      });
    }
    await t.step("with a malformed certificate", async () => {
      await failureOf({ ...auth, url: server.url, tls: { ca: "nothing" } }, "connection.tls", [TOKEN]);
    });
    await t.step("a wrong token over TLS is still reported as a login error", async () => {
      const config = { url: server.url, authMode: "token", token: "another-token", tls: { ca: mine.ca } } as const;
      await failureOf(config, "connection.auth", ["another-token"]);
    });
  },
});

Deno.test({
  name: "connect() refuses a certificate of another host",
  ignore,
  async fn() {
    const certificates = await makeCertificates({ hosts: ["elsewhere.test"] });
    await using server = await startNatsServer({ jetstream: false, tls: certificates.server });
    await failureOf({ url: server.url, tls: { ca: certificates.ca } }, "connection.tls");
  },
});

Deno.test("connect() by tls://, or with TLS settings, never falls back to plaintext", async () => {
  await using server = await startNatsServer({ jetstream: false, config: tokenAuth(TOKEN) });
  const auth = { authMode: "token", token: TOKEN } as const;
  const secure = server.url.replace("nats:", "tls:");
  for (const config of [{ url: secure }, { url: server.url, tls: {} }, { url: [secure, server.url] }]) {
    const error = await failureOf({ ...auth, ...config }, "connection.tls", [TOKEN]);
    assert.match(error.message, /TLS is required, and the server does not offer it/);
  }
  const connections = await fetch(`${server.monitorUrl}/varz`).then((answer) => answer.json());
  assert.equal(connections.in_bytes, 0, "the token never left");
});

Deno.test({
  name: "connect() presents its own certificate if the server requires one",
  ignore,
  async fn(t) {
    const { ca, server: { cert, key }, client } = await makeCertificates();
    await using server = await startNatsServer({ jetstream: false, tls: { cert, key, ca, verify: true } });
    const url = server.url;
    await t.step("with certificate and key", () => roundTrip({ url, tls: { ca, ...client } }, [client.key]) as never);
    await t.step("without", async () => {
      // Several times: the alert may arrive in one read with the end of the handshake.
      for (let i = 0; i < 5; i++) await failureOf({ url, tls: { ca } }, "connection.tls");
    });
    await t.step("with a key that is not the certificate's", async () => {
      await failureOf({ url, tls: { ca, cert: client.cert, key } }, "connection.tls", [key]);
    });
    await t.step("with a malformed key", async () => {
      const broken = "-----BEGIN PRIVATE KEY-----\nbm90IGEga2V5IGF0IGFsbA==\n-----END PRIVATE KEY-----\n";
      await failureOf({ url, tls: { ca, cert: client.cert, key: broken } }, "connection.tls", [broken]);
    });
  },
});

Deno.test({
  name: "connect() starts TLS before the server's first line if handshakeFirst is set",
  ignore: ignore || olderThan("2.10.4", await natsServerVersion(), "TLS from the first byte"),
  async fn(t) {
    const { ca, server: certificate } = await makeCertificates();
    await using first = await startNatsServer({ jetstream: false, tls: { ...certificate, handshakeFirst: true } });
    await using later = await startNatsServer({ jetstream: false, tls: certificate });
    await using plain = await startNatsServer({ jetstream: false });
    const tls = { ca, handshakeFirst: true };
    await t.step("the server does too", () => roundTrip({ url: first.url, tls }) as never);
    await t.step("the server does, the client does not", async () => {
      const error = await failureOf({ url: first.url, tls: { ca } }, "connection.refused");
      assert.match(error.message, /tls\.handshakeFirst/);
    });
    await t.step("the server does not", () => failureOf({ url: later.url, tls }, "connection.tls") as never);
    await t.step("the server has no TLS", () => failureOf({ url: plain.url, tls }, "connection.tls") as never);
  },
});

Deno.test({
  name: "connect() by wss:// trusts the runtime's own authorities, and never falls back to ws://",
  ignore,
  async fn() {
    const { server: certificate } = await makeCertificates();
    await using server = await startNatsServer({ jetstream: false, tls: certificate, websocket: true });
    await failureOf({ url: server.wsUrl }, "connection.tls");
    await using plain = await startNatsServer({ jetstream: false, websocket: true });
    await failureOf({ url: plain.wsUrl.replace("ws:", "wss:") }, "connection.tls");
  },
});

for (const handshakeFirst of [false, true]) {
  Deno.test({
    name: `connect() to an IP address requires that address in the certificate${
      handshakeFirst ? ", handshake first" : ""
    }`,
    ignore: ignore ||
      (handshakeFirst && olderThan("2.10.4", await natsServerVersion(), "TLS from the first byte")),
    async fn() {
      for (const [host, other] of [["localhost", "127.0.0.1"], ["127.0.0.1", "localhost"]] as const) {
        const { ca, server: certificate } = await makeCertificates({ hosts: [host] });
        await using server = await startNatsServer({ jetstream: false, tls: { ...certificate, handshakeFirst } });
        const port = new URL(server.url.replace(/^\w+/, "http")).port;
        const tls = { ca, handshakeFirst };
        await roundTrip({ url: `tls://${host}:${port}`, tls });
        await failureOf({ url: `tls://${other}:${port}`, tls }, "connection.tls");
      }
    },
  });
}
