import assert from "node:assert/strict";
import { join } from "node:path";
import {
  makeCertificates,
  makeOperator,
  nkeyUser,
  opensslMissing,
  passwordUsers,
  startNatsServer,
  tokenAuth,
} from "../../_support/nats/mod.ts";
import { Files, receiptsOf } from "../_files.ts";
import { jetrow, ROOT, shell } from "../_io.ts";
import { Contexts } from "./_contexts.ts";

const SECRET = "s3cr3t-9x2k";

const credsText = (jwt: string, seed: string) =>
  `-----BEGIN NATS USER JWT-----\n${jwt}\n------END NATS USER JWT------\n\n` +
  `-----BEGIN USER NKEY SEED-----\n${seed}\n------END USER NKEY SEED------\n`;

/** Publishes three rows with the settings of a context, and asserts that they arrive. */
async function publishes(args: readonly string[], env: Record<string, string>): Promise<void> {
  using files = new Files(3);
  const route = ["--stream", "ORDERS", "--subject", "orders.{resource}"];
  const { exitCode, out, err } = await jetrow(["publish", files.path("orders.arrow"), ...route, ...args], { env });
  assert.equal(exitCode, 0, err);
  assert.deepEqual(receiptsOf(out).map(({ rows, stream }) => [rows, stream]), [[3, "ORDERS"]]);
}

/** Asserts a usage error: exit code 2, nothing on standard output, one line, and no secret. */
async function wrong(args: readonly string[], env: Record<string, string>, message: RegExp | string): Promise<void> {
  const { exitCode, out, err } = await jetrow(["check", "--stream", "S", "--subject", "s", ...args], { env });
  assert.deepEqual({ exitCode, out }, { exitCode: 2, out: "" }, err);
  if (typeof message === "string") assert.equal(err, `jetrow: ${message}\n`);
  else assert.match(err, message);
  assert.match(err, /^jetrow: [^\n]*\n$/);
  assert.ok(!err.includes(SECRET), err);
}

Deno.test("--context connects as nats does: user and password, and an nkey's file", async () => {
  const nkey = nkeyUser();
  await using server = await startNatsServer({ config: passwordUsers({ username: "u", password: SECRET }) });
  await using other = await startNatsServer({ config: nkey.config });
  using contexts = new Contexts();
  contexts.save("password", { url: server.url, user: "u", password: SECRET });
  await publishes(["--context", "password"], contexts.env);
  await publishes([], { ...contexts.env, JETROW_CONTEXT: "password" });
  await publishes([], { ...contexts.env, NATS_CONTEXT: "password" });
  const decorated = `-----BEGIN USER NKEY SEED-----\n${nkey.nkeySeed}\n------END USER NKEY SEED------\n`;
  for (const text of [`${nkey.nkeySeed}\n`, decorated]) {
    contexts.write("keys/u.nk", text);
    contexts.save("nkey", { url: other.url, nkey: "~/keys/u.nk" });
    await publishes(["--context", "nkey"], contexts.env);
  }
  await publishes(["--url", other.url], { JETROW_NKEY_SEED: nkey.nkeySeed });
});

Deno.test("--context connects as nats does: a token, and servers without a scheme", async () => {
  await using server = await startNatsServer({ config: tokenAuth(SECRET) });
  using contexts = new Contexts();
  const { host } = new URL(server.url.replace("nats:", "http:"));
  contexts.save("token", { url: ` ${host}/, 127.0.0.1:1,`, token: SECRET });
  await publishes(["--context", "token"], contexts.env);
  contexts.save("variable", { url: server.url, token: "env://ORDERS_TOKEN" });
  await publishes(["--context", "variable"], { ...contexts.env, ORDERS_TOKEN: SECRET });
});

Deno.test("--context connects as nats does: credentials in a file, in the context, and in its fields", async () => {
  const operator = await makeOperator();
  const { jwt, nkeySeed } = await operator.user();
  await using server = await startNatsServer({ config: operator.config });
  using contexts = new Contexts();
  const path = contexts.write("keys/u.creds", credsText(jwt, nkeySeed));
  const embedded = `data:;base64,${btoa(credsText(jwt, nkeySeed))}`;
  const forms: Record<string, Record<string, string>> = {
    absolute: { creds: path },
    home: { creds: "~/keys/u.creds" },
    variable: { creds: "$KEYS/u.creds" },
    braces: { creds: "${HOME}/keys/u.creds" },
    url: { creds: `file://${path}` },
    embedded: { creds: embedded },
    fields: { user_jwt: jwt, user_seed: nkeySeed },
    embeddedFields: { user_jwt: `data:;base64,${btoa(`${jwt}\n`)}`, user_seed: "env://SEED" },
  };
  const env = { ...contexts.env, KEYS: join(contexts.home, "keys"), SEED: nkeySeed };
  for (const [name, fields] of Object.entries(forms)) {
    contexts.save(name, { url: server.url, ...fields });
    await publishes(["--context", name], env);
  }
  await publishes([], { NATS_URL: server.url, NATS_CREDS: path });
  await publishes(["--url", server.url], { NATS_CREDS: path });
  await publishes(["--url", server.url, "--creds", path], {});
});

