import assert from "node:assert/strict";
import { inspect } from "node:util";
import {
  ConnectionError,
  openRun,
  openSession,
  parseConfig,
  publishAll,
  Publisher,
  type SinkConfig,
} from "../../mod.ts";
import { connect } from "../../src/runtime/deno.ts";
import { inspect as inspectDestination } from "../../src/stream/checks/inspect.ts";
import { failureOf } from "../_support/failed_publish.ts";
import { idBatch } from "../_support/arrow/mod.ts";
import { makeOperator, nkeyUser, passwordUsers, startNatsServer, tokenAuth } from "../_support/nats/mod.ts";
import { printings } from "../_support/config_errors.ts";
import { jetrow } from "../cli/_io.ts";

const PASSWORD = "pw-5up3rs3cr3t-pw";
const TOKEN = "tk-5up3rs3cr3t-tk";

/** Collects every string that a user could see, and searches all of them for secrets. */
class Witness {
  readonly strings: string[] = [];

  /** Adds all that can be printed of a value, including an error's causes and properties. */
  see(value: unknown): void {
    if (value instanceof Error) {
      const options = { depth: Infinity, showHidden: true, getters: true };
      this.strings.push(value.message, value.stack ?? "", inspect(value, options), Deno.inspect(value, options));
      this.strings.push(JSON.stringify(value), JSON.stringify({ ...value }));
      if (value.cause !== undefined) this.see(value.cause);
      return;
    }
    this.strings.push(...(typeof value === "object" && value !== null ? shown(value) : [String(value)]));
  }

  assertSilent(...secrets: readonly string[]): void {
    assert.ok(this.strings.length > 20, "something was looked at");
    for (const secret of secrets) {
      const told = this.strings.find((text) => text.includes(secret) || text.includes(encodeURIComponent(secret)));
      assert.equal(told, undefined);
    }
  }
}

/** What is printed of objects; a connection is the client's own and is left out. */
function shown(value: object): readonly string[] {
  const options = { depth: Infinity, showHidden: true, getters: true };
  return [String(value), JSON.stringify(value), inspect(value, options), Deno.inspect(value, options)];
}

async function everything(witness: Witness, config: SinkConfig, server: { reachable: boolean }): Promise<void> {
  for (const value of printings(config).slice(0, 3)) assert.equal(typeof value, "string");
  const dial = () => connect(config);
  if (!server.reachable) {
    witness.see(await failureOf(connect(config)));
    witness.see(await failureOf(Publisher.open(dial, config)));
    witness.see(await failureOf(openRun(dial, config)));
    witness.see(await failureOf(openSession(dial, config, "a")));
    witness.see(await failureOf(publishAll(dial, config, [], { budget: 50 })));
    return;
  }
  const publisher = await Publisher.open(dial, config);
  witness.see(publisher);
  witness.see(publisher.stats());
  witness.see(await publisher.publish({ resource: "eu", rows: idBatch(3) }));
  witness.see(await failureOf(publisher.publish({ resource: "a b", rows: idBatch(1) })));
  witness.see(
    await failureOf(publisher.publish({ resource: "eu", rows: idBatch(1) }, { signal: AbortSignal.abort() })),
  );
  await publisher.close();
  witness.see(await failureOf(publisher.publish({ resource: "eu", rows: idBatch(1) })));
  const run = await openRun(dial, config);
  witness.see(run);
  await run.apply({ resource: "eu", rows: idBatch(3) });
  witness.see(await run.commit());
  const session = await openSession(dial, config, "a");
  witness.see(session);
  await session.close();
  const nc = await dial();
  witness.see(await inspectDestination(nc, config, { resource: "eu" }));
  await nc.close();
}

Deno.test("a password is never printed, whether it is right or wrong", async () => {
  await using server = await startNatsServer({ config: passwordUsers({ username: "u", password: PASSWORD }) });
  const base = {
    url: server.url,
    authMode: "user_password",
    username: "u",
    stream: "ORDERS",
    subject: "orders.{resource}",
  } as const;
  const witness = new Witness();
  await everything(witness, { ...base, password: PASSWORD }, { reachable: true });
  await everything(witness, { ...base, password: `${PASSWORD}-wrong` }, { reachable: false });
  witness.assertSilent(PASSWORD);
});

Deno.test("a token is never printed, whether it is right or wrong", async () => {
  await using server = await startNatsServer({ config: tokenAuth(TOKEN) });
  const base = { url: server.url, authMode: "token", stream: "ORDERS", subject: "orders.{resource}" } as const;
  const witness = new Witness();
  await everything(witness, { ...base, token: TOKEN }, { reachable: true });
  await everything(witness, { ...base, token: `${TOKEN}-wrong` }, { reachable: false });
  witness.assertSilent(TOKEN);
});

