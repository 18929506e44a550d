import { tableFromArrays, tableToIPC } from "apache-arrow";
import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connect } from "../../../src/runtime/deno.ts";
import { api, type NatsServer, startNatsServer } from "../../_support/nats/mod.ts";
import { finished } from "../_journal.ts";
import { jetrow, onTerminal, type Said, shell } from "../_io.ts";

const folder = mkdtempSync(join(tmpdir(), "jetrow-verify-"));
addEventListener("unload", () => rmSync(folder, { recursive: true }));

function written(name: string, content: string | Uint8Array): string {
  const path = join(folder, name);
  writeFileSync(path, content);
  return path;
}

const orders = written(
  "orders.arrow",
  tableToIPC(tableFromArrays({ id: Int32Array.from({ length: 1000 }, (_, i) => i) }), "file"),
);

function publish(server: NatsServer, ...more: string[]): Promise<Said> {
  const where = ["--url", server.url, "--stream", "ORDERS", "--subject", "orders.{resource}"];
  return jetrow(["publish", orders, ...where, "--batch-rows", "300", ...more]);
}

const linesOf = (out: string) => out.trimEnd().split("\n").map((line) => JSON.parse(line));

Deno.test("verify finds every row of publish's output, from a file, standard input and a pipe", async () => {
  await using server = await startNatsServer();
  const { out: receipts } = await publish(server);
  const file = written("good.jsonl", receipts);
  const { exitCode, out, err } = await jetrow(["verify", file, "--url", server.url]);
  assert.equal(exitCode, 0, err);
  assert.deepEqual(
    linesOf(out).map(({ ok, rows, offset, missing }) => [ok, rows, offset, missing]),
    [[true, 300, 0, 0], [true, 300, 300, 0], [true, 300, 600, 0], [true, 100, 900, 0]],
  );
  assert.equal(err, "verified 1,000 rows of 4 receipts: all are there as published\n");
  const where = `--url ${server.url} --stream ORDERS --subject 'orders.{resource}'`;
  const piped = await shell(
    `$JETROW publish ${orders} ${where} | tee ${folder}/tee.jsonl | $JETROW verify - --url ${server.url}`,
  );
  assert.equal(piped.exitCode, 0, piped.err);
  assert.equal(linesOf(piped.out)[0].ok, true);
});

Deno.test("verify exits with 1 if rows are missing, and names their receipt", async () => {
  await using server = await startNatsServer();
  const { out: receipts } = await publish(server);
  const file = written("missing.jsonl", receipts);
  await using nc = await connect({ url: server.url });
  await api(nc, "STREAM.MSG.DELETE.ORDERS", { seq: 450 });
  const { exitCode, out, err } = await jetrow(["verify", file, "--url", server.url]);
  assert.equal(exitCode, 1);
  assert.deepEqual(linesOf(out).map(({ ok, missing }) => [ok, missing]), [[true, 0], [false, 1], [true, 0], [true, 0]]);
  assert.match(err, /1,000 rows of 4 receipts back: 1 receipt failed\n$/);
  const shown = await onTerminal(["verify", file, "--url", server.url]);
  if (shown === undefined) return;
  assert.equal(shown.exitCode, 1);
  assert.match(shown.screen, /ok {6}nats:\/\/ORDERS\/orders {2}batch 0, offset 0: 300 rows\r\n/);
  assert.match(shown.screen, /FAILED {2}nats:\/\/ORDERS\/orders {2}batch 0, offset 300: 300 rows: 1 row missing\r\n/);
});

Deno.test("verify distinguishes changed content, a missing stream and a receipt without sequences", async () => {
  await using server = await startNatsServer();
  const [receipt] = linesOf((await publish(server)).out);
  const others = [
    receipt,
    { ...receipt, crc32c: receipt.crc32c ^ 1 },
    { ...receipt, stream: "GONE", uri: "nats://GONE/orders" },
    { ...receipt, sequences: undefined },
  ];
  const file = written("others.jsonl", others.map((line) => JSON.stringify(line)).join("\n"));
  const { exitCode, out, err } = await jetrow(["verify", file, "--url", server.url, "--format", "table"]);
  assert.equal(exitCode, 1, err);
  const words = [
    /^ok /,
    /^FAILED .*: the content is not/,
    /^FAILED .*GONE.*stream not found/,
    /^FAILED .*no sequences/,
  ];
  out.trimEnd().split("\n").forEach((line, i) => assert.match(line, words[i]!));
  assert.match(err, /^jetrow: read 1,200 rows of 4 receipts back: 3 receipts failed\n$/);
});

