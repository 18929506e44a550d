import assert from "node:assert/strict";
import { nkeys } from "@nats-io/nats-core";
import fc from "fast-check";
import { checkConnection } from "../../src/options/connection.ts";
import type { ConfigErrorCode } from "../../src/errors/mod.ts";
import { seedFault } from "../../src/options/secrets.ts";
import { shownUrl } from "../../src/options/servers.ts";
import type { SinkConfig } from "../../src/types/mod.ts";
import { keepsSecret, refuses } from "../_support/config_errors.ts";

const URL = "nats://localhost:4222";

const SEED = new TextDecoder().decode(nkeys.createUser().getSeed());

const check = (config: Record<string, unknown>) => checkConnection({ url: URL, ...config } as unknown as SinkConfig);

type Case = readonly [config: Record<string, unknown>, code: ConfigErrorCode, field: string, says: string];

const cases: readonly Case[] = [
  // URLs.
  [{ url: undefined }, "config.missing", "url", "is required"],
  [{ url: null }, "config.type", "url", "received null"],
  [{ url: 4222 }, "config.type", "url", "received 4222"],
  [{ url: {} }, "config.type", "url", "received an object"],
  [{ url: new globalThis.URL(URL) }, "config.type", "url", "received a URL"],
  [{ url: [] }, "config.missing", "url", "must name at least one server"],
  [{ url: [5] }, "config.type", "url", "received 5"],
  [{ url: [URL, undefined] }, "config.type", "url", "received undefined"],
  ...[
    "",
    " ",
    "localhost",
    "localhost:4222",
    "http://a",
    "nats:a",
    "nats:/a",
    "nats//a",
    "amqp://a",
    "natss://a",
    "://a",
  ]
    .map((
      url,
    ): Case => [
      { url },
      "config.syntax",
      "url",
      `must begin with nats://, tls://, ws:// or wss://: received "${url}"`,
    ]),
  [{ url: ` ${URL}` }, "config.syntax", "url", "must begin with"],
  [{ url: `${URL},` }, "config.syntax", "url", 'received ""'],
  [{ url: `${URL},,${URL}` }, "config.syntax", "url", 'received ""'],
  ...[
    "nats://",
    "nats:///",
    "nats://:4222",
    "nats://a b",
    "nats://a\tb:4222",
    "nats://a%20b",
    "nats://a\\b",
    "nats://[::1",
    "nats://[]",
    "nats://[localhost]",
    "nats://[::g]:1",
    "nats://256.1.1.1",
    "nats://*",
    "nats://{host}",
    "ws://",
  ].map((url): Case => [{ url }, "config.syntax", "url", "must have a"]),
  ...["nats://::1", "nats://::1:4222", "nats://a:1:2", "nats://[::1]x", "nats://[::1]4222"]
    .map((url): Case => [{ url }, "config.syntax", "url", "must have a"]),
  ...["", "0", "65536", "99999", "100000", "4222x", "-1", "+1", "4 2", "0x10", "1.5"]
    .map((port): Case => [{ url: `nats://a:${port}` }, "config.syntax", "url", "must have a port from 1 to 65535"]),
  ...["nats://a:4222/path", "tls://a//", "nats://a?x=1", "nats://a/?x", "nats://a#x", "tls://a:1/x"]
    .map((url): Case => [{ url }, "config.syntax", "url", "must end after the port"]),
  ...["ws://a/p#x", "wss://a/a b", "ws://a/p\\x", "ws://a/\n"]
    .map((url): Case => [{ url }, "config.syntax", "url", "must not contain a fragment"]),
  ...[["ws://a", "nats://b"], ["tls://a", "wss://b"]].flatMap((urls): Case[] => [
    [
      { url: urls },
      "config.conflict",
      "url",
      `must not mix ws:// or wss:// with nats:// or tls://: received "${urls}"`,
    ],
    [{ url: urls.join(", ") }, "config.conflict", "url", "must not mix"],
  ]),
  // Auth modes.
  [{ authMode: "password" }, "config.range", "authMode", "must be one of none, user_password, jwt, nkey, token"],
  [{ authMode: null }, "config.type", "authMode", "received null"],
  [{ authMode: true }, "config.type", "authMode", "received true"],
  [{ authMode: "user_password", password: "p" }, "config.missing", "username", "is required by authMode user_password"],
  [{ authMode: "user_password", username: "u" }, "config.missing", "password", "is required by authMode user_password"],
  [{ authMode: "user_password", username: "", password: "p" }, "config.missing", "username", "an empty string"],
  [{ authMode: "user_password", username: "u", password: "" }, "config.missing", "password", "an empty string"],
  [{ authMode: "jwt", nkeySeed: SEED }, "config.missing", "jwt", "is required by authMode jwt"],
  [{ authMode: "jwt", jwt: "j" }, "config.missing", "nkeySeed", "is required by authMode jwt"],
  [{ authMode: "nkey" }, "config.missing", "nkeySeed", "is required by authMode nkey"],
  [{ authMode: "nkey", nkeySeed: "" }, "config.missing", "nkeySeed", "an empty string"],
  [{ authMode: "nkey", nkeySeed: "s3cret" }, "config.syntax", "nkeySeed", "must be a user seed"],
  [
    { authMode: "nkey", jwt: "j", nkeySeed: SEED },
    "config.conflict",
    "jwt",
    "requires authMode jwt: received authMode nkey",
  ],
  [{ authMode: "token" }, "config.missing", "token", "is required by authMode token"],
  [{ authMode: "token", token: "" }, "config.missing", "token", "an empty string"],
  ...["username", "password", "jwt", "nkeySeed", "token"].flatMap((name): Case[] => [
    [{ [name]: "s3cret" }, "config.conflict", name, "received authMode none"],
    [{ [name]: "" }, "config.conflict", name, "received authMode none"],
    [{ [name]: null }, "config.type", name, "must be a string: received null"],
    [{ [name]: 123456 }, "config.type", name, "must be a string: received a number"],
    [{ [name]: { s3cret: 1 } }, "config.type", name, "must be a string: received an object"],
  ]),
  [
    { authMode: "user_password", username: "u", password: "p", token: "t" },
    "config.conflict",
    "token",
    "requires authMode token: received authMode user_password",
  ],
  [{ authMode: "token", token: "t", nkeySeed: SEED }, "config.conflict", "nkeySeed", "requires authMode jwt or nkey"],
  [
    { authMode: "jwt", jwt: "j", nkeySeed: SEED, password: "p" },
    "config.conflict",
    "password",
    "requires authMode user_password",
  ],
  // TLS.
  [{ tls: null }, "config.type", "tls", "received null"],
  [{ tls: true }, "config.type", "tls", "received true"],
  [{ tls: { ca: 5 } }, "config.type", "tls.ca", "must be a string: received a number"],
  [{ tls: { ca: "" } }, "config.missing", "tls.ca", "must not be empty"],
  [{ tls: { cert: "c" } }, "config.missing", "tls.key", "is required by the cert"],
  [{ tls: { key: "k" } }, "config.missing", "tls.cert", "is required by the key"],
  [{ tls: { handshakeFirst: "true" } }, "config.type", "tls.handshakeFirst", 'received "true"'],
  [{ tls: { handshake_first: true } }, "config.unknown", "tls.handshake_first", 'did you mean "tls.handshakeFirst'],
  [
    { tls: { rejectUnauthorized: false } },
    "config.unknown",
    "tls.rejectUnauthorized",
    "use one of ca, cert, key, handshakeFirst",
  ],
  [{ url: "ws://a", tls: {} }, "config.conflict", "tls", "cannot be combined with ws:// or wss://"],
  [
    { url: ["wss://a", "wss://b"], tls: { ca: "c" } },
    "config.conflict",
    "tls",
    "cannot be combined with ws:// or wss://",
  ],
  // Other options.
  [{ inboxPrefix: "_INBOX." }, "config.syntax", "inboxPrefix", 'received "_INBOX."'],
  [{ name: "" }, "config.syntax", "name", "must not be empty"],
  [{ name: 5 }, "config.type", "name", "received 5"],
  [{ connectTimeout: "5" }, "config.syntax", "connectTimeout", 'received "5"'],
  [{ connectTimeout: 0 }, "config.range", "connectTimeout", "received 0"],
  [{ connectTimeout: "600h" }, "config.range", "connectTimeout", "must be at most"],
  [{ reconnect: "false" }, "config.type", "reconnect", 'received "false"'],
  [{ reconnect: null }, "config.type", "reconnect", "received null"],
  [{ recconect: true }, "config.unknown", "recconect", 'did you mean "reconnect'],
];

