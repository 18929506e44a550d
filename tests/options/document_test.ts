import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { nkeys } from "@nats-io/nats-core";
import fc from "fast-check";
import { parseConfig } from "../../src/options/document.ts";
import { checkConnection } from "../../src/options/connection.ts";
import type { ConfigErrorCode } from "../../src/errors/mod.ts";
import { OPTION_KEYS, resolveOptions } from "../../src/options/publisher.ts";
import { keepsSecret, refuses } from "../_support/config_errors.ts";
import { bundle } from "../_support/bundle.ts";
import { run } from "../_support/nats/mod.ts";
import { bunProgram, node22Program } from "../_support/runtimes.ts";

const REQUIRED = { url: "nats://localhost:4222", stream: "EVENTS", subject: "events.{resource}" };

const SEED = new TextDecoder().decode(nkeys.createUser().getSeed());

const parse = (document: Record<string, unknown>) => parseConfig({ ...REQUIRED, ...document });

/** Every key that a document may have, with a valid value. */
const FULL = {
  url: ["tls://a:4222", "tls://b:4222"],
  auth_mode: "jwt",
  jwt: "s3cret-jwt",
  nkey_seed: SEED,
  name: "loader",
  connect_timeout: "3s",
  reconnect: true,
  tls: { ca: "ca", cert: "cert", key: "s3cret-key", handshake_first: true },
  stream: "EVENTS",
  subject: "events.{resource}",
  create_stream: false,
  publish_timeout: "1m30s",
  max_in_flight: 256,
  max_in_flight_bytes: 1_048_576,
  tenant: "acme",
  pipeline: "orders",
  sink_connection: "main",
  event_id_column: ["order", "line"],
  operation_column: "op",
  operation_values: { c: "insert" },
  body_columns: { omit: ["region"] },
  content_type: "text/plain",
  subject_escape: "percent",
  expected_stream: false,
  standard_headers: true,
  json: { int64: "string", non_finite: "null", columns: { price: { decimal: "string", non_finite: "string" } } },
  headers: { "X-Source": "crm" },
  ttl: "never",
  domain: "hub",
  inbox_prefix: "_INBOX.me",
  owns_connection: true,
  retry: { budget: 30_000 },
  publish_mode: "fast",
};

type Case = readonly [document: Record<string, unknown>, code: ConfigErrorCode, field: string, says: string];

