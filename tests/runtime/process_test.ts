import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { makeCertificates, opensslMissing, startNatsServer, tokenAuth } from "../_support/nats/mod.ts";
import { bundle } from "../_support/bundle.ts";
import { bunProgram, node22Program } from "../_support/runtimes.ts";
import { deadPort } from "./_dialling.ts";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));
const bun = await bunProgram();
const node = await node22Program();

interface Ended {
  readonly code: number | null;
  readonly out: string;
  readonly err: string;
}

function run(command: readonly string[], env: Record<string, string> = {}): Promise<Ended> {
  const [program, ...args] = command;
  const child = spawn(program!, args, {
    cwd: ROOT,
    stdio: ["ignore", "pipe", "pipe"],
    env: { ...Deno.env.toObject(), ...env },
  });
  let [out, err] = ["", ""];
  child.stdout.on("data", (text) => out += text);
  child.stderr.on("data", (text) => err += text);
  return new Promise((resolve) => child.on("close", (code) => resolve({ code, out, err })));
}

/** Writes a program, calls `use` with its path, and removes it. */
async function withProgram<T>(
  lines: readonly string[],
  use: (program: string, folder: string) => Promise<T>,
): Promise<T> {
  mkdirSync(join(ROOT, ".cache"), { recursive: true });
  const folder = mkdtempSync(join(ROOT, ".cache/program-"));
  try {
    const program = join(folder, "program.ts");
    writeFileSync(program, lines.join("\n"));
    return await use(program, folder);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function checkRefusals(
  runtime: string,
  toCommand: (program: string) => Promise<readonly string[]>,
): Promise<void> {
  await using server = await startNatsServer({ jetstream: false, config: tokenAuth("right-6d0m4q") });
  const lines = [
    `import { connect } from "${ROOT}/src/runtime/${runtime}.ts";`,
    `import { countRefusals } from "${ROOT}/tests/runtime/_refusals.ts";`,
    `await countRefusals(connect, "${server.url}", "${await deadPort()}");`,
  ];
  await withProgram(lines, async (program) => {
    const { code, out, err } = await run(await toCommand(program));
    assert.equal(code, 0, err);
    assert.deepEqual(JSON.parse(out), { "connection.auth": 60, "connection.refused": 60 });
    assert.doesNotMatch(err + out, /uncaught|unhandled|7s1cr3t/i);
  });
}

/** The runtime decides which authorities a WebSocket trusts: an environment variable names the test's. */
async function checkSecureWebSocket(runtime: string, variable: string, command: readonly string[]): Promise<void> {
  const { ca, server: certificate } = await makeCertificates();
  await using server = await startNatsServer({ jetstream: false, tls: certificate, websocket: true });
  const lines = [
    `import { connect } from "${ROOT}/src/runtime/${runtime}.ts";`,
    `const nc = await connect({ url: "${server.wsUrl}" });`,
    `await nc.flush();`,
    `console.log(nc.getServer());`,
    `await nc.close();`,
  ];
  await withProgram(lines, async (program, folder) => {
    const path = join(folder, "ca.crt");
    writeFileSync(path, ca);
    const { code, out, err } = await run([...command, program], { [variable]: path });
    assert.equal(code, 0, err);
    assert.equal(out.trim(), server.wsUrl.slice("wss://".length));
  });
}

const onNode = (program: string) => Promise.resolve([node!, bundle(program, program.replace(".ts", ".mjs"))]);
const onBun = (program: string) => Promise.resolve([bun!, program]);

Deno.test("connect() that is refused many times never crashes a Deno process", async () => {
  await checkRefusals("deno", (program) => Promise.resolve([Deno.execPath(), "run", "-A", "--no-lock", program]));
});

Deno.test({
  name: "connect() that is refused many times never crashes a Bun process",
  ignore: bun === undefined,
  fn: () => checkRefusals("bun", onBun),
});

Deno.test({
  name: "connect() that is refused many times never crashes a Node process",
  ignore: node === undefined,
  fn: () => checkRefusals("node", onNode),
});

const noCertificates = opensslMissing("connect() by wss://");

Deno.test({
  name: "connect() by wss:// on Deno trusts the authorities that Deno trusts",
  ignore: noCertificates,
  fn: () => checkSecureWebSocket("deno", "DENO_CERT", [Deno.execPath(), "run", "-A", "--no-lock"]),
});

Deno.test({
  name: "connect() by wss:// on Bun trusts the authorities that Bun trusts",
  ignore: noCertificates || bun === undefined,
  fn: () => checkSecureWebSocket("bun", "NODE_EXTRA_CA_CERTS", [bun!]),
});

/** Dials an IP address that the certificate names, and one of a certificate that names only a host. */
async function checkAddresses(
  runtime: string,
  toCommand: (program: string) => Promise<readonly string[]>,
): Promise<void> {
  const [address, name] = [
    await makeCertificates({ hosts: ["127.0.0.1"] }),
    await makeCertificates({ hosts: ["localhost"] }),
  ];
  await using right = await startNatsServer({ jetstream: false, tls: address.server });
  await using wrong = await startNatsServer({ jetstream: false, tls: name.server });
  const dials = [[right.url, address.ca], [wrong.url, name.ca]].map(([url, ca]) => ({
    url: url!.replace("nats:", "tls:"),
    tls: { ca },
  }));
  const lines = [
    `import { connect } from "${ROOT}/src/runtime/${runtime}.ts";`,
    `for (const config of ${JSON.stringify(dials)}) {`,
    `  console.log(await connect(config).then((nc) => nc.close().then(() => "connected"), ({ code }) => code));`,
    `}`,
  ];
  await withProgram(lines, async (program) => {
    const { code, out, err } = await run(await toCommand(program));
    assert.equal(code, 0, err);
    assert.equal(out, "connected\nconnection.tls\n");
  });
}

Deno.test({
  name: "connect() to an IP address on Deno needs only the network permission",
  ignore: noCertificates,
  fn: () =>
    checkAddresses("deno", (program) => {
      return Promise.resolve([Deno.execPath(), "run", "--allow-net", "--no-prompt", "--no-lock", program]);
    }),
});

Deno.test({
  name: "connect() to an IP address on Bun requires that address in the certificate",
  ignore: noCertificates || bun === undefined,
  fn: () => checkAddresses("bun", onBun),
});

Deno.test({
  name: "connect() to an IP address on Node requires that address in the certificate",
  ignore: noCertificates || node === undefined,
  fn: () => checkAddresses("node", onNode),
});

Deno.test({
  name: "a connection with a client key is printed without the key on Bun and Node",
  ignore: noCertificates || bun === undefined || node === undefined,
  async fn() {
    const { ca, server: { cert, key }, client } = await makeCertificates();
    await using server = await startNatsServer({ jetstream: false, tls: { cert, key, ca, verify: true } });
    for (const runtime of ["bun", "node"]) {
      const lines = [
        `import { connect } from "${ROOT}/src/runtime/${runtime}.ts";`,
        `import { inspect } from "node:util";`,
        `const nc = await connect(${JSON.stringify({ url: server.url, tls: { ca, ...client } })});`,
        `console.log(nc, inspect(nc, { depth: 12, showHidden: true }), JSON.stringify(nc), String(nc), [nc]);`,
        `await nc.close();`,
      ];
      await withProgram(lines, async (program) => {
        const { code, out, err } = await run(await (runtime === "bun" ? onBun : onNode)(program));
        assert.equal(code, 0, err);
        assert.ok(out.includes("NatsConnection") && out.length < 500, out);
        for (const line of client.key.split("\n")) {
          assert.ok(line.length < 30 || !out.includes(line), "the key is shown");
        }
      });
    }
  },
});