for (const [config, code, field, says] of cases) {
  Deno.test(`checkConnection() throws when given ${Deno.inspect(config, { compact: true })}: ${says}`, () => {
    keepsSecret(refuses(() => check(config), { code, field, says }), "s3cret");
  });
}

Deno.test("checkConnection() throws on credentials in a URL and shows no part of it", () => {
  for (
    const url of [
      "nats://u:s3cret@a:4222",
      "nats://s3cret@a",
      "wss://u:s3cret@a/path",
      "u:s3cret@a",
      "nats://u:s3cret,more@a", // a comma would cut the password in two
      "nats://u:s3cret/more@a",
      "nats://u:s3cret?more@a",
      "nats://u:s3cret#more@a",
      "nats:\\\\u:s3cret@a",
    ]
  ) {
    for (const value of [url, [url], [URL, url], [url, "ws://a"], `ws://b:s3cret,${url}`, `s3cret,${url}`]) {
      const error = refuses(() => check({ url: value }), {
        code: "config.syntax",
        field: "url",
        says: "Set an auth mode",
      });
      keepsSecret(error, "s3cret");
    }
  }
});

Deno.test("checkConnection() shows no query of a URL, which may hold a token", () => {
  for (const url of ["http://a/?token=s3cret", "nats://a?token=s3cret", "ws://a:0/x?token=s3cret", "s3://a#s3cret"]) {
    keepsSecret(refuses(() => check({ url }), { code: "config.syntax", field: "url", says: "?..." }), "s3cret");
  }
  const mixed = ["wss://a/x?token=s3cret", "nats://b"];
  keepsSecret(
    refuses(() => check({ url: mixed }), { code: "config.conflict", field: "url", says: "wss://a,nats" }),
    "s3cret",
  );
  assert.equal(shownUrl("wss://a:1/x?token=s3cret"), "wss://a:1");
});

