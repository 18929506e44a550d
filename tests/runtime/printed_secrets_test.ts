import { Publisher } from "../../src/publish/publisher.ts";
import { openRun } from "../../src/lifecycle/run.ts";
import { openSession } from "../../src/lifecycle/session.ts";
import { makeCertificates, opensslMissing, passwordUsers, startNatsServer } from "../_support/nats/mod.ts";
import { assertSecretless, connect } from "./_dialling.ts";

const PASSWORD = "pw-4hq0zr8kk";

Deno.test({
  name: "a publisher, a run and a session are printed without password and key",
  ignore: opensslMissing("a client's key in what is printed"),
  async fn(t) {
    const { ca, server: certificate, client } = await makeCertificates();
    const users = passwordUsers({ username: "loader", password: PASSWORD });
    const tls = { ...certificate, ca, verify: true };
    await using server = await startNatsServer({ tls, config: users });
    const config = {
      url: server.url,
      authMode: "user_password",
      username: "loader",
      password: PASSWORD,
      tls: { ca, ...client },
      stream: "PRINTED",
      subject: "printed.{resource}",
    } as const;
    const opened: Record<string, () => Promise<object>> = {
      publisher: () => Publisher.open(() => connect(config), config),
      run: () => openRun(() => connect(config), config),
      session: () => openSession(() => connect(config), config, "a"),
    };
    for (const [name, open] of Object.entries(opened)) {
      await t.step(name, async () => {
        const object = await open() as { close?(): Promise<void>; abort?(): Promise<unknown> };
        assertSecretless(object, [PASSWORD, client.key]);
        await (object.close ?? object.abort)?.call(object);
      });
    }
  },
});
