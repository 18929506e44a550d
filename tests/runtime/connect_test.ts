import assert from "node:assert/strict";
import { ConfigError } from "../../src/errors/mod.ts";
import { connectBy } from "../../src/runtime/connect.ts";
import { makeOperator, nkeyUser, passwordUsers, startNatsServer, tokenAuth } from "../_support/nats/mod.ts";
import { connect, deadPort, failureOf, roundTrip, tcpServer } from "./_dialling.ts";

const PASSWORD = 'pw-Kq7"x\\zz';
const TOKEN = "tok-93jd0alq";
const WRONG = "wrong-77s1cr3t";

Deno.test("connect() logs in by user and password, and reports when the server refuses them", async () => {
  await using server = await startNatsServer({
    jetstream: false,
    config: passwordUsers({ username: "loader", password: PASSWORD }),
  });
  const config = { url: server.url, authMode: "user_password", username: "loader" } as const;
  await roundTrip({ ...config, password: PASSWORD }, [PASSWORD]);
  const error = await failureOf({ ...config, password: WRONG }, "connection.auth", [WRONG]);
  assert.match(error.message, /authorization violation/);
  assert.ok(error.message.includes(server.url));
  await failureOf({ url: server.url }, "connection.auth");
});

Deno.test("connect() logs in by a token, and reports when the server refuses it", async () => {
  await using server = await startNatsServer({ jetstream: false, config: tokenAuth(TOKEN) });
  const config = { url: server.url, authMode: "token" } as const;
  await roundTrip({ ...config, token: TOKEN }, [TOKEN]);
  await failureOf({ ...config, token: WRONG }, "connection.auth", [WRONG]);
});

Deno.test("connect() logs in by an nkey's seed alone, and reports when the server refuses it", async () => {
  const [user, other] = [nkeyUser(), nkeyUser()];
  await using server = await startNatsServer({ jetstream: false, websocket: true, config: user.config });
  const config = { authMode: "nkey", nkeySeed: user.nkeySeed } as const;
  await roundTrip({ ...config, url: server.url }, [user.nkeySeed]);
  await roundTrip({ ...config, url: server.wsUrl }, [user.nkeySeed]);
  const wrong = { ...config, url: server.url, nkeySeed: other.nkeySeed };
  await failureOf(wrong, "connection.auth", [other.nkeySeed]);
});

Deno.test("connect() logs in by JWT and seed", async (t) => {
  const operator = await makeOperator();
  const [user, other, expired] = [await operator.user(), await operator.user(), await operator.user({ expiresIn: -5 })];
  await using server = await startNatsServer({ jetstream: false, config: operator.config });
  const config = { url: server.url, authMode: "jwt" } as const;
  const { jwt, nkeySeed } = user;

  await t.step("it signs the server's nonce", () => roundTrip({ ...config, jwt, nkeySeed }, [jwt, nkeySeed]) as never);

  await t.step("another user's seed is refused by the server", async () => {
    await failureOf({ ...config, jwt, nkeySeed: other.nkeySeed }, "connection.auth", [jwt, other.nkeySeed]);
  });

  await t.step("an expired JWT is refused by the server", async () => {
    const { jwt, nkeySeed } = expired;
    await failureOf({ ...config, jwt, nkeySeed }, "connection.auth", [jwt, nkeySeed]);
  });

  await t.step("a JWT with a missing or malformed seed is refused before anything is dialled", async () => {
    const nowhere = { url: `nats://127.0.0.1:${await deadPort()}`, authMode: "jwt", jwt } as const;
    await assert.rejects(connect(nowhere), (error) => error instanceof ConfigError && error.field === "nkeySeed");
    const flipped = nkeySeed.slice(0, 20) + (nkeySeed[20] === "A" ? "B" : "A") + nkeySeed.slice(21);
    for (const seed of [WRONG, user.publicKey, flipped]) {
      await assert.rejects(connect({ ...nowhere, nkeySeed: seed }), (error) => {
        assert.ok(error instanceof ConfigError && error.field === "nkeySeed", String(error));
        assert.ok(!error.message.includes(seed));
        return true;
      });
    }
  });
});

Deno.test("connect() refuses credentials in the URL without showing them", async () => {
  for (const url of [`nats://loader:${WRONG}@127.0.0.1:4222`, `ws://${WRONG}@127.0.0.1:8080`]) {
    await assert.rejects(connect({ url }), (error) => {
      assert.ok(error instanceof ConfigError && error.field === "url");
      assert.ok(!error.message.includes(WRONG) && !error.stack?.includes(WRONG));
      return true;
    });
  }
});

Deno.test("connect() fails with every server's name and reason if no server can be reached", async () => {
  const [one, two] = [await deadPort(), await deadPort()];
  const url = [`nats://127.0.0.1:${one}`, `nats://127.0.0.1:${two}`];
  const error = await failureOf({ url, authMode: "token", token: TOKEN }, "connection.refused", [TOKEN]);
  assert.equal(
    error.message,
    `Cannot connect to any of 2 servers: ${url[0]}: connection refused; ${url[1]}: connection refused`,
  );
});

Deno.test("connect() dials several servers in order, the next when one is down", async () => {
  await using first = await startNatsServer({ jetstream: false });
  await using second = await startNatsServer({ jetstream: false });
  const down = `nats://127.0.0.1:${await deadPort()}`;
  assert.equal(await roundTrip({ url: [down, second.url, first.url] }), second.url.slice("nats://".length));
  for (let i = 0; i < 5; i++) {
    assert.equal(await roundTrip({ url: `${first.url}, ${second.url}` }), first.url.slice("nats://".length));
  }
});