Deno.test({
  name: "--context connects as nats does: TLS files, and TLS before the server's first line",
  ignore: opensslMissing("--context with TLS"),
  async fn() {
    const certificates = await makeCertificates();
    const { server: { cert, key }, client, ca } = certificates;
    using contexts = new Contexts();
    contexts.write("tls/ca.pem", ca);
    contexts.write("tls/client.pem", client.cert);
    contexts.write("tls/client.key", client.key);
    const files = { ca: "~/tls/ca.pem", cert: "~/tls/client.pem", key: "~/tls/client.key" };
    for (const handshakeFirst of [false, true]) {
      await using server = await startNatsServer({ tls: { cert, key, ca, verify: true, handshakeFirst } });
      contexts.save("tls", { url: server.url, ...files, tls_first: handshakeFirst });
      await publishes(["--context", "tls"], contexts.env);
    }
  },
});

Deno.test("--context sets the inbox prefix and the JetStream domain", async () => {
  const permissions = { publish: [">"], subscribe: ["_INBOX.me.>"] };
  await using server = await startNatsServer({
    jetstream: "domain: hub",
    config: passwordUsers({ username: "u", password: SECRET, permissions }),
  });
  using contexts = new Contexts();
  const fields = { url: server.url, user: "u", password: SECRET, inbox_prefix: "_INBOX.me" };
  contexts.save("hub", { ...fields, jetstream_domain: "hub" });
  await publishes(["--context", "hub"], contexts.env);
  contexts.save("leaf", { ...fields, jetstream_domain: "leaf" });
  const route = ["--stream", "ORDERS", "--subject", "orders.a"];
  const { exitCode, err } = await jetrow(["check", "--context", "leaf", ...route], contexts);
  assert.equal(exitCode, 1, err);
  assert.match(err, /connection\.no_jetstream: .*\$JS\.leaf\.API/);
});

Deno.test("--context is found in XDG_CONFIG_HOME, in the home folder, and by the path of its file", async () => {
  await using server = await startNatsServer();
  using contexts = new Contexts();
  const path = contexts.save("here", { url: server.url });
  await publishes(["--context", "here"], { XDG_CONFIG_HOME: join(contexts.home, ".config"), HOME: "/no/such" });
  await publishes(["--context", path], {});
  // With the permissions that docs/cli.md lists.
  const command = `${Deno.execPath()} run --no-lock --allow-env --allow-read --allow-net ${ROOT}/src/cli/main.ts`;
  const said = await shell(`${command} check --context here --stream S --subject s --format json`, {
    XDG_CONFIG_HOME: join(contexts.home, ".config"),
  });
  assert.equal(said.exitCode, 0, said.err);
  assert.ok(JSON.parse(said.out).ok, said.out);
});

Deno.test("the selected context is not used by itself", async () => {
  using contexts = new Contexts();
  contexts.save("here", { url: "nats://127.0.0.1:1" });
  contexts.write(".config/nats/context.txt", "here");
  await wrong([], contexts.env, "config.missing: --url is required. Set --url, --context or NATS_URL.");
});

Deno.test("a context that does not exist is reported with the names of existing ones", async () => {
  using contexts = new Contexts();
  const folder = join(contexts.home, ".config/nats/context");
  await wrong(
    ["--context", "prod"],
    contexts.env,
    `--context prod: there is no such context in ${folder}, which has no contexts`,
  );
  for (const name of ["prod", "dev", "hub.eu"]) contexts.save(name, { token: SECRET });
  contexts.write(".config/nats/context/notes.txt", "");
  const none = (origin: string, name: string) => `${origin} ${name}: there is no such context in ${folder}`;
  await wrong(["--context", "test"], contexts.env, `${none("--context", "test")}. Contexts: dev, hub.eu, prod`);
  await wrong(
    ["--context", "porod"],
    contexts.env,
    `${none("--context", "porod")}: did you mean prod? Contexts: dev, hub.eu, prod`,
  );
  for (const variable of ["JETROW_CONTEXT", "NATS_CONTEXT"]) {
    await wrong([], { ...contexts.env, [variable]: "test" }, new RegExp(`${variable} test: there is no such context`));
  }
  for (const name of ["", "../prod", "a/b", "a\\b", "/no/such.json"]) {
    await wrong(
      [`--context=${name}`],
      contexts.env,
      /--context must be the name of a context or the path of an existing/,
    );
  }
});