Deno.test("checkConnection() accepts one or several servers, as string, comma-separated list or array", () => {
  const servers = (url: unknown) => check({ url }).servers;
  assert.deepEqual(servers("nats://a"), ["nats://a"]);
  assert.deepEqual(servers("NATS://A:65535/"), ["nats://A:65535"]);
  assert.deepEqual(servers("nats://a:1,tls://b:2, nats://c"), ["nats://a:1", "tls://b:2", "nats://c"]);
  assert.deepEqual(servers(["nats://a:1", "nats://b,nats://c"]), ["nats://a:1", "nats://b", "nats://c"]);
  assert.deepEqual(servers("nats://[::1]:4222"), ["nats://[::1]:4222"]);
  assert.deepEqual(servers("tls://[2001:db8::1]"), ["tls://[2001:db8::1]"]);
  assert.deepEqual(servers("nats://127.0.0.1:4222"), ["nats://127.0.0.1:4222"]);
  assert.deepEqual(servers("nats://my_host-1.example.com"), ["nats://my_host-1.example.com"]);
  assert.deepEqual(servers("nats://b\u00fccher.example"), ["nats://b\u00fccher.example"]);
  assert.deepEqual(servers("wss://a/nats?x=1"), ["wss://a/nats?x=1"]);
  assert.deepEqual(servers("ws://a:80/"), ["ws://a:80"]);
});

Deno.test("checkConnection() requires TLS if any server is tls://, and if tls is given", () => {
  assert.equal(check({}).tls, undefined);
  assert.deepEqual(check({ url: "tls://a" }).tls, {});
  assert.deepEqual(check({ url: "nats://a,tls://b" }).tls, {});
  assert.deepEqual(check({ tls: {} }).tls, {});
  assert.equal(check({ url: "wss://a" }).tls, undefined);
  const { tls } = check({ tls: { ca: "a", cert: "c", key: "s3cret", handshakeFirst: true } });
  assert.deepEqual({ ...tls, key: tls?.key }, { ca: "a", cert: "c", key: "s3cret", handshakeFirst: true });
});

Deno.test("checkConnection() returns the transport", () => {
  assert.equal(check({ url: "nats://a,tls://b" }).transport, "tcp");
  assert.equal(check({ url: "ws://a,wss://b" }).transport, "websocket");
});