Deno.test("a JWT and a seed are never printed, whether they are right, wrong or expired", async () => {
  const operator = await makeOperator();
  await using server = await startNatsServer({ config: operator.config });
  const base = { url: server.url, authMode: "jwt", stream: "ORDERS", subject: "orders.{resource}" } as const;
  const [user, other] = [await operator.user(), await operator.user()];
  const expired = await operator.user({ expiresIn: -10 });
  const witness = new Witness();
  await everything(witness, { ...base, jwt: user.jwt, nkeySeed: user.nkeySeed }, { reachable: true });
  await everything(witness, { ...base, jwt: user.jwt, nkeySeed: other.nkeySeed }, { reachable: false });
  await everything(witness, { ...base, jwt: expired.jwt, nkeySeed: expired.nkeySeed }, { reachable: false });
  // The last two bits of an encoded seed are unused: "A" and "B" would be the same seed.
  const cut = user.nkeySeed.slice(0, -1) + (user.nkeySeed.endsWith("A") ? "E" : "A");
  witness.see(await failureOf(connect({ ...base, jwt: user.jwt, nkeySeed: cut })));
  const secrets = [user, other, expired].flatMap(({ jwt, nkeySeed }) => [jwt, nkeySeed]);
  witness.assertSilent(...secrets, cut);
});

Deno.test("an nkey's seed is never printed, whether it is right or wrong", async () => {
  const [user, other] = [nkeyUser(), nkeyUser()];
  await using server = await startNatsServer({ config: user.config });
  const base = { url: server.url, authMode: "nkey", stream: "ORDERS", subject: "orders.{resource}" } as const;
  const witness = new Witness();
  await everything(witness, { ...base, nkeySeed: user.nkeySeed }, { reachable: true });
  await everything(witness, { ...base, nkeySeed: other.nkeySeed }, { reachable: false });
  witness.assertSilent(user.nkeySeed, other.nkeySeed);
});

Deno.test("errors about a document and its parsed form print none of its secrets", () => {
  const good = {
    url: "nats://localhost",
    auth_mode: "user_password",
    username: "u",
    password: PASSWORD,
    stream: "S",
    subject: "s.{resource}",
  };
  const bad: readonly Record<string, unknown>[] = [
    { ...good, passwort: PASSWORD },
    { ...good, [PASSWORD]: 1 },
    { ...good, token: TOKEN },
    { ...good, auth_mode: "token" },
    { ...good, password: [PASSWORD] },
    { ...good, password: { value: PASSWORD } },
    { ...good, url: `nats://u:${PASSWORD}@localhost` },
    { ...good, url: [`nats://${TOKEN}@localhost`] },
    { ...good, nkey_seed: PASSWORD },
    { ...good, auth_mode: "jwt", username: undefined, password: undefined, jwt: TOKEN, nkey_seed: PASSWORD },
    { ...good, tls: { key: PASSWORD } },
    { ...good, tls: { pasword: PASSWORD } },
  ];
  const witness = new Witness();
  for (const document of bad) {
    let thrown: unknown;
    try {
      parseConfig(document);
    } catch (error) {
      thrown = error;
    }
    // An unknown key may be shown, but no value.
    if (thrown !== undefined && !Object.hasOwn(document, PASSWORD)) witness.see(thrown);
  }
  const config = parseConfig(good);
  assert.equal(config.password, PASSWORD);
  for (const text of printings(config).filter((text) => !text.startsWith("url,"))) witness.strings.push(text);
  witness.assertSilent(PASSWORD, TOKEN);
});

Deno.test("the command prints no secret, whatever error occurs", async () => {
  await using server = await startNatsServer({ config: passwordUsers({ username: "u", password: PASSWORD }) });
  const witness = new Witness();
  const where = ["--url", server.url, "--stream", "ORDERS", "--subject", "orders.{resource}"];
  const user = ["--auth-mode", "user_password", "--username", "u"];
  const runs = [
    { args: ["publish", "none.arrow", ...where, ...user], env: { JETROW_PASSWORD: PASSWORD } },
    { args: ["publish", "none.arrow", ...where, ...user], env: { JETROW_PASSWORD: `${PASSWORD}x` } },
    { args: ["publish", "none.arrow", ...where, ...user, "--password", PASSWORD], env: {} },
    { args: ["publish", "none.arrow", ...where, `--password=${PASSWORD}`], env: {} },
    { args: ["publish", "none.arrow", ...where], env: { JETROW_PASSWORD: PASSWORD, JETROW_TOKEN: TOKEN } },
    { args: ["publish", "none.arrow", "--url", server.url.replace("//", `//u:${PASSWORD}@`)], env: {} },
    { args: ["publish", "-", ...where, ...user], env: { JETROW_PASSWORD: `${PASSWORD}x` } },
  ];
  for (const { args, env } of runs) {
    const { exitCode, out, err } = await jetrow(args, { env });
    assert.notEqual(exitCode, 0);
    witness.strings.push(out, err, out, err);
  }
  witness.assertSilent(PASSWORD, TOKEN);
});

Deno.test("a dial function's own error keeps its cause, and jetrow adds no secret to it", async () => {
  const own = new ConnectionError("connection.refused", "mine");
  const config = { url: "nats://127.0.0.1:1", authMode: "token", token: TOKEN, stream: "S", subject: "s" } as const;
  const witness = new Witness();
  for (const open of [Publisher.open, openRun]) {
    const error = await failureOf(open(() => Promise.reject(own), config));
    assert.equal(error, own);
    witness.see(error);
  }
  witness.see(await failureOf(connect(config)));
  for (let i = witness.strings.length; i <= 20; i++) witness.strings.push("");
  witness.assertSilent(TOKEN);
});
