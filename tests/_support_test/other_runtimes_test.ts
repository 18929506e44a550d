import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { natsServerBinary } from "../_support/nats/mod.ts";
import { bunProgram, nodeProgram } from "../_support/runtimes.ts";

const SCRIPT = `
  const { startNatsServer } = await import(${JSON.stringify(new URL("../_support/nats/server.ts", import.meta.url))});
  const { startTcpProxy } = await import(${JSON.stringify(new URL("../_support/nats/tcp_proxy.ts", import.meta.url))});
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

/** Node runs TypeScript from 22.18 on. */
const RUNTIMES = [
  { name: "Bun", program: await bunProgram(), args: ["-e", SCRIPT] },
  { name: "Node", program: await nodeProgram(), args: ["--input-type=module", "-e", SCRIPT] },
];

for (const { name, program, args } of RUNTIMES) {
  Deno.test({
    name: `startNatsServer() and startTcpProxy() work on ${name}`,
    ignore: program === undefined,
    fn: async () => {
      const env = { NATS_SERVER: await natsServerBinary() };
      const { code, stdout, stderr } = await new Deno.Command(program!, { args, env }).output();
      assert.equal(code, 0, new TextDecoder().decode(stderr));
      const { folder, ...out } = JSON.parse(new TextDecoder().decode(stdout));
      assert.equal(existsSync(folder), false);
      assert.deepEqual({ ...out, version: typeof out.version }, { version: "string", info: "INFO", cut: "ECONNRESET" });
    },
  });
}