Deno.test("connect() to several servers fails with the code of the most specific reason", async () => {
  await using server = await startNatsServer({ jetstream: false, config: tokenAuth(TOKEN) });
  const down = `nats://127.0.0.1:${await deadPort()}`;
  const config = { authMode: "token", token: WRONG } as const;
  const error = await failureOf({ ...config, url: [server.url, down] }, "connection.auth", [WRONG]);
  assert.match(error.message, /authorization violation; .*connection refused/);
});

Deno.test("connect() reports a host that does not exist", async () => {
  const error = await failureOf({ url: "nats://nobody.invalid:4222" }, "connection.refused");
  assert.match(error.message, /nats:\/\/nobody\.invalid:4222: (no such host|the host's name could not be looked up)/);
});

Deno.test("connect() times out when the server accepts and sends nothing", async () => {
  await using silent = await tcpServer(() => {});
  for (const scheme of ["nats", "tls", "ws"]) {
    const url = `${scheme}://127.0.0.1:${silent.port}`;
    const error = await failureOf({ url, connectTimeout: "200ms" }, "connection.timeout");
    assert.equal(error.message, `Cannot connect to ${url}: no answer within 200 ms`);
  }
});

Deno.test("connect() times out when the server never answers the login", async () => {
  await using half = await tcpServer((socket) =>
    socket.write('INFO {"server_id":"x","version":"2.11.0","max_payload":1024}\r\n')
  );
  await failureOf({ url: `nats://127.0.0.1:${half.port}`, connectTimeout: 200 }, "connection.timeout");
});

Deno.test("connect() reports a server that does not speak NATS", async () => {
  await using http = await tcpServer((socket) => socket.write("HTTP/1.1 400 Bad Request\r\n\r\n"));
  assert.match(
    (await failureOf({ url: `nats://127.0.0.1:${http.port}` }, "connection.refused")).message,
    /it is not a NATS server/,
  );
  await using closer = await tcpServer((socket) => socket.end());
  assert.match(
    (await failureOf({ url: `nats://127.0.0.1:${closer.port}` }, "connection.refused")).message,
    /closed the connection without an answer/,
  );
});

Deno.test("connect() withholds an answer that repeats a credential, and its cause", async () => {
  await using parrot = await tcpServer((socket) => {
    socket.write('INFO {"server_id":"x","version":"2.11.0","max_payload":1024}\r\n');
    socket.once("data", () => socket.end(`-ERR 'who are you, ${TOKEN}?'\r\n`));
  });
  const config = { url: `nats://127.0.0.1:${parrot.port}`, authMode: "token", token: TOKEN } as const;
  const error = await failureOf(config, "connection.refused", [TOKEN]);
  assert.match(error.message, /withheld/);
  assert.equal(error.cause, undefined);
});

Deno.test("connect() reports the server's own reason, on one line and without control characters", async () => {
  await using full = await tcpServer((socket) => {
    socket.write('INFO {"server_id":"x","version":"2.11.0","max_payload":1024}\r\n');
    socket.once("data", () => socket.end("-ERR 'Maximum \u001b[31mConnections Exceeded'\r\n"));
  });
  const error = await failureOf({ url: `nats://127.0.0.1:${full.port}` }, "connection.refused");
  assert.ok(error.message.endsWith(": Maximum [31mConnections Exceeded"), error.message);
});

Deno.test("connect() does not reconnect after a loss unless reconnect is set", async () => {
  await using server = await startNatsServer({ jetstream: false });
  const once = await connect({ url: server.url, name: "once", inboxPrefix: "_INBOX.once" });
  const again = await connect({ url: server.url, reconnect: true });
  const reconnected = (async () => {
    for await (const { type } of again.status()) if (type === "reconnect") return;
  })();
  await server.restart();
  await once.closed();
  assert.ok(once.isClosed());
  await reconnected;
  assert.ok(!again.isClosed());
  await again.close();
});

Deno.test("concurrent connect() calls over TCP and WebSocket each use their own transport", async () => {
  await using server = await startNatsServer({ jetstream: false, websocket: true });
  const urls = [server.url, server.wsUrl, server.url, server.wsUrl, server.wsUrl, server.url];
  const connections = await Promise.all(urls.map((url) => connect({ url })));
  assert.equal(connections.map((nc) => nc.info?.client_id).filter((id, i, all) => all.indexOf(id) === i).length, 6);
  for (const nc of connections) await nc.close();
});

Deno.test("connect() of the web entry point accepts only ws:// and wss://", async () => {
  await using server = await startNatsServer({ jetstream: false, websocket: true, config: tokenAuth(TOKEN) });
  const nc = await connectBy({ url: server.wsUrl, authMode: "token", token: TOKEN });
  await nc.flush();
  await nc.close();
  for (const url of [server.url, "tls://127.0.0.1:4222"]) {
    await assert.rejects(connectBy({ url, authMode: "token", token: TOKEN }), (error) => {
      assert.ok(error instanceof ConfigError && error.code === "config.conflict" && error.field === "url");
      assert.ok(error.message.includes(url));
      return true;
    });
  }
  for (const url of ["http://localhost", "localhost"]) {
    await assert.rejects(connectBy({ url }), {
      code: "config.syntax",
      message: `url must begin with ws:// or wss://: received "${url}"`,
    });
  }
});