Deno.test("checkConnection() returns the chosen mode's credentials and prints none", () => {
  const given = [
    [{ authMode: "user_password", username: "s3cret-u", password: "s3cret-p" }, ["username", "password"]],
    [{ authMode: "jwt", jwt: "s3cret-j", nkeySeed: SEED }, ["jwt", "nkeySeed"]],
    [{ authMode: "nkey", nkeySeed: SEED }, ["nkeySeed"]],
    [{ authMode: "token", token: "s3cret-t" }, ["token"]],
  ] as const;
  for (const [config, names] of given) {
    const pem = "-----BEGIN PRIVATE KEY-----\ns3cret-p\n-----END PRIVATE KEY-----";
    assert.ok(Object.keys(check({ ...config, tls: { cert: "c", key: "s3cret-k" } }).tls!).includes("cert"));
    const settings = check({ ...config, tls: { cert: pem, key: "s3cret-k" } });
    assert.equal(settings.tls!.cert, pem);
    const auth = settings.auth as unknown as Record<string, string>;
    assert.equal(auth["mode"], config.authMode);
    for (const name of names) assert.equal(auth[name], (config as Record<string, string>)[name]);
    for (const secret of ["s3cret", SEED]) {
      keepsSecret(settings, secret);
      keepsSecret(settings.auth, secret);
      keepsSecret(settings.tls, secret);
    }
    assert.ok(Object.isFrozen(settings) && Object.isFrozen(settings.auth) && Object.isFrozen(settings.tls));
  }
  assert.deepEqual(check({}).auth, { mode: "none" });
  assert.deepEqual(check({ authMode: "none", username: undefined }).auth, { mode: "none" });
});

Deno.test("checkConnection() returns the other options in the form that dialling needs", () => {
  assert.deepEqual(check({}), {
    servers: [URL],
    transport: "tcp",
    auth: { mode: "none" },
    reconnect: false,
  });
  const { inboxPrefix, name, connectTimeout, reconnect } = check({
    inboxPrefix: "_INBOX.me",
    name: "loader",
    connectTimeout: "1.5s",
    reconnect: true,
  });
  assert.deepEqual([inboxPrefix, name, connectTimeout, reconnect], ["_INBOX.me", "loader", 1_500, true]);
});

Deno.test("checkConnection() accepts a whole SinkConfig and does not read the publisher's keys", () => {
  assert.equal(
    check({ stream: "S", subject: "s", maxInFlight: "wrong, but not the connection's affair" }).servers[0],
    URL,
  );
});

Deno.test("checkConnection() throws on a wrong seed without showing it", () => {
  const other = (seed: Uint8Array) => new TextDecoder().decode(seed);
  const wrong = {
    "begin with SU": [
      "s3cret",
      SEED.toLowerCase(),
      `${SEED}\n`,
      SEED.slice(1),
      `${SEED}A`,
      SEED.replace(/.$/, "1"),
      other(nkeys.createAccount().getSeed()),
      other(nkeys.createOperator().getSeed()),
      nkeys.createUser().getPublicKey(),
    ],
    "its checksum is wrong": [SEED.slice(0, 20) + (SEED[20] === "A" ? "B" : "A") + SEED.slice(21)],
  };
  for (const [says, seeds] of Object.entries(wrong)) {
    for (const nkeySeed of seeds) {
      const run = () => check({ authMode: "jwt", jwt: "j", nkeySeed });
      keepsSecret(refuses(run, { code: "config.syntax", field: "nkeySeed", says }), nkeySeed.slice(2, 30));
    }
  }
});

Deno.test("seedFault() accepts every user seed, and refuses it with any one character changed", () => {
  const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const users = Array.from({ length: 5 }, () => new TextDecoder().decode(nkeys.createUser().getSeed()));
  fc.assert(
    fc.property(
      fc.constantFrom(...users),
      fc.integer({ min: 2, max: 56 }),
      fc.constantFrom(...letters),
      (seed, at, letter) => {
        assert.equal(seedFault(seed), undefined);
        if (seed[at] !== letter) assert.ok(seedFault(seed.slice(0, at) + letter + seed.slice(at + 1)));
      },
    ),
  );
});

Deno.test("checkConnection() accepts ports from 1 to 65535 only", () => {
  fc.assert(fc.property(fc.integer({ min: -2, max: 70_000 }), (port) => {
    const run = () => check({ url: `nats://a:${port}` });
    if (port >= 1 && port <= 65_535) assert.deepEqual(run().servers, [`nats://a:${port}`]);
    else refuses(run, { code: "config.syntax", field: "url", says: "must have a port from 1 to 65535" });
  }));
});
