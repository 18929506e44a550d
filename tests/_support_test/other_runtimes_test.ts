import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { natsServerBinary } from "../_support/nats_binary.ts";
import { printSkip } from "../_support/skip.ts";
import { compareVersions } from "../_support/versions.ts";

const SCRIPT = `
  const { startNatsServer } = await import(${JSON.stringify(new URL("../_support/nats_server.ts", import.meta.url))});
  const { startTcpProxy } = await import(${JSON.stringify(new URL("../_support/tcp_proxy.ts", import.meta.url))});
  const { connect } = await import("node:net");
  const server = await startNatsServer();
  await server.kill();
  await server.restart();
  const proxy = await startTcpProxy(server.url);
  const socket = connect(Number(new URL(proxy.url).port), "127.0.0.1");
  const info = await new Promise((resolve) => socket.once("data", (bytes) => resolve(String(bytes))));
  const cut = new Promise((resolve) => socket.once("error", (error) => resolve(error.code)));
  proxy.cut();
  const out = { version: server.version, info: info.slice(0, 4), cut: await cut, folder: server.folder };
  await proxy[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  console.log(JSON.stringify(out));`;

/** From 22.18 on Node runs TypeScript. */
const RUNTIMES = [
  { name: "bun", minimum: "1.2.0", args: ["-e", SCRIPT] },
  { name: "node", minimum: "22.18.0", args: ["--input-type=module", "-e", SCRIPT] },
];

for (const { name, minimum, args } of RUNTIMES) {
  Deno.test({
    name: `startNatsServer() and startTcpProxy() work on ${name}`,
    ignore: missing(name, minimum),
    fn: async () => {
      const env = { NATS_SERVER: await natsServerBinary() };
      const { code, stdout, stderr } = await new Deno.Command(name, { args, env }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      const { folder, ...out } = JSON.parse(new TextDecoder().decode(stdout));
      assert.equal(existsSync(folder), false);
      assert.deepEqual({ ...out, version: typeof out.version }, { version: "string", info: "INFO", cut: "ECONNRESET" });
    },
  });
}

function missing(name: string, minimum: string): boolean {
  const { error, stdout } = spawnSync(name, ["--version"], { encoding: "utf8" });
  const version = error === undefined ? stdout.trim().replace(/^v/, "") : undefined;
  if (version !== undefined && compareVersions(version, minimum) >= 0) return false;
  printSkip(
    `test support on ${name}`,
    version === undefined ? `there is no ${name}` : `${name} is ${version}, needs ${minimum}`,
  );
  return true;
}
