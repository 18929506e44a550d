import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import { promisify } from "node:util";
import { jetstream } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import {
  freePorts,
  managerOf,
  natsServerBinary,
  PortTaken,
  ServerProcess,
  startNatsServer,
} from "../_support/nats/mod.ts";
import { until } from "../_support/wait.ts";

const SERVER_MODULE = JSON.stringify(import.meta.resolve("../_support/nats/server.ts"));

/** Whether a process exists and is not a zombie. */
async function lives(pid: number): Promise<boolean> {
  try {
    const { stdout } = await promisify(execFile)("ps", ["-o", "stat=", "-p", String(pid)]);
    return !stdout.trim().startsWith("Z");
  } catch {
    return false;
  }
}

Deno.test("startNatsServer() starts a server with JetStream whose store survives kill, stop and restart", async () => {
  await using server = await startNatsServer();
  const before = server.pid;
  {
    await using nc = await connect({ servers: server.url });
    assert.equal(nc.info?.version, server.version);
    await (await managerOf(nc)).streams.add({ name: "KEPT", subjects: ["kept"] });
    await jetstream(nc).publish("kept", "one");
  }
  await server.kill();
  assert.equal(server.running(), false);
  await server.restart();
  await server.stop();
  assert.match(server.log(), /Server Exiting/);
  const url = server.url;
  await server.restart();
  assert.notEqual(server.pid, before);
  assert.equal(server.url, url);
  assert(existsSync(`${server.storeDir}/jetstream`));
  await using nc = await connect({ servers: server.url });
  assert.equal((await (await managerOf(nc)).streams.info("KEPT")).state.messages, 1);
});

Deno.test("startNatsServer() leaves no process and no folder when its block is left by an error", async () => {
  let pid = 0;
  let folder = "";
  await assert.rejects(async () => {
    await using server = await startNatsServer();
    ({ pid, folder } = server);
    await server.pause();
    throw new Error("a test fails");
  }, /a test fails/);
  assert.equal(await lives(pid), false);
  assert.equal(existsSync(folder), false);
});

Deno.test("startNatsServer() leaves no process and no folder when its parent is killed", async () => {
  const script = `
    import { startNatsServer } from ${SERVER_MODULE};
    const server = await startNatsServer();
    console.log(JSON.stringify({ pid: server.pid, folder: server.folder }));
    await new Promise((resolve) => setTimeout(resolve, 60_000));`;
  for (const signal of ["SIGKILL", "SIGINT"] as const) {
    const parent = new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", "--ext=ts", "-"],
      stdin: "piped",
      stdout: "piped",
    }).spawn();
    const input = parent.stdin.getWriter();
    await input.write(new TextEncoder().encode(script));
    await input.close();
    const output = parent.stdout.getReader();
    const { value } = await output.read();
    const { pid, folder } = JSON.parse(new TextDecoder().decode(value));
    assert(await lives(pid) && existsSync(folder));
    parent.kill(signal);
    await parent.status;
    await output.cancel();
    await until(`the server to end after ${signal}`, async () => !await lives(pid) && !existsSync(folder));
  }
});

Deno.test("startNatsServer() shows the log when the server refuses its configuration", async () => {
  await assert.rejects(
    startNatsServer({ config: "no_such_option: 1" }),
    /jetrow-\w+ ended: [^]*log: .*\.log[^]*no_such_option/,
  );
});

Deno.test("startNatsServer() keeps the logs of all servers with JETROW_KEEP_LOGS", async () => {
  const cache = await Deno.makeTempDir();
  try {
    const { code } = await new Deno.Command(Deno.execPath(), {
      args: [
        "eval",
        "--no-lock",
        `import { startNatsServer } from ${SERVER_MODULE}; await using _ = await startNatsServer();`,
      ],
      env: { NATS_SERVER: await natsServerBinary(), JETROW_CACHE: cache, JETROW_KEEP_LOGS: "1" },
    }).output();
    assert.equal(code, 0);
    const logs = [...Deno.readDirSync(`${cache}/logs`)];
    assert.equal(logs.length, 1);
    assert.match(Deno.readTextFileSync(`${cache}/logs/${logs[0]!.name}`), /Server is ready/);
  } finally {
    await Deno.remove(cache, { recursive: true });
  }
});

Deno.test("startNatsServer() uses other ports when another process binds one first", async () => {
  await using first = await startNatsServer({ name: "first" });
  const [monitor, websocket, cluster] = await freePorts(3) as [number, number, number];
  const client = Number(new URL(first.url).port);
  const second = new ServerProcess({
    binary: await natsServerBinary(),
    name: "second",
    ports: { client, monitor, websocket, cluster },
    config: {},
  });
  await assert.rejects(second.restart(), PortTaken);
  await second[Symbol.asyncDispose]();
  assert.equal(existsSync(second.folder), false);
});