Deno.test("verify names a receipt without batch and offset by its line", async () => {
  await using server = await startNatsServer();
  const [{ uri: _uri, batch: _batch, offset: _offset, ...bare }] = linesOf((await publish(server)).out);
  const file = written("bare.jsonl", JSON.stringify(bare));
  const { exitCode, out, err } = await jetrow(["verify", file, "--url", server.url, "--format", "table"]);
  assert.equal(exitCode, 0, err);
  assert.equal(out, `ok      ORDERS  ${file}, line 1: 300 rows\n`);
});

Deno.test("verify reads only the receipts of a journal, and skips its incomplete last line", async () => {
  await using server = await startNatsServer();
  const [first, second] = linesOf((await publish(server)).out);
  const lines = [{ kind: "run" }, { kind: "begin" }, { kind: "receipt", ...first }, { kind: "receipt", ...second }];
  const file = written("journal.jsonl", lines.map((line) => `${JSON.stringify(line)}\n`).join("") + '{"kind":"beg');
  const { exitCode, out, err } = await jetrow(["verify", file, "--url", server.url]);
  assert.equal(exitCode, 0, err);
  assert.equal(linesOf(out).length, 2);
  assert.match(err, /journal\.jsonl, line 5 is incomplete: skipped\n/);
});

Deno.test("verify reports a journal that was edited, with the line", async () => {
  await using scene = await finished();
  scene.write(scene.text().replace('"resource":"orders","stream"', '"resource":"others","stream"'));
  const { exitCode, err } = await jetrow(["verify", scene.journal, "--url", scene.server.url]);
  assert.equal(exitCode, 1, err);
  assert.match(err, /orders\.journal, line 1: the journal was edited after it was written/);
});

Deno.test("verify refuses what is not a receipt, by file and line", async () => {
  await using server = await startNatsServer();
  const [receipt] = linesOf((await publish(server)).out);
  const good = JSON.stringify(receipt);
  for (
    const [name, content, exitCode, words] of [
      ["text", "hello\n", 1, /text, line 1: not a receipt: it is not a JSON object/],
      ["list", `${good}\n[]\n`, 1, /list, line 2: not a receipt/],
      [
        "rows",
        `${good}\n\n${JSON.stringify({ ...receipt, rows: "many" })}\n`,
        1,
        /rows, line 3: receipt's rows must be/,
      ],
      ["empty", "\n", 1, /empty: no receipt to verify/],
    ] as const
  ) {
    const said = await jetrow(["verify", written(name, content), "--url", server.url]);
    assert.equal(said.exitCode, exitCode, said.err);
    assert.match(said.err, words);
  }
  const missing = await jetrow(["verify", join(folder, "nothing"), "--url", server.url]);
  assert.deepEqual([missing.exitCode, missing.err], [1, `jetrow: ${folder}/nothing cannot be read: no such file\n`]);
  const nothing = await jetrow(["verify", "-", "--url", server.url]);
  assert.deepEqual([nothing.exitCode, nothing.err], [1, "jetrow: standard input: no receipt to verify\n"]);
  const directory = await jetrow(["verify", folder, "--url", server.url]);
  assert.deepEqual([directory.exitCode, directory.err], [
    1,
    `jetrow: ${folder} cannot be read: it is a directory\n`,
  ]);
  assert.match((await jetrow(["verify"])).err, /^jetrow: verify needs a RECEIPT/);
  assert.match((await jetrow(["verify", "x", "--stream", "S"])).err, /^jetrow: unknown option --stream/);
  assert.equal(
    (await jetrow(["verify", "x"])).err,
    "jetrow: config.missing: --url is required. Set --url, --context or NATS_URL.\n",
  );
  assert.match((await jetrow(["verify", "--help"])).out, /^jetrow verify RECEIPT/);
});
