import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { tableToIPC } from "apache-arrow";
import { connect } from "../../src/runtime/deno.ts";
import { demoTable } from "../_support/batches.ts";
import { startNatsServer } from "../_support/nats_server.ts";
import { storedIn } from "../_support/stored.ts";
import { bunProgram } from "../_support/runtimes.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): Promise<string> => readFile(new URL(path, root), "utf8");

for (const path of ["examples/load.ts", "examples/service.ts"]) {
  Deno.test(`README shows ${path} as it runs here, in less than 20 lines`, async () => {
    const code = (await read(path)).trim();
    assert.ok(code.split("\n").length < 20);
    assert.ok((await read("README.md")).includes(`\n${code}\n`), "the README has another text");
  });
}

Deno.test("the README's Deno script publishes an Arrow file", async () => {
  await using server = await startNatsServer();
  const file = `${server.folder}/orders.arrow`;
  await writeFile(file, tableToIPC(demoTable(1000), "stream"));
  const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
    args: ["run", "-A", "--no-lock", new URL("examples/load.ts", root).pathname, file, server.url],
  }).output();
  const text = new TextDecoder().decode(stdout);
  assert.equal(code, 0, new TextDecoder().decode(stderr));
  assert.match(text, /rows: 1000/);
  await using nc = await connect({ url: server.url });
  assert.equal((await storedIn(nc, "ORDERS")).length, 1000);
});

Deno.test("the README's Bun service answers with a receipt when every row is acknowledged", async () => {
  const bun = await bunProgram();
  if (bun === undefined) return;
  await using server = await startNatsServer();
  // Below the root, so that Bun finds node_modules; the package's own name stands for its sources here.
  const folder = await mkdtemp(new URL(".service-", root).pathname);
  try {
    const code = (await read("examples/service.ts")).replaceAll("@jetrow/jetrow/bun", "../src/runtime/bun.ts");
    await writeFile(`${folder}/service.ts`, code);
    const env = { ...Deno.env.toObject(), NATS_URL: server.url, PORT: "0" };
    const service = spawn(bun, [`${folder}/service.ts`], { env, stdio: ["ignore", "pipe", "inherit"] });
    try {
      const [line] = await once(createInterface(service.stdout), "line") as [string];
      const url = /http\S+/.exec(line)![0];
      const body = JSON.stringify([{ page: "/", ms: 12 }, { page: "/a", ms: 7 }]);
      const answer = await fetch(new URL("clicks", url), { method: "POST", body });
      const receipt = await answer.json();
      assert.deepEqual([answer.status, receipt.rows, receipt.uri], [200, 2, "nats://EVENTS/clicks"]);
      await using nc = await connect({ url: server.url });
      assert.deepEqual((await storedIn(nc, "EVENTS")).map(({ body }) => body), [
        '{"page":"/","ms":12}',
        '{"page":"/a","ms":7}',
      ]);
    } finally {
      service.kill();
      await once(service, "exit");
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