Deno.test("a context with a field that jetrow does not support is refused by file and field", async () => {
  using contexts = new Contexts();
  const unsupported = {
    socks_proxy: `socks5://u:${SECRET}@127.0.0.1`,
    nsc: `nsc://${SECRET}/a/u`,
    jetstream_api_prefix: "$JS.hub.API",
    jetstream_event_prefix: "$JS.hub.EVENT",
    windows_cert_store: "user",
    windows_cert_match_by: "subject",
    windows_cert_match: "x",
    windows_ca_certs_match: ["x"],
  };
  for (const [field, value] of Object.entries(unsupported)) {
    const path = contexts.save("odd", { url: "nats://127.0.0.1:1", [field]: value });
    const message = new RegExp(`--context odd: ${path} has ${field}, which jetrow does not support: .*\\.\\n`);
    await wrong(["--context", "odd"], contexts.env, message);
  }
  for (const value of [SECRET, { a: 1 }, 5, true, [SECRET]]) {
    const path = contexts.save("odd", { url: "nats://127.0.0.1:1", socks: value });
    await wrong(["--context", "odd"], contexts.env, `--context odd: ${path} has "socks", which jetrow does not know`);
  }
});

Deno.test("fields of a context that are empty or do not concern the connection are ignored", async () => {
  await using server = await startNatsServer();
  using contexts = new Contexts();
  const empty = { later: "", more: null, list: [], off: false };
  contexts.save("own", { name: "own", description: "mine", color_scheme: "green", url: server.url, ...empty });
  await publishes(["--context", "own"], contexts.env);
});

