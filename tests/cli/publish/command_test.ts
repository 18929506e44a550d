import { tableFromArrays, tableToIPC } from "apache-arrow";
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { encodeRows } from "../../../src/json/encode.ts";
import { makeCertificates, makeOperator, opensslMissing, startNatsServer, tokenAuth } from "../../_support/nats/mod.ts";
import { printSkip } from "../../_support/skip.ts";
import { bodiesOf, destination, Files, messagesOf, plainColumns, receiptsOf } from "../_files.ts";
import { COMMAND, jetrow, onTerminal, ROOT, shell } from "../_io.ts";

Deno.test("publish sends each row of a file once, in order, and prints a receipt per piece", async () => {
  using files = new Files(1000);
  await using server = await startNatsServer();
  const { exitCode, out, err } = await jetrow([
    "publish",
    files.path("orders.arrow"),
    ...destination(server),
    "--batch-rows",
    "300",
  ]);
  assert.equal(exitCode, 0, err);
  const receipts = receiptsOf(out);
  assert.deepEqual(receipts.map(({ rows, offset }) => [rows, offset]), [[300, 0], [300, 300], [300, 600], [100, 900]]);
  assert.deepEqual(receipts.map(({ uri }) => uri), Array(4).fill("nats://ORDERS/orders"));
  assert.deepEqual(await messagesOf(server, "ORDERS"), bodiesOf(files.table));
  assert.match(err, /^created ORDERS: one replica, no limits\npublished 1,000 rows, /);
});

Deno.test("publish reads standard input from a pipe, and prints no progress to a pipe", async () => {
  using files = new Files(500);
  await using server = await startNatsServer();
  const where = destination(server).map((part) => `'${part}'`).join(" ");
  const { exitCode, out, err } = await shell(
    `cat ${files.path("orders.arrows")} | $JETROW publish - --resource eu ${where}`,
  );
  assert.equal(exitCode, 0, err);
  assert.deepEqual(receiptsOf(out).map(({ subject, rows }) => [subject, rows]), [["orders.eu", 500]]);
  assert.deepEqual(await messagesOf(server, "ORDERS"), bodiesOf(files.table));
  assert.doesNotMatch(err, /\r|in flight/);
});

Deno.test("publish reads a named pipe of the shell's <(...) once", async () => {
  using files = new Files(20);
  await using server = await startNatsServer();
  const where = destination(server).map((part) => `'${part}'`).join(" ");
  const command = `$JETROW publish <(cat ${files.path("orders.arrows")}) --resource eu ${where}`;
  if (spawnSync("bash", ["--version"]).error) return printSkip("<(...)", "bash is not installed");
  const { exitCode, err } = await shell(`exec bash -c "${command.replaceAll('"', '\\"')}"`);
  assert.equal(exitCode, 0, err);
  assert.equal((await messagesOf(server, "ORDERS")).length, 20);
});

Deno.test("publish of several files sends each to its stream, and prints totals in its summary", async () => {
  using files = new Files(10);
  files.write("returns.feather", tableToIPC(tableFromArrays({ id: Int32Array.of(7) }), "file"));
  await using server = await startNatsServer();
  const inputs = [files.path("orders.arrow"), files.path("returns.feather")];
  const { exitCode, out, err } = await jetrow([
    "publish",
    ...inputs,
    ...destination(server, "S_{resource}", "s.{resource}"),
  ]);
  assert.equal(exitCode, 0, err);
  assert.deepEqual(receiptsOf(out).map(({ stream, rows }) => [stream, rows]), [["S_orders", 10], ["S_returns", 1]]);
  assert.match(err, /created S_orders: .*\ncreated S_returns: .*\npublished 11 rows/);
});

