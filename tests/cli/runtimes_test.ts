/** The command on Bun and on Node, as a process of its own. */

import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { makeOperator, startNatsServer } from "../_support/nats/mod.ts";
import { bundle } from "../_support/bundle.ts";
import { bunProgram, node22Program } from "../_support/runtimes.ts";
import { Files } from "./_files.ts";
import { ROOT, shell } from "./_io.ts";
import { idColumns } from "./_journal.ts";
import { Contexts } from "./options/_contexts.ts";

const INPUTS = join(ROOT, "tests/_testdata/inputs");

const bun = await bunProgram();
const node = await node22Program();

async function checkInputs(command: string): Promise<void> {
  await using server = await startNatsServer();
  const where = `--url ${server.url} --stream ROWS --subject 'rows.{resource}'`;
  const run = (input: string) => shell(`${command} publish ${input} ${where}`);
  const files = ["pyarrow_lz4.feather", "pyarrow_zstd.arrows", "pyarrow.parquet", "polars.arrow"];
  const all = await run(files.map((name) => join(INPUTS, name)).join(" "));
  assert.equal(all.exitCode, 0, all.err);
  const receipts: { rows: number; resource: string; crc32c: number }[] = all.out.trimEnd().split("\n")
    .map((line) => JSON.parse(line));
  const rowsOf = (name: string) =>
    receipts.filter(({ resource }) => resource === name).reduce((sum, { rows }) => sum + rows, 0);
  assert.deepEqual(["pyarrow_lz4", "pyarrow_zstd", "pyarrow", "polars"].map(rowsOf), [300, 300, 300, 120]);
  const piped = await shell(
    `cat ${join(INPUTS, "pyarrow_plain.arrows")} | ${command} publish - --resource eu ${where}`,
  );
  assert.equal(piped.exitCode, 0, piped.err);
  assert.match(piped.err, /published 300 rows/);
  await checkJournal(command, where);
  await checkDamage(command, where);
  await checkEnds(command, where);
  await checkContext(command);
  const cut = await shell(
    `head -c 9000 ${join(INPUTS, "pyarrow_plain.arrows")} | ${command} publish - --resource eu ${where}`,
  );
  assert.equal(cut.exitCode, 1);
  assert.match(cut.err, /standard input cannot be read: it ends within a message, at byte 9000/);
  const wrong = await shell(`${command} publish`);
  assert.deepEqual([wrong.exitCode, wrong.err], [2, "jetrow: publish needs a FILE, or - for standard input\n"]);
  assert.equal((await shell(`${command} --version`)).out.trim(), "0.1.0");
}

/** A context of the nats command sets the server and, from a file, the credentials. */
async function checkContext(command: string): Promise<void> {
  const operator = await makeOperator();
  const { jwt, nkeySeed } = await operator.user();
  await using server = await startNatsServer({ config: operator.config });
  using contexts = new Contexts();
  contexts.write("u.creds", `---\n${jwt}\n---\n---\n${nkeySeed}\n---\n`);
  contexts.save("own", { url: server.url, creds: "~/u.creds" });
  const env = { HOME: contexts.home, XDG_CONFIG_HOME: "" };
  const checked = await shell(`${command} check --context own --stream ROWS --subject rows.a`, env);
  assert.equal(checked.exitCode, 0, checked.err);
  const missing = await shell(`${command} check --context none --stream ROWS --subject rows.a`, env);
  assert.equal(missing.exitCode, 2, missing.err);
  assert.match(missing.err, /there is no such context in .*\. Contexts: own\n$/);
}

/** A named pipe with a silent writer does not prevent the command from ending, nor does a full disk. */
async function checkEnds(command: string, where: string): Promise<void> {
  using files = new Files(20_000);
  const fifo = files.path("orders.fifo");
  const waits = `mkfifo ${fifo}; ${command} publish ${fifo} --resource eu ${where} & exec 9> ${fifo}; kill $!; wait $!`;
  const waited = await shell(waits);
  assert.equal(waited.exitCode, 130, waited.err);
  const full = await shell(`${command} publish ${files.path("orders.arrow")} --batch-rows 100 ${where} > /dev/full`);
  assert.equal(full.exitCode, 1, full.err);
  assert.match(full.err, /standard output cannot be written: the disk is full\njetrow: [\d,]+ rows acknowledged/);
  const piped = await shell(`${command} publish ${files.path("orders.arrow")} --batch-rows 100 ${where} | head -n 1`);
  assert.match(
    piped.err,
    /standard output cannot be written: its reader has closed it\njetrow: [\d,]+ rows acknowledged/,
  );
}

/** A panic of the decoder on a damaged row group is reported like any other failure, and the process ends. */
async function checkDamage(command: string, where: string): Promise<void> {
  using files = new Files(1);
  const damaged = files.path("damaged.parquet");
  writeFileSync(damaged, readFileSync(join(INPUTS, "pyarrow.parquet")).fill(0xff, 3802, 3810));
  const { exitCode, err } = await shell(`${command} publish ${damaged} ${where}`);
  assert.equal(exitCode, 1, err);
  assert.match(
    err,
    /damaged\.parquet, row group 1 cannot be read as Parquet: the Parquet decoder crashed: the file is probably damaged\njetrow: 100 rows/,
  );
}

/** A journal with an incomplete last receipt can be resumed, its receipts verified, the destination checked. */
async function checkJournal(command: string, where: string): Promise<void> {
  using files = new Files(300, idColumns);
  const journal = files.path("rows.journal");
  const options = `${files.path("orders.arrow")} --batch-rows 100 ${where}`;
  const first = await shell(`${command} publish ${options} --receipt ${journal}`);
  assert.equal(first.exitCode, 0, first.err);
  writeFileSync(journal, readFileSync(journal).subarray(0, -40));
  const second = await shell(`${command} publish ${options} --resume ${journal}`);
  assert.equal(second.exitCode, 0, second.err);
  assert.match(second.err, /^200 rows are already published.*\n100 rows of orders were duplicates/);
  const url = where.split(" ").slice(0, 2).join(" ");
  const verified = await shell(`${command} verify ${journal} ${url}`);
  assert.equal(verified.exitCode, 0, verified.err);
  assert.match(verified.err, /verified 300 rows of 3 receipts/);
  const checked = await shell(`${command} check ${where}`);
  assert.equal(checked.exitCode, 0, checked.err);
  assert.equal(JSON.parse(checked.out).connection.transport, "@nats-io/transport-node");
}

Deno.test({
  name: "the command reads all its input formats on Bun",
  ignore: bun === undefined,
  fn: () => checkInputs(`${bun} ${ROOT}/src/cli/main.ts`),
});

Deno.test({
  name: "the command reads all its input formats on Node",
  ignore: node === undefined,
  async fn() {
    mkdirSync(join(ROOT, ".cache"), { recursive: true });
    const folder = mkdtempSync(join(ROOT, ".cache/command-"));
    try {
      await checkInputs(`${node} ${bundle(join(ROOT, "src/cli/main.ts"), join(folder, "main.mjs"))}`);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  },
});
