import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { fileURLToPath } from "node:url";
import { Int32, Table, tableToIPC, Utf8, vectorFromArray } from "apache-arrow";
import { connect } from "../../src/runtime/deno.ts";
import { api, createStream, startNatsServer, storedIn } from "../_support/nats/mod.ts";
import { demoTable } from "../_support/arrow/mod.ts";
import { bunProgram } from "../_support/runtimes.ts";
import { start } from "./_program.ts";

const root = new URL("../../", import.meta.url);
const read = (path: string): Promise<string> => readFile(new URL(path, root), "utf8");

for (const [page, path] of [["README.md", "examples/load.ts"], ["docs/guide.md", "examples/service.ts"]] as const) {
  Deno.test(`${page} shows ${path} as it is in the repository, in less than 20 lines`, async () => {
    const code = (await read(path)).trim();
    assert.ok(code.split("\n").length < 20);
    assert.ok((await read(page)).includes(`\n${code}\n`), `${page} differs from ${path}`);
  });
}

Deno.test("the README's Deno script publishes Arrow streams and files, compressed or not", async () => {
  await using server = await startNatsServer();
  const plain = `${server.folder}/orders.arrow`;
  await writeFile(plain, tableToIPC(demoTable(1000), "stream"));
  const inputs = new URL("../_testdata/inputs/", import.meta.url);
  const compressed = (name: string): string => fileURLToPath(new URL(name, inputs));
  const files: readonly (readonly [string, number])[] = [
    [plain, 1000],
    [compressed("pyarrow_lz4.feather"), 300],
    [compressed("pyarrow_zstd.feather"), 300],
    [compressed("polars_lz4.arrow"), 120],
  ];
  for (const [file, rows] of files) {
    const { code, stdout, stderr } = await new Deno.Command(Deno.execPath(), {
      args: ["run", "-A", "--no-lock", new URL("examples/load.ts", root).pathname, file, server.url],
    }).output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    assert.match(new TextDecoder().decode(stdout), new RegExp(`rows: ${rows}\\b`));
  }
  await using nc = await connect({ url: server.url });
  assert.equal((await storedIn(nc, "ORDERS")).length, 1720);
});

Deno.test("the README's script with its second config publishes each row to a subject of its own, once", async () => {
  const [, block] = /^```ts ignore\n(const config = .*?\n)```$/ms.exec(await read("README.md"))!;
  const script = (await read("examples/load.ts")).replace(/^const config = .*\n/m, block!);
  await using server = await startNatsServer();
  const file = `${server.folder}/orders.arrow`;
  const ints = (values: number[]) => vectorFromArray(values, new Int32());
  const region = vectorFromArray(["eu", "us", "eu"], new Utf8());
  const table = new Table({ id: ints([7, 8, 7]), version: ints([1, 1, 2]), region });
  await writeFile(file, tableToIPC(table, "file"));
  for (const duplicates of [0, 3]) {
    const args = ["run", "--check", "-A", "--no-lock", "--ext=ts", "-", file, server.url];
    const piped = { stdin: "piped", stdout: "piped", stderr: "piped" } as const;
    const child = new Deno.Command(Deno.execPath(), { args, cwd: root, ...piped }).spawn();
    await new Response(script).body!.pipeTo(child.stdin);
    const { code, stdout, stderr } = await child.output();
    assert.equal(code, 0, new TextDecoder().decode(stderr));
    assert.match(new TextDecoder().decode(stdout), new RegExp(`duplicates: ${duplicates}\\b`));
  }
  await using nc = await connect({ url: server.url });
  const stored = await storedIn(nc, "ORDERS");
  assert.deepEqual(stored.map(({ subject, body, headers }) => [subject, body, new Map(headers).get("X-Region")]), [
    ["orders.eu.7", '{"id":7,"version":1}', "eu"],
    ["orders.us.8", '{"id":8,"version":1}', "us"],
    ["orders.eu.7", '{"id":7,"version":2}', "eu"],
  ]);
});

Deno.test("the guide's Bun service answers with a receipt when every row is acknowledged", async () => {
  const bun = await bunProgram();
  if (bun === undefined) return;
  await using server = await startNatsServer();
  await using service = start([bun, fileURLToPath(new URL("examples/service.ts", root))], {
    env: { NATS_URL: server.url, PORT: "0" },
  });
  const [url] = await service.line(/http\S+/);
  const body = JSON.stringify([{ page: "/", ms: 12 }, { page: "/a", ms: 7 }]);
  const answer = await fetch(new URL("clicks", url), { method: "POST", body });
  const receipt = await answer.json();
  assert.deepEqual([answer.status, receipt.rows, receipt.uri], [200, 2, "nats://EVENTS/clicks"]);
  await using nc = await connect({ url: server.url });
  assert.deepEqual((await storedIn(nc, "EVENTS")).map(({ body }) => body), [
    '{"page":"/","ms":12,"at":null}',
    '{"page":"/a","ms":7,"at":null}',
  ]);
});