Deno.test("publish reads its destination from a configuration, and credentials from the environment", async () => {
  using files = new Files(10);
  const token = "tok-8x1nq7";
  await using server = await startNatsServer({ config: tokenAuth(token) });
  const document = { url: server.url, stream: "WRONG", subject: "orders.{resource}", headers: { "X-From": "file" } };
  files.write("jetrow.json", new TextEncoder().encode(JSON.stringify(document)));
  const args = ["publish", files.path("orders.arrow"), "--config", files.path("jetrow.json"), "--stream", "ORDERS"];
  const good = await jetrow(args, { env: { JETROW_TOKEN: token, JETROW_BATCH_ROWS: "5" } });
  assert.equal(good.exitCode, 0, good.err);
  assert.deepEqual(receiptsOf(good.out).map(({ rows }) => rows), [5, 5]);
  const bad = await jetrow(args, { env: { JETROW_TOKEN: "wrong-4k2m9z" } });
  assert.deepEqual([bad.exitCode, bad.out], [1, ""]);
  assert.match(
    bad.err,
    /^jetrow: connection\.auth: Cannot connect to nats:\/\/127\.0\.0\.1:\d+: authorization violation\n$/,
  );
  for (const { out, err } of [good, bad]) assert.ok(!`${out}${err}`.includes(token) && !err.includes("wrong-4k2m9z"));
});

Deno.test("publish accepts a .creds file, and certificates as files", async () => {
  if (opensslMissing("certificates as files")) return;
  using files = new Files(10);
  const operator = await makeOperator();
  const { jwt, nkeySeed } = await operator.user();
  const { ca, server: { cert, key }, client } = await makeCertificates();
  await using server = await startNatsServer({ config: operator.config, tls: { cert, key, ca, verify: true } });
  const creds = [
    "-----BEGIN NATS USER JWT-----",
    jwt,
    "------END NATS USER JWT------",
    "",
    "************************* IMPORTANT *************************",
    "NKEY Seed printed below can be used to sign and prove identity.",
    "",
    "-----BEGIN USER NKEY SEED-----",
    nkeySeed,
    "------END USER NKEY SEED------",
  ].join("\n");
  for (const [name, text] of Object.entries({ creds, ca, cert: client.cert, key: client.key })) {
    files.write(name, new TextEncoder().encode(text));
  }
  const args = ["publish", files.path("orders.arrow"), ...destination(server), "--creds", files.path("creds")];
  const tls = ["ca", "cert", "key"].flatMap((name) => [`--tls-${name}`, files.path(name)]);
  const { exitCode, out, err } = await jetrow([...args, ...tls]);
  assert.equal(exitCode, 0, err);
  assert.equal(receiptsOf(out)[0]!.rows, 10);
  const without = await jetrow([...args, ...tls.slice(0, 2)]);
  assert.equal(without.exitCode, 1);
  assert.match(without.err, /^jetrow: connection\.tls: Cannot connect to tls:/);
  const half = await jetrow([...args, ...tls.slice(0, 4)]);
  assert.equal(half.exitCode, 2);
  assert.match(half.err, /^jetrow: config\.\w+: --tls-key /);
});

Deno.test("publish reports how many rows were duplicates", async () => {
  using files = new Files(30, (rows) => ({
    ...plainColumns(rows),
    event: Array.from({ length: rows }, (_, i) => `event-${i}`),
  }));
  await using server = await startNatsServer();
  const args = ["publish", files.path("orders.arrow"), ...destination(server), "--event-id-column", "event"];
  assert.doesNotMatch((await jetrow(args)).err, /duplicates/);
  const { exitCode, out, err } = await jetrow(args);
  assert.equal(exitCode, 0, err);
  assert.equal(receiptsOf(out)[0]!.duplicates, 30);
  assert.match(err, /30 rows of orders were duplicates: ORDERS had them already\n/);
  assert.equal((await messagesOf(server, "ORDERS")).length, 30);
});

Deno.test("publish --dry-run counts rows, and neither dials nor sends", async () => {
  using files = new Files(100);
  const args = ["publish", files.path("orders.arrow"), "--stream", "S", "--subject", "s.{resource}"];
  const { exitCode, out, err } = await jetrow([...args, "--dry-run"]);
  assert.equal(exitCode, 0, err);
  const bytes = encodeRows(files.table).bytes.length;
  const { largestMessage, ...tally } = JSON.parse(out);
  const expected = {
    resource: "orders",
    stream: "S",
    subject: "s.orders",
    subjects: 1,
    rows: 100,
    rowsWithId: 0,
    bytes,
  };
  assert.deepEqual(tally, expected);
  assert.ok(largestMessage > 100 && largestMessage < 200);
  assert.match(err, /100 rows of .*orders\.arrow would go to s\.orders \(1 subject\): nothing was sent/);
  const missing = await jetrow([...args, "--dry-run", "--event-id-column", "nothing"]);
  assert.deepEqual([missing.exitCode, missing.out], [1, ""]);
  assert.match(missing.err, /^jetrow: encode\.no_id_column: .*no such column/);
  const refusing = await jetrow([...args, "--dry-run", "--url", "nats://127.0.0.1:1"]);
  assert.deepEqual([refusing.exitCode, refusing.out], [0, out], refusing.err);
  assert.equal((await jetrow([...args, "--dry-run", "--url", "http://x"])).exitCode, 2, "a wrong option is refused");
});

