/** When standard output or the journal cannot be written, the command still reports what the server stored. */

import assert from "node:assert/strict";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { tableFromArrays, tableToIPC } from "apache-arrow";
import { connect } from "../../src/runtime/deno.ts";
import { infoOf, managerOf, type NatsServer, startNatsServer } from "../_support/nats/mod.ts";
import { printSkip } from "../_support/skip.ts";
import { destination, Files } from "./_files.ts";
import { idColumns } from "./_journal.ts";
import { jetrow, shell } from "./_io.ts";

const ROWS = 40_000;

const quoted = (args: readonly string[]): string => args.map((arg) => `'${arg}'`).join(" ");

async function storedIn(server: NatsServer, stream = "ORDERS"): Promise<number> {
  const nc = await connect({ url: server.url });
  try {
    return (await infoOf(nc, stream)).state.messages;
  } finally {
    await nc.close();
  }
}

async function streamsOf(server: NatsServer): Promise<string[]> {
  const nc = await connect({ url: server.url });
  try {
    const names: string[] = [];
    for await (const name of (await managerOf(nc)).streams.names()) names.push(name);
    return names;
  } finally {
    await nc.close();
  }
}

/** The number of rows that the command reports as acknowledged. */
function reportedBy(err: string): number {
  return Number(/jetrow: ([\d,]+) rows? acknowledged/.exec(err)?.[1]?.replaceAll(",", ""));
}

for (const [what, redirect] of [["a closed pipe", "| head -n 1"], ["a full disk", "> /dev/full"]] as const) {
  for (const journal of [false, true]) {
    Deno.test(`publish to ${what} ${journal ? "with" : "without"} a journal reports what is stored`, async () => {
      if (!existsSync("/dev/full")) return printSkip("a full disk", "there is no /dev/full");
      using files = new Files(ROWS, idColumns);
      await using server = await startNatsServer();
      const options = [...destination(server), "--batch-rows", "500"];
      const keep = journal ? ["--receipt", files.path("orders.journal")] : [];
      const publish = quoted(["publish", files.path("orders.arrow"), ...options, ...keep]);
      const { err } = await shell(`{ $JETROW ${publish}; echo "exit code $?" >&2; } ${redirect}`);
      assert.match(err, /exit code 1\n/);
      assert.match(err, /jetrow: standard output cannot be written: (its reader has closed it|the disk is full)\n/);
      const stored = await storedIn(server);
      assert.ok(stored > 0 && stored < ROWS, `${stored} rows are stored`);
      assert.equal(reportedBy(err), stored, err);
      if (!journal) {
        return assert.match(err, /publishing again sends every row: .*\n.*--receipt FILE to keep a journal/);
      }
      assert.match(err, /run again with --resume .*orders\.journal/);
      const more = quoted([
        "publish",
        files.path("orders.arrow"),
        ...options,
        "--resume",
        files.path("orders.journal"),
      ]);
      const resumed = await shell(`$JETROW ${more}`);
      assert.equal(resumed.exitCode, 0, resumed.err);
      assert.doesNotMatch(resumed.err, /duplicates/);
      assert.equal(await storedIn(server), ROWS);
    });
  }
}

/** A shell in which no file can grow beyond some blocks of 512 bytes. */
const limited = (blocks: number, command: string): string => `trap '' XFSZ; ulimit -f ${blocks}; ${command}`;

Deno.test("publish whose journal's disk is full reports what is stored, and prints its receipts", async () => {
  using files = new Files(ROWS, idColumns);
  await using server = await startNatsServer();
  const journal = files.path("orders.journal");
  const args = ["publish", files.path("orders.arrow"), ...destination(server), "--batch-rows", "500"];
  const { exitCode, out, err } = await shell(limited(16, `$JETROW ${quoted([...args, "--receipt", journal])}`));
  assert.equal(exitCode, 1, err);
  assert.match(err, /orders\.journal cannot be written: it reaches the largest file size that is allowed/);
  const stored = await storedIn(server);
  assert.ok(stored > 0 && stored < ROWS, `${stored} rows are stored`);
  assert.equal(reportedBy(err), stored, err);
  const printed = out.trimEnd().split("\n").reduce((sum, line) => sum + JSON.parse(line).rows, 0);
  assert.equal(printed, stored, "every acknowledged row has a printed receipt");
  const resumed = await jetrow([...args, "--resume", journal]);
  assert.equal(resumed.exitCode, 0, resumed.err);
  assert.equal(await storedIn(server), ROWS);
});

Deno.test("publish that cannot start creates nothing on the server", async (t) => {
  using files = new Files(10, idColumns);
  await using server = await startNatsServer();
  files.write("broken.arrow", tableToIPC(tableFromArrays({ a: [1] }), "file").slice(0, -20));
  files.write("other.arrow", tableToIPC(tableFromArrays({ a: [1] }), "file"));
  mkdirSync(files.path("folder.arrow"));
  const good = files.path("orders.arrow");
  const starts: readonly (readonly [name: string, command: string, words: RegExp])[] = [
    ["no such column", `$JETROW publish ${good} --event-id-column nope`, /nope/],
    [
      "a later input without the column",
      `$JETROW publish ${good} ${files.path("other.arrow")} --event-id-column name`,
      /name/,
    ],
    ["a later input that is cut", `$JETROW publish ${good} ${files.path("broken.arrow")}`, /broken\.arrow/],
    ["a later input that is not there", `$JETROW publish ${good} ${files.path("none.arrow")}`, /no such file/],
    ["a directory", `$JETROW publish ${files.path("folder.arrow")}`, /it is a directory/],
    [
      "a stream that is empty",
      `$JETROW publish - --resource eu < /dev/null`,
      /standard input cannot be read: it is empty/,
    ],
    ["a journal without a folder", `$JETROW publish ${good} --receipt ${files.path("no/journal")}`, /no such folder/],
    ["a journal that is a device", `$JETROW publish ${good} --receipt /dev/full`, /not a regular file/],
    [
      "a journal on a full disk",
      limited(0, `$JETROW publish ${good} --receipt ${files.path("full")}`),
      /cannot be written/,
    ],
  ];
  for (const [name, command, words] of starts) {
    await t.step(name, async () => {
      const { exitCode, out, err } = await shell(command.replace("publish", `publish ${quoted(destination(server))}`));
      assert.deepEqual([exitCode, out], [1, ""], err);
      assert.match(err, words);
      assert.doesNotMatch(err, /\n +at /);
      assert.deepEqual(await streamsOf(server), []);
    });
  }
});

Deno.test("the journal of a run that could not start is empty, and can be used again", async () => {
  using files = new Files(10, idColumns);
  const journal = files.path("orders.journal");
  const nowhere = ["--url", "nats://127.0.0.1:1", "--stream", "ORDERS", "--subject", "orders"];
  const failed = await jetrow(["publish", files.path("orders.arrow"), ...nowhere, "--receipt", journal]);
  assert.equal(failed.exitCode, 1, failed.err);
  assert.equal(readFileSync(journal, "utf8"), "");
  writeFileSync(files.path("other"), "not empty");
  await using server = await startNatsServer();
  const done = await jetrow(["publish", files.path("orders.arrow"), ...destination(server), "--receipt", journal]);
  assert.equal(done.exitCode, 0, done.err);
});