const cases: readonly Case[] = [
  // Each key in the document's own spelling, also nested keys.
  [{ url: undefined }, "config.missing", "url", "is required"],
  [{ stream: undefined }, "config.missing", "stream", "is required"],
  [{ subject: undefined }, "config.missing", "subject", "is required"],
  [{ auth_mode: "basic" }, "config.range", "auth_mode", 'received "basic"'],
  [
    { auth_mode: "user_password", username: "u" },
    "config.missing",
    "password",
    "is required by auth_mode user_password",
  ],
  [
    { auth_mode: "token", token: "" },
    "config.missing",
    "token",
    "is required by auth_mode token: received an empty string",
  ],
  [{ auth_mode: "jwt", jwt: "j" }, "config.missing", "nkey_seed", "is required by auth_mode jwt"],
  [{ auth_mode: "jwt", jwt: "j", nkey_seed: "s3cret" }, "config.syntax", "nkey_seed", "must be a user seed"],
  [{ auth_mode: "nkey" }, "config.missing", "nkey_seed", "is required by auth_mode nkey"],
  [{ nkey_seed: SEED }, "config.conflict", "nkey_seed", "requires auth_mode jwt or nkey: received auth_mode none"],
  [{ token: "s3cret" }, "config.conflict", "token", "requires auth_mode token: received auth_mode none"],
  [{ url: "nats://u:s3cret@a" }, "config.syntax", "url", "Set an auth mode"],
  [{ create_stream: "true" }, "config.type", "create_stream", 'received "true"'],
  [{ publish_timeout: "5" }, "config.syntax", "publish_timeout", 'received "5"'],
  [{ publish_timeout: true }, "config.type", "publish_timeout", "received true"],
  [{ max_in_flight: 1.5 }, "config.type", "max_in_flight", "received 1.5"],
  [{ max_in_flight: "5" }, "config.type", "max_in_flight", 'received "5"'],
  [{ max_in_flight_bytes: 0 }, "config.range", "max_in_flight_bytes", "received 0"],
  [{ tenant: 5 }, "config.type", "tenant", "received 5"],
  [{ pipeline: null }, "config.type", "pipeline", "received null"],
  [{ sink_connection: "\ud800" }, "config.syntax", "sink_connection", "surrogate"],
  [{ event_id_column: "" }, "config.syntax", "event_id_column", "must not be empty"],
  [{ expected_stream: 0 }, "config.type", "expected_stream", "received 0"],
  [{ headers: { "Nats-TTL": "1" } }, "config.conflict", "headers", "Nats-TTL"],
  [{ ttl: 90 }, "config.type", "ttl", "received 90"],
  [{ domain: "a.b" }, "config.syntax", "domain", 'received "a.b"'],
  [{ name: "" }, "config.syntax", "name", "must not be empty"],
  [{ connect_timeout: "0s" }, "config.range", "connect_timeout", 'received "0s"'],
  [{ reconnect: 1 }, "config.type", "reconnect", "received 1"],
  [{ inbox_prefix: "a.>" }, "config.syntax", "inbox_prefix", 'received "a.>"'],
  [{ owns_connection: "yes" }, "config.type", "owns_connection", 'received "yes"'],
  [{ publish_mode: "batch" }, "config.range", "publish_mode", 'received "batch"'],
  [{ retry: { budget: "5" } }, "config.syntax", "retry.budget", 'received "5"'],
  [{ retry: {} }, "config.missing", "retry.budget", "is required"],
  [{ retry: { limit: 1 } }, "config.unknown", "retry.limit", 'did you mean "retry.budget'],
  [{ tls: { handshake_first: 1 } }, "config.type", "tls.handshake_first", "received 1"],
  [{ tls: { cert: "c" } }, "config.missing", "tls.key", "is required by the cert"],
  [{ tls: { key: 5 } }, "config.type", "tls.key", "received a number"],
  [{ tls: { handshakeFirst: true } }, "config.unknown", "tls.handshakeFirst", 'did you mean "tls.handshake_first'],
  [{ tls: { ca_file: "a" } }, "config.unknown", "tls.ca_file", 'did you mean "tls.ca'],
  [{ url: "wss://a", tls: {} }, "config.conflict", "tls", "cannot be combined with"],
  // Unknown keys.
  [{ sream: "s3cret" }, "config.unknown", "sream", 'did you mean "stream'],
  [{ passwrd: "s3cret" }, "config.unknown", "passwrd", 'did you mean "password'],
  [{ pass: "s3cret" }, "config.unknown", "pass", 'did you mean "'],
  [{ maxInFlight: 5 }, "config.unknown", "maxInFlight", 'did you mean "max_in_flight'],
  [{ nkeySeed: "s3cret" }, "config.unknown", "nkeySeed", 'did you mean "nkey_seed'],
  [
    { namespace: { tenant: "s3cret" } },
    "config.unknown",
    "namespace",
    'did you mean "tenant, pipeline and sink_connection"?',
  ],
  [{ on_progress: () => {} }, "config.unknown", "on_progress", "use one of stream, subject"],
  [{ bugdet: 3 }, "config.unknown", "bugdet", "use one of "],
  [{ constructor: "s3cret" }, "config.unknown", "constructor", "use one of "],
];

for (const [document, code, field, says] of cases) {
  Deno.test(`parseConfig() throws when given ${Deno.inspect(document, { compact: true })}: ${says}`, () => {
    keepsSecret(refuses(() => parse(document), { code, field, says }), "s3cret");
  });
}

Deno.test("parseConfig() throws when any key is null", () => {
  for (const key of Object.keys(FULL)) {
    refuses(() => parse({ [key]: null }), { code: "config.type", field: key, says: "received null" });
  }
  for (
    const [field, document] of [["retry.budget", { retry: { budget: null } }], ["tls.ca", {
      tls: { ca: null },
    }]] as const
  ) {
    refuses(() => parse(document), { code: "config.type", field, says: "received null" });
  }
});