Deno.test("the guide's Bun service stores null for missing values, and answers 400 for values that do not fit", async () => {
  const bun = await bunProgram();
  if (bun === undefined) return;
  await using server = await startNatsServer();
  await using service = start([bun, fileURLToPath(new URL("examples/service.ts", root))], {
    env: { NATS_URL: server.url, PORT: "0" },
  });
  const [url] = await service.line(/http\S+/);
  const post = async (body: string, path = "clicks"): Promise<[number, string | undefined]> => {
    const answer = await fetch(new URL(path, url), { method: "POST", body });
    const { code, message } = await answer.json();
    return [answer.status, code === undefined || code === "" ? undefined : `${code}: ${message}`];
  };
  const refused = 'encode.value: Cannot encode column "page" in row 1: expected a string: received 5';
  assert.deepEqual(await post('[{"page":"x"},{"page":5}]'), [400, refused]);
  for (const body of ["{}", "null", "[1]", "[[]]", '[{"page":{"a":1}}]', '[{"more":1}]', '[{"ms":1.5}]', "[{"]) {
    assert.equal((await post(body))[0], 400, body);
  }
  const notRows = "encode.value: Cannot encode rows: expected an array of objects: received an object";
  assert.deepEqual(await post("{}"), [400, notRows]);
  for (const path of ["", "a*b"]) assert.equal((await post('[{"page":"x"}]', path))[0], 400, path);
  assert.equal((await post('[{"page":"x"},{"ms":7,"page":null},{}]'))[0], 200);
  await using nc = await connect({ url: server.url });
  const NULLS = [
    '{"page":"x","ms":null,"at":null}',
    '{"page":null,"ms":7,"at":null}',
    '{"page":null,"ms":null,"at":null}',
  ];
  assert.deepEqual((await storedIn(nc, "EVENTS")).map(({ body }) => body), NULLS);
});

Deno.test("the guide's Bun service answers 503 without a server, and continues when the server is back", async () => {
  const bun = await bunProgram();
  if (bun === undefined) return;
  await using server = await startNatsServer();
  await using service = start([bun, fileURLToPath(new URL("examples/service.ts", root))], {
    env: { NATS_URL: server.url, PORT: "0" },
  });
  const [url] = await service.line(/http\S+/);
  const post = async (): Promise<[number, string]> => {
    const body = JSON.stringify([{ page: "/" }]);
    const answer = await fetch(new URL("clicks", url), { method: "POST", body });
    const { code, rows } = await answer.json();
    return [answer.status, code ?? `${rows} rows`];
  };
  assert.deepEqual(await post(), [200, "1 rows"]);
  const wrong = await fetch(new URL("clicks", url), { method: "POST", body: "[" });
  await wrong.body?.cancel();
  assert.equal(wrong.status, 400, "invalid JSON is the client's fault");
  await server.stop();
  const [status, code] = await post(); // over the lost connection, or over none if the loss was already noticed
  assert.equal(status, 503);
  assert.match(code, /^(?:publish\.disconnected|connection\.refused)$/);
  assert.deepEqual(await post(), [503, "connection.refused"]);
  await server.restart();
  assert.deepEqual(await post(), [200, "1 rows"]);
});

Deno.test("the guide's Bun service opens a stream again after the stream was fixed", async () => {
  const bun = await bunProgram();
  if (bun === undefined) return;
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "EVENTS", subjects: ["other"] });
  await using service = start([bun, fileURLToPath(new URL("examples/service.ts", root))], {
    env: { NATS_URL: server.url, PORT: "0" },
  });
  const [url] = await service.line(/http\S+/);
  const post = async (): Promise<number> => {
    const answer = await fetch(new URL("clicks", url), { method: "POST", body: '[{"page":"/"}]' });
    await answer.body?.cancel();
    return answer.status;
  };
  assert.equal(await post(), 503);
  await api(nc, "STREAM.UPDATE.EVENTS", { name: "EVENTS", subjects: ["events.>"] });
  assert.equal(await post(), 200);
});
