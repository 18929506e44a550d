import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { nkeys } from "@nats-io/nats-core";
import { configOf } from "../../../src/cli/options/document.ts";
import { readArguments, withEnvironment } from "../../../src/cli/options/parse.ts";
import { CONFIG_OPTION, CONNECTION_OPTIONS } from "../../../src/cli/options/table.ts";
import { PUBLISHER_OPTIONS } from "../../../src/cli/options/publisher_table.ts";
import { checkConnection } from "../../../src/options/connection.ts";
import type { SinkConfig } from "../../../src/types/mod.ts";
import { Contexts } from "./_contexts.ts";

const OPTIONS = [CONFIG_OPTION, ...CONNECTION_OPTIONS, ...PUBLISHER_OPTIONS];

/** Returns the configuration that the command makes of arguments and variables. */
async function configFrom(args: readonly string[], env: Record<string, string>): Promise<SinkConfig> {
  const route = ["--stream", "S", "--subject", "s"];
  const given = withEnvironment(readArguments([...route, ...args], OPTIONS), OPTIONS, env);
  return await configOf(given, OPTIONS, { env, signal: new AbortController().signal });
}

/** One source's settings: arguments, variables, or both. */
interface Given {
  readonly args?: readonly string[];
  readonly env?: Record<string, string>;
}

/** The sources of docs/cli.md, in order. */
const SOURCES = [
  "the command line",
  "`JETROW_` variables",
  "the document of `--config`",
  "the context of `--context` or `JETROW_CONTEXT`",
  "`NATS_URL`, `NATS_CREDS`",
  "the context of `NATS_CONTEXT`",
] as const;

/** A user's JWT and seed; the JWTs differ. */
const userOf = (name: string) => ({
  jwt: `a.${name}.c`,
  nkey_seed: new TextDecoder().decode(nkeys.createUser().getSeed()),
});

/** The value of a setting in each source, `undefined` if the source cannot have it. */
function sourcesOf(contexts: Contexts, setting: string): readonly (Given | undefined)[] {
  const creds = (name: string) => {
    const { jwt, nkey_seed } = userOf(name);
    return contexts.write(`${name}.creds`, `---\n${jwt}\n---\n---\n${nkey_seed}\n---\n`);
  };
  const pem = (name: string) => contexts.write(`${name}.pem`, name);
  const document = (part: object) => ({ args: ["--config", contexts.write("own.json", JSON.stringify(part))] });
  const named = (fields: Record<string, unknown>) => (contexts.save("named", fields), { args: ["--context", "named"] });
  const inherited = (fields: Record<string, unknown>) => {
    contexts.save("inherited", fields);
    return { env: { NATS_CONTEXT: "inherited" } };
  };
  switch (setting) {
    case "url":
      return [
        { args: ["--url", "nats://a"] },
        { env: { JETROW_URL: "nats://b" } },
        document({ url: "nats://c" }),
        named({ url: "nats://d" }),
        { env: { NATS_URL: "nats://e" } },
        inherited({ url: "nats://f" }),
      ];
    case "credentials":
      return [
        { args: ["--creds", creds("a")] },
        { env: { JETROW_CREDS: creds("b") } },
        document(userOf("c")),
        named({ user: "d", password: "d" }),
        { env: { NATS_CREDS: creds("e") } },
        inherited({ token: "f" }),
      ];
    case "tls.ca":
      return [
        { args: ["--tls-ca", pem("a")] },
        { env: { JETROW_TLS_CA: pem("b") } },
        document({ tls: { ca: "c" } }),
        named({ ca: pem("d") }),
        undefined,
        inherited({ ca: pem("f") }),
      ];
    case "inbox prefix":
      return [
        { args: ["--inbox-prefix", "a"] },
        { env: { JETROW_INBOX_PREFIX: "b" } },
        document({ inbox_prefix: "c" }),
        named({ inbox_prefix: "d" }),
        undefined,
        inherited({ inbox_prefix: "f" }),
      ];
    default:
      return [
        { args: ["--domain", "a"] },
        { env: { JETROW_DOMAIN: "b" } },
        document({ domain: "c" }),
        named({ jetstream_domain: "d" }),
        undefined,
        inherited({ jetstream_domain: "f" }),
      ];
  }
}

const READ: Record<string, (config: SinkConfig) => string | undefined> = {
  url: ({ url }) => /\w$/.exec(`${url}`)?.[0],
  credentials: ({ jwt, username, token }) => jwt?.split(".")[1] ?? username ?? token,
  "tls.ca": ({ tls }) => tls?.ca,
  "inbox prefix": ({ inboxPrefix }) => inboxPrefix,
  domain: ({ domain }) => domain,
};

for (const [setting, read] of Object.entries(READ)) {
  Deno.test(`the first source that has a value decides: ${setting}`, async () => {
    using contexts = new Contexts();
    const sources = sourcesOf(contexts, setting);
    for (let first = 0; first < sources.length; first++) {
      if (sources[first] === undefined) continue;
      const given = sources.slice(first).filter((source) => source !== undefined);
      const args = given.flatMap(({ args = [] }) => args);
      const env = Object.assign({ ...contexts.env }, ...given.map(({ env }) => env ?? {}));
      if (setting !== "url") args.push("--url", "nats://x");
      assert.equal(read(await configFrom(args, env)), "abcdef"[first], SOURCES[first]);
    }
  });
}