Deno.test("parseConfig() knows every option but the callbacks, in snake_case", () => {
  const written = new Set(Object.keys(FULL).concat("username", "password", "token", "raw_body_column"));
  const known = OPTION_KEYS.snake.map((key) => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`));
  assert.deepEqual(new Set(known), written);
});

Deno.test("parseConfig() throws when the document is not a plain object", () => {
  class Config {
    url = REQUIRED.url;
  }
  for (
    const document of [null, undefined, [], [REQUIRED], new Config(), new Map(), new Date(), () => {}, 5, true, 5n]
  ) {
    refuses(() => parseConfig(document), { code: "config.type", field: "document", says: "must be a plain object" });
  }
  const text = '{"token":"s3cret"}';
  keepsSecret(refuses(() => parseConfig(text), { code: "config.type", field: "document", says: "a string" }), "s3cret");
});

Deno.test("parseConfig() throws on __proto__, whether as key or as prototype", () => {
  const text = JSON.stringify(REQUIRED);
  const asKey = JSON.parse(text.replace("{", '{"__proto__":{"createStream":"s3cret"},'));
  keepsSecret(
    refuses(() => parseConfig(asKey), { code: "config.unknown", field: "__proto__", says: "use one of" }),
    "s3cret",
  );
  const asPrototype = { __proto__: { tenant: "a" }, ...REQUIRED };
  refuses(() => parseConfig(asPrototype), { code: "config.type", field: "document", says: "an instance of a class" });
  const nested = JSON.parse('{"__proto__":{"budget":5}}');
  refuses(() => parse({ retry: nested }), { code: "config.unknown", field: "retry.__proto__", says: "retry.budget" });
  assert.equal(({} as Record<string, unknown>)["createStream"], undefined);
});

Deno.test("parseConfig() throws when a getter throws, without the getter's error, and reads each key once", () => {
  let reads = 0;
  const counting = Object.defineProperty({ ...REQUIRED }, "ttl", { enumerable: true, get: () => (reads++, "never") });
  assert.equal(parseConfig(counting).ttl, "never");
  assert.equal(reads, 1);
  const throwing = Object.defineProperty({ ...REQUIRED }, "token", {
    enumerable: true,
    get() {
      throw new Error("s3cret");
    },
  });
  const refusal = { code: "config.type", field: "token", says: "its getter throws" } as const;
  keepsSecret(refuses(() => parseConfig(throwing), refusal), "s3cret");
});

Deno.test("parseConfig() returns every option under its camelCase name, its value unchanged", () => {
  const config = parseConfig(FULL);
  assert.deepEqual({ ...config }, {
    url: ["tls://a:4222", "tls://b:4222"],
    authMode: "jwt",
    name: "loader",
    connectTimeout: "3s",
    reconnect: true,
    tls: config.tls,
    stream: "EVENTS",
    subject: "events.{resource}",
    createStream: false,
    publishTimeout: "1m30s",
    maxInFlight: 256,
    maxInFlightBytes: 1_048_576,
    namespace: { tenant: "acme", pipeline: "orders", sinkConnection: "main" },
    eventIdColumn: ["order", "line"],
    operationColumn: "op",
    operationValues: { c: "insert" },
    bodyColumns: { omit: ["region"] },
    contentType: "text/plain",
    subjectEscape: "percent",
    expectedStream: false,
    standardHeaders: true,
    json: { int64: "string", nonFinite: "null", columns: { price: { decimal: "string", nonFinite: "string" } } },
    headers: { "X-Source": "crm" },
    ttl: "never",
    domain: "hub",
    inboxPrefix: "_INBOX.me",
    ownsConnection: true,
    retry: { budget: 30_000 },
    publishMode: "fast",
  });
  assert.deepEqual({ ...config.tls }, { ca: "ca", cert: "cert", handshakeFirst: true });
  assert.deepEqual([config.jwt, config.nkeySeed, config.tls?.key], ["s3cret-jwt", SEED, "s3cret-key"]);
});

Deno.test("parseConfig() adds no option that the document does not have", () => {
  assert.deepEqual(Reflect.ownKeys(parse({})).sort(), ["stream", "subject", "url"]);
  assert.deepEqual(parse({ tenant: "", ttl: undefined }), { ...REQUIRED, namespace: { tenant: "" } });
});

Deno.test("parseConfig() leaves the document unchanged and returns a deeply frozen result", () => {
  const before = structuredClone(FULL);
  const frozen = JSON.parse(JSON.stringify(FULL), (_, value) => Object.freeze(value));
  const config = parseConfig(frozen);
  parseConfig(FULL);
  assert.deepEqual(FULL, before);
  for (const value of [config, config.url, config.tls, config.headers, config.namespace, config.retry]) {
    assert.ok(Object.isFrozen(value));
  }
  for (const part of ["url", "headers", "tls", "retry"] as const) assert.notEqual(config[part], frozen[part]);
});

Deno.test("parseConfig() returns a config that connect and the publisher both accept", () => {
  const config = parseConfig(FULL);
  const { auth, tls } = checkConnection(config);
  assert.ok(auth.mode === "jwt" && auth.jwt === "s3cret-jwt" && auth.nkeySeed === SEED);
  assert.equal(tls?.key, "s3cret-key");
  assert.equal(resolveOptions(config).publishTimeout, 90_000);
});

Deno.test("a copy of a parseConfig() result works for a publisher, and is refused by connect()", () => {
  const copy = { ...parseConfig(FULL), stream: "OTHER" };
  assert.equal(resolveOptions(copy).stream, "OTHER");
  const says = "a copy of what parseConfig returned has no credentials";
  refuses(() => checkConnection(copy), { code: "config.missing", field: "jwt", says });
  const whole = checkConnection({ ...copy, jwt: "j", nkeySeed: SEED });
  assert.equal(whole.tls?.key, "s3cret-key");
});

Deno.test("parseConfig() keeps secrets readable and prints none on Deno", () => {
  const documents = [
    { auth_mode: "user_password", username: "s3cret-u", password: "s3cret-p" },
    { auth_mode: "token", token: "s3cret-t" },
    FULL,
  ];
  for (const document of documents) {
    const config = parse(document);
    keepsSecret(config, "s3cret");
    keepsSecret(config, SEED);
    for (const [key, value] of Object.entries(document)) {
      if (key === "nkey_seed") assert.equal(config.nkeySeed, value);
      else if (/^(username|password|token|jwt)$/.test(key)) assert.equal(config[key as "token"], value);
    }
  }
  fc.assert(fc.property(fc.stringMatching(/^[\w!$%&()]{8,}$/), (token) => {
    const config = parse({ auth_mode: "token", token });
    assert.equal(config.token, token);
    keepsSecret(config, token);
  }));
});

/**
 * Prints a config in every way that Node and Bun have; the last line is the secret itself, to show that the config has
 * it.
 */
const PRINT_ALL = `
import { inspect, format } from "node:util";
const config = parseConfig({ url: "tls://a", stream: "S", subject: "s", auth_mode: "user_password",
  username: "s3cret-user", password: "s3cret-password", tls: { cert: "c", key: "s3cret-key" } });
const options = { depth: Infinity, showHidden: true, getters: true };
console.log(config, [config], { config });
console.table(config);
console.log("%s %o %O %j", config, config, config, config);
console.log(String(config), JSON.stringify({ config }), format("%O", config));
console.log(inspect(config), inspect({ config }, options), inspect(config, options));
if (globalThis.Bun) console.log(Bun.inspect(config), Bun.inspect({ config }, { depth: 9 }));
console.error([config.username, config.password, config.tls.key].join());
`;

Deno.test("parseConfig() prints no secret on Bun and Node", async () => {
  // Packages are resolved from here.
  const dir = fileURLToPath(new URL("../../.cache", import.meta.url));
  await Deno.mkdir(dir, { recursive: true });
  const folder = await Deno.makeTempDir({ dir });
  try {
    const source = new URL("../../src/options/document.ts", import.meta.url).pathname;
    await Deno.writeTextFile(
      `${folder}/print.ts`,
      `import { parseConfig } from ${JSON.stringify(source)};${PRINT_ALL}`,
    );
    const program = bundle(`${folder}/print.ts`, `${folder}/print.mjs`);
    for (const runtime of [await bunProgram(), await node22Program()]) {
      if (runtime === undefined) continue;
      const { out, err } = await run([runtime, program], { within: 60_000 });
      assert.equal(err.trim(), "s3cret-user,s3cret-password,s3cret-key");
      assert.ok(out.includes("user_password"));
      assert.ok(!out.includes("s3cret"), out);
    }
  } finally {
    await Deno.remove(folder, { recursive: true });
  }
});