Deno.test("publish --dry-run finds the errors of publishing, with row numbers of the whole input and repeated ids", async () => {
  using files = new Files(300, (rows) => ({
    ...plainColumns(rows),
    event: Array.from({ length: rows }, (_, i) => `event-${i === 250 ? 3 : i}`),
  }));
  const args = ["publish", files.path("orders.arrow"), "--stream", "S", "--subject", "s.{resource}"];
  const twice = await jetrow([...args, "--dry-run", "--event-id-column", "event", "--batch-rows", "100"]);
  assert.equal(twice.exitCode, 1);
  assert.match(twice.err, /^jetrow: encode\.duplicate_id: Cannot publish row 250: it has the event id of row 3\b/m);
  assert.match(twice.err, /\(batch 0 of .*orders\.arrow\)\n$/);
});

Deno.test("publish names the input of a batch that cannot be encoded, and the earlier duplicates", async () => {
  await using server = await startNatsServer();
  const event = (i: number) => `event-${i === 250 ? 3 : i}`;
  const columns = (rows: number) => ({
    ...plainColumns(rows),
    event: Array.from({ length: rows }, (_, i) => event(i)),
  });
  using good = new Files(100, columns);
  using bad = new Files(300, columns);
  const to = [...destination(server), "--event-id-column", "event"];
  assert.equal((await jetrow(["publish", good.path("orders.arrow"), ...to])).exitCode, 0);
  const inputs = [good.path("orders.arrow"), bad.path("orders.arrow"), "--resource", "orders"];
  const { exitCode, err } = await jetrow(["publish", ...inputs, ...to]);
  assert.equal(exitCode, 1, err);
  assert.match(err, /100 rows of orders were duplicates: ORDERS had them already\n/);
  assert.ok(err.includes(`(batch 0 of ${bad.path("orders.arrow")})\n`), err);
});

Deno.test("publish names options as written on the command line, also in errors of the library", async () => {
  using files = new Files(1);
  await using server = await startNatsServer();
  const args = ["publish", files.path("orders.arrow"), ...destination(server), "--no-create-stream"];
  const missing = await jetrow(args);
  assert.deepEqual([missing.exitCode, missing.out], [1, ""]);
  assert.equal(
    missing.err,
    'jetrow: route.missing: Cannot publish to stream "ORDERS" (subject "orders.*"): the stream does not exist and ' +
      "--create-stream is false: rows would find no responders. Create the stream, or set --create-stream to true.\n",
  );
});

Deno.test("publish of a truncated stream fails, and reports what was published before", async () => {
  using files = new Files(100);
  await using server = await startNatsServer();
  const bytes = tableToIPC(files.table, "stream");
  const chunks = (async function* () {
    yield bytes.subarray(0, bytes.length - 8);
  })();
  const { exitCode, out, err } = await jetrow(["publish", "-", "--resource", "eu", ...destination(server)], {
    stdin: chunks,
  });
  assert.equal(exitCode, 1);
  assert.match(err, /jetrow: standard input cannot be read: it ends at byte \d+ without the end-of-stream marker/);
  const rows = out === "" ? 0 : receiptsOf(out).reduce((sum, { rows }) => sum + rows, 0);
  if (rows > 0) {
    assert.match(err, new RegExp(`jetrow: ${rows} rows acknowledged \\(all of them in printed receipts\\)`));
  }
  const whole = files.path("cut.arrows");
  writeFileSync(whole, bytes.subarray(0, bytes.length - 8));
  const refused = await jetrow(["publish", whole, ...destination(server, "CUT", "cut.{resource}")]);
  assert.deepEqual([refused.exitCode, refused.out], [1, ""], "a file is looked through before a row is sent");
  assert.match(refused.err, /cut\.arrows cannot be read: it ends at byte/);
});