Deno.test("an invalid context is refused by file and field, and no secret is shown", async () => {
  using contexts = new Contexts();
  const refused = async (fields: Record<string, unknown>, words: string | RegExp) => {
    const path = contexts.save("bad", { url: "nats://127.0.0.1:1", ...fields });
    const message = typeof words === "string" ? words.replaceAll("PATH", path) : words;
    await wrong(["--context", "bad"], contexts.env, message);
  };
  await refused({ url: 5 }, "--context bad: url of PATH must be a string: received a number");
  await refused({ password: [SECRET] }, "--context bad: password of PATH must be a string: received an array");
  await refused({ tls_first: "true" }, "--context bad: tls_first of PATH must be a boolean: received a string");
  await refused(
    { url: "http://a" },
    'config.syntax: url of PATH must begin with nats://, tls://, ws:// or wss://: received "http://a"',
  );
  await refused({ url: `nats://u:${SECRET}@a` }, /config\.syntax: url of .*bad\.json must not contain credentials/);
  await refused({ url: "wss://a", ca: "~/bad.pem" }, /ca of .*bad\.json: .*bad\.pem cannot be read: no such file\n/);
  await refused({ inbox_prefix: "a.*" }, /config\.syntax: inbox_prefix of .*bad\.json must not .*received "a\.\*"/);
  await refused({ jetstream_domain: "a.b" }, /config\.syntax: jetstream_domain of .*bad\.json must not contain a dot/);
  await refused({ user: "u", token: SECRET }, /bad\.json has user and token: a connection has one authentication/);
  await refused({ creds: "x", nkey: "y" }, /bad\.json has creds and nkey: a connection has one authentication/);
  await refused({ password: SECRET }, "--context bad: PATH has password without user. Set both.");
  await refused({ user_jwt: SECRET }, "--context bad: PATH has user_jwt without user_seed. Set both.");
  await refused({ user_seed: SECRET }, "--context bad: PATH has user_seed without user_jwt. Set both.");
  await refused({ user: "u" }, "config.missing: JETROW_PASSWORD is required by auth_mode user_password");
  await refused({ user_jwt: "j", user_seed: SECRET }, /config\.syntax: user_seed of .*bad\.json must be a user seed/);
  await refused({ creds: "/no/such.creds" }, "creds of PATH: /no/such.creds cannot be read: no such file");
  await refused(
    { creds: `data:;base64,${btoa(SECRET)}` },
    /config\.syntax: creds of .*bad\.json must have the user's JWT/,
  );
  await refused({ creds: `data:,${SECRET}` }, "creds of PATH must be embedded data of the form data:;base64,...");
  await refused({ token: `data:${SECRET}` }, "token of PATH must be embedded data of the form data:;base64,...");
  await refused({ token: `env://${SECRET}` }, "token of PATH refers to an environment variable that is not set");
  await refused({ creds: "env://NO_SUCH" }, "creds of PATH refers to an environment variable that is not set");
  for (const field of ["creds", "nkey", "token"]) {
    await refused(
      { [field]: `op://${SECRET}/x` },
      new RegExp(`${field} of .*bad\\.json is a reference of the form op://`),
    );
    await refused(
      { [field]: `nsc://${SECRET}/x` },
      new RegExp(`${field} of .*bad\\.json is a reference of the form nsc://`),
    );
  }
  await refused({ ca: "data:;base64,AA==" }, "ca of PATH must be a path: received data:");
  await refused({ nkey: contexts.write("none.nk", SECRET) }, /nkey of .*bad\.json must name a file with a user's seed/);
  await refused(
    { nkey: contexts.write("bad.nk", "SU5ECRET") },
    /config\.syntax: nkey of .*bad\.json must be a user seed/,
  );
  contexts.write("client.pem", "x");
  contexts.write("empty.pem", "");
  await refused({ ca: "~/empty.pem" }, "config.missing: ca of PATH must not be empty");
  await refused({ cert: "~/client.pem" }, "config.missing: --tls-key is required by the cert");
  await refused(
    { url: "ws://a", ca: "~/client.pem" },
    /config\.conflict: ca of .*bad\.json cannot be combined with ws:/,
  );
  contexts.write(".config/nats/context/bad.json", `{"token": "${SECRET}`);
  await wrong(["--context", "bad"], contexts.env, /--context bad: .*bad\.json is not valid JSON: line 1, column 23\n/);
  contexts.write(".config/nats/context/bad.json", `["${SECRET}"]`);
  await wrong(["--context", "bad"], contexts.env, /--context bad: .*bad\.json must hold a JSON object\n/);
  await wrong([], { NATS_URL: `nats://u:${SECRET}@a` }, /config\.syntax: NATS_URL must not contain credentials/);
  await wrong(
    [],
    { NATS_URL: "nats://a", NATS_CREDS: "/no/such" },
    "NATS_CREDS: /no/such cannot be read: no such file",
  );
});

Deno.test("a password that looks like a reference without its slashes is a password", async () => {
  const password = `env:${SECRET}`;
  await using server = await startNatsServer({ config: passwordUsers({ username: "u", password }) });
  using contexts = new Contexts();
  contexts.save("odd", { url: server.url, user: "u", password });
  await publishes(["--context", "odd"], contexts.env);
});

Deno.test("a failed login with a context's credentials shows none of them", async () => {
  const [user, other] = [nkeyUser(), nkeyUser()];
  const { jwt, nkeySeed } = await (await makeOperator()).user();
  await using server = await startNatsServer({ config: user.config });
  using contexts = new Contexts();
  const creds = contexts.write("u.creds", credsText(jwt, nkeySeed));
  const nkey = contexts.write("u.nk", other.nkeySeed);
  for (const fields of [{ user: "u", password: SECRET }, { token: SECRET }, { creds }, { nkey }]) {
    contexts.save("refused", { url: server.url, ...fields });
    const args = ["check", "--stream", "S", "--subject", "s", "--context", "refused"];
    const { exitCode, out, err } = await jetrow(args, contexts);
    assert.deepEqual([exitCode, out], [1, ""], err);
    assert.match(err, /^jetrow: connection\.auth: .*authorization violation/i);
    for (const secret of [SECRET, jwt, nkeySeed, other.nkeySeed]) assert.ok(!err.includes(secret), err);
  }
});

Deno.test("a dry run checks a context and does not connect", async () => {
  using files = new Files(3);
  using contexts = new Contexts();
  const args = ["publish", files.path("orders.arrow"), "--dry-run", "--stream", "S", "--subject", "s"];
  contexts.save("down", { url: "nats://127.0.0.1:1", user: "u", password: SECRET });
  contexts.save("bare", {});
  for (const name of ["down", "bare"]) {
    const { exitCode, err } = await jetrow([...args, "--context", name], contexts);
    assert.equal(exitCode, 0, err);
  }
  assert.equal((await jetrow([...args, "--context", "none"], contexts)).exitCode, 2);
});