Deno.test("docs/cli.md lists the sources in their order", () => {
  const page = readFileSync(new URL("../../../docs/cli.md", import.meta.url), "utf8");
  const rows = page.split("## NATS contexts and variables")[1]!.matchAll(/^\| \d \| (.*?) +\| /gm);
  assert.deepEqual([...rows].map(([, source]) => source), [...SOURCES]);
});

Deno.test("the context of NATS_CONTEXT is not read if --context names another one", async () => {
  using contexts = new Contexts();
  contexts.save("named", { url: "nats://a" });
  for (const given of [{ args: ["--context", "named"] }, { env: { JETROW_CONTEXT: "named" } }]) {
    const env = { ...contexts.env, NATS_CONTEXT: "no such", ...given.env };
    assert.deepEqual((await configFrom(given.args ?? [], env)).url, ["nats://a"]);
  }
});

Deno.test("an empty variable counts as absent", async () => {
  const env = { NATS_CONTEXT: "", NATS_URL: "", NATS_CREDS: "", JETROW_CONTEXT: "" };
  const config = await configFrom(["--url", "nats://a"], env);
  assert.deepEqual(checkConnection(config).auth, { mode: "none" });
});

Deno.test("the server of a context without a URL is NATS_URL, otherwise the default of nats", async () => {
  using contexts = new Contexts();
  contexts.save("bare", { token: "t" });
  for (const given of [{ args: ["--context", "bare"] }, { env: { NATS_CONTEXT: "bare" } }]) {
    const env = { ...contexts.env, ...given.env };
    assert.equal((await configFrom(given.args ?? [], env)).url, "nats://127.0.0.1:4222");
    assert.deepEqual((await configFrom(given.args ?? [], { ...env, NATS_URL: "a" })).url, ["nats://a"]);
  }
});

Deno.test("credentials belong together: a context's are used completely or not at all", async () => {
  using contexts = new Contexts();
  contexts.save("user", { url: "nats://a", user: "u", password: "p" });
  contexts.save("token", { url: "nats://a", token: "t", ca: contexts.write("ca.pem", "c") });
  contexts.save("nameless", { url: "nats://a", user: "u" });
  const auth = async (args: readonly string[], env: Record<string, string> = {}) => {
    const { auth } = checkConnection(await configFrom(args, { ...contexts.env, ...env }));
    return auth.mode === "user_password" ? [auth.mode, auth.username, auth.password] : [auth.mode];
  };
  assert.deepEqual(await auth(["--context", "user"]), ["user_password", "u", "p"]);
  assert.deepEqual(await auth(["--context", "token", "--username", "me"], { JETROW_PASSWORD: "x" }), [
    "user_password",
    "me",
    "x",
  ]);
  assert.deepEqual(await auth(["--context", "user"], { JETROW_TOKEN: "x" }), ["token"]);
  assert.deepEqual(await auth(["--context", "user", "--auth-mode", "none"]), ["none"]);
  assert.deepEqual(await auth(["--context", "token"], { NATS_CREDS: "/no/such" }), ["token"]);
  assert.deepEqual(await auth(["--context", "user"], { JETROW_PASSWORD: "x" }), ["user_password", "u", "x"]);
  assert.deepEqual(await auth(["--context", "nameless"], { JETROW_PASSWORD: "x" }), ["user_password", "u", "x"]);
  await assert.rejects(auth(["--context", "user", "--username", "me"]), {
    message: "JETROW_PASSWORD is required by auth_mode user_password",
  });
  await assert.rejects(auth(["--context", "user", "--auth-mode", "token"]), {
    message: /^user of .*user\.json requires auth_mode user_password: received auth_mode token$/,
  });
  const { tls } = await configFrom(["--context", "token"], { ...contexts.env, JETROW_TLS_HANDSHAKE_FIRST: "true" });
  assert.deepEqual({ ...tls }, { handshakeFirst: true, ca: "c" });
});

Deno.test("files of a context whose settings are overridden are not read", async () => {
  using contexts = new Contexts();
  contexts.save("broken", { url: "nats://a", creds: "/no/such.creds", ca: "/no/such.pem" });
  const ca = contexts.write("ca.pem", "c");
  const config = await configFrom(["--context", "broken", "--tls-ca", ca], { ...contexts.env, JETROW_TOKEN: "t" });
  assert.deepEqual([config.token, config.tls?.ca], ["t", "c"]);
});

Deno.test("a wrong value in the document is refused, whatever a context has", async () => {
  using contexts = new Contexts();
  contexts.save("whole", { url: "nats://a", inbox_prefix: "_INBOX.a", ca: contexts.write("ca.pem", "c") });
  for (const part of [{ url: null }, { inbox_prefix: null }, { tls: null }, { tls: "x" }, { tls: [] }]) {
    const document = contexts.write("own.json", JSON.stringify(part));
    await assert.rejects(configFrom(["--context", "whole", "--config", document], contexts.env), {
      code: "config.type",
    });
  }
});