Deno.test("publish that reaches no server names the servers that were tried", async () => {
  using files = new Files(1);
  const url = "nats://127.0.0.1:1,nats://127.0.0.1:2";
  const { exitCode, err } = await jetrow([
    "publish",
    files.path("orders.arrow"),
    "--url",
    url,
    "--stream",
    "S",
    "--subject",
    "s",
  ]);
  assert.equal(exitCode, 1);
  assert.match(
    err,
    /^jetrow: connection\.refused: Cannot connect to any of 2 servers: nats:\/\/127\.0\.0\.1:1: .*; nats:\/\/127\.0\.0\.1:2: /,
  );
});

Deno.test("publish that is interrupted reports each row's outcome and exits with 130", async () => {
  using files = new Files(2000);
  await using server = await startNatsServer();
  const [program, ...args] = [...COMMAND, "publish", "-", "--resource", "eu", ...destination(server)];
  const child = new Deno.Command(program!, { args, cwd: ROOT, stdin: "piped", stdout: "piped", stderr: "piped" })
    .spawn();
  // The stream never ends: the command waits for more rows when the interrupt arrives.
  const writer = child.stdin.getWriter();
  await writer.write(tableToIPC(files.table, "stream").slice(0, -8));
  const [first, rest] = child.stdout.tee();
  await first.getReader().read();
  child.kill("SIGINT");
  const [{ code }, out, err] = await Promise.all([
    child.status,
    new Response(rest).text(),
    new Response(child.stderr).text(),
  ]);
  await writer.close().catch(() => {});
  assert.equal(code, 130, err);
  assert.match(err, /jetrow: interrupted\njetrow: 2,000 rows acknowledged \(all of them in printed receipts\)\n/);
  assert.equal(receiptsOf(out)[0]!.rows, 2000);
});

Deno.test("publish to a pipe whose reader exits fails without a crash", async () => {
  using files = new Files(3000);
  await using server = await startNatsServer();
  const where = destination(server).map((part) => `'${part}'`).join(" ");
  const publish = `$JETROW publish ${files.path("orders.arrow")} --batch-rows 10 ${where}`;
  const { out, err } = await shell(`{ ${publish}; echo "exit code $?" >&2; } | head -n 1`);
  assert.equal(receiptsOf(out).length, 1);
  assert.match(err, /jetrow: standard output cannot be written: its reader has closed it\n/);
  assert.match(err, /exit code 1\n/);
});

Deno.test("publish whose output device is full reports that without a crash", async () => {
  using files = new Files(1);
  if (!existsSync("/dev/full")) return printSkip("a full disk", "there is no /dev/full");
  const { exitCode, err } = await shell(
    `$JETROW publish ${files.path("orders.arrow")} --dry-run --stream S --subject s > /dev/full`,
  );
  assert.equal(exitCode, 1, err);
  assert.match(err, /^jetrow: standard output cannot be written: the disk is full\n$/m);
  assert.doesNotMatch(err, /\n +at /);
});

Deno.test("publish on a terminal shows a progress line, and removes it", async () => {
  using files = new Files(20_000);
  await using server = await startNatsServer();
  const shown = await onTerminal(["publish", files.path("orders.arrow"), ...destination(server)]);
  if (shown === undefined) return;
  const { exitCode, screen } = shown;
  assert.equal(exitCode, 0, screen);
  assert.match(screen, /\r[\d,]+ of 20,000 rows {2}\d+% {2}[\d,]+ rows\/s {2}[\d.]+ MB\/s {2}[\d,]+ in flight/);
  const lines = shownLines(screen);
  assert.deepEqual(lines.filter((line) => line.includes("in flight")), [], "no progress line is left");
  assert.deepEqual(lines.filter((line) => line.startsWith("{")).map((line) => JSON.parse(line).rows), [
    8192,
    8192,
    3616,
  ]);
});

/** The lines that a terminal shows in the end: a carriage return moves to the start, `ESC [ K` clears the rest. */
function shownLines(screen: string): string[] {
  return screen.split("\n").map((line) => {
    let shown = "";
    for (const text of line.split("\r").filter((text) => text !== "")) {
      const [before, ...rest] = text.split("\x1b[K");
      shown = rest.length > 0 ? before + rest.join("") : before + shown.slice(before!.length);
    }
    return shown;
  });
}
