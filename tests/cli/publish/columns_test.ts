import { tableFromArrays, tableToIPC } from "apache-arrow";
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { connect } from "../../../src/runtime/deno.ts";
import { infoOf, startNatsServer, storedIn } from "../../_support/nats/mod.ts";
import { destination, Files, receiptsOf } from "../_files.ts";
import { jetrow } from "../_io.ts";

const columns = (rows: number): Record<string, string[] | Int32Array> => ({
  op: Array.from({ length: rows }, (_, i) => "cud"[i % 3]!),
  region: Array.from({ length: rows }, (_, i) => ["eu", "us"][i % 2]!),
  order: Array.from({ length: rows }, (_, i) => `A${i >> 1}`),
  line: Int32Array.from({ length: rows }, (_, i) => i % 2),
});

const FLAGS = [
  "--header",
  "X-Region: {row.region}",
  "--event-id-column",
  "order,line",
  "--operation-column",
  "op",
  ...["c=insert", "u=update", "d=delete"].flatMap((value) => ["--operation-value", value]),
  "--omit",
  "region,op",
];

Deno.test("publish reads subject, headers, ids, operations and body from columns", async () => {
  using files = new Files(6, columns);
  await using server = await startNatsServer();
  const where = destination(server, "ORDERS", "orders.{row.region}");
  const { exitCode, out, err } = await jetrow(["publish", files.path("orders.arrow"), ...where, ...FLAGS]);
  assert.equal(exitCode, 0, err);
  assert.deepEqual(receiptsOf(out).map(({ rows, subject }) => [rows, subject]), [[6, "orders.*"]]);
  await using nc = await connect({ url: server.url });
  const stored = await storedIn(nc, "ORDERS");
  const shown = stored.map(({ subject, headers, body }) => {
    const all = new Map(headers);
    return [subject, all.get("X-Region"), all.get("Filament-Operation"), all.get("Nats-Msg-Id")?.length, body];
  });
  assert.deepEqual(shown.slice(0, 3), [
    ["orders.eu", "eu", "insert", 64, '{"order":"A0","line":0}'],
    ["orders.us", "us", "update", 64, '{"order":"A0","line":1}'],
    ["orders.eu", "eu", "delete", 64, '{"order":"A1","line":0}'],
  ]);
});

Deno.test("--dry-run shows the first three messages and counts the distinct subjects", async () => {
  using files = new Files(1000, columns);
  const { exitCode, out, err } = await jetrow([
    "publish",
    files.path("orders.arrow"),
    "--dry-run",
    "--stream",
    "ORDERS",
    "--subject",
    "orders.{row.order}",
    ...FLAGS,
  ]);
  assert.equal(exitCode, 0, err);
  const { subject, rows, subjects, rowsWithId } = JSON.parse(out);
  assert.deepEqual({ subject, rows, subjects, rowsWithId }, {
    subject: "orders.*",
    rows: 1000,
    subjects: 500,
    rowsWithId: 1000,
  });
  const [first, second, third, rest] = err.split(/^(?=orders\.A)/m).map((message) => message.split("\n"));
  assert.deepEqual(first!.slice(0, 6), [
    "orders.A0",
    "  Content-Type: application/json",
    "  Filament-Operation: insert",
    "  Nats-Expected-Stream: ORDERS",
    "  X-Region: eu",
    first![5]!,
  ]);
  assert.match(first![5]!, /^ {2}Nats-Msg-Id: [0-9a-f]{64}$/);
  assert.deepEqual(first!.slice(6, 8), ["", '  {"order":"A0","line":0}']);
  assert.deepEqual([second![0], third![0], rest], ["orders.A0", "orders.A1", undefined]);
  assert.match(err, /1,000 rows of .*orders\.arrow would go to orders\.\* \(500 subjects\): nothing was sent/);
});

Deno.test("a bad value is refused before anything is created", async () => {
  using files = new Files(4, () => ({ region: ["eu", "us", "a.b", "eu"] }));
  await using server = await startNatsServer();
  const where = destination(server, "ORDERS", "orders.{row.region}");
  const { exitCode, err } = await jetrow(["publish", files.path("orders.arrow"), ...where]);
  assert.equal(exitCode, 1);
  assert.match(
    err,
    /encode\.subject: Cannot take the subject of row 2 from column "region": .* set --subject-escape to/,
  );
  await using nc = await connect({ url: server.url });
  await assert.rejects(infoOf(nc, "ORDERS"), /stream not found/);
  const escaped = await jetrow(["publish", files.path("orders.arrow"), ...where, "--subject-escape", "percent"]);
  assert.equal(escaped.exitCode, 0, escaped.err);
  assert.equal((await storedIn(nc, "ORDERS"))[2]!.subject, "orders.a%2Eb");
});

for (
  const [flags, says] of [
    [["--operation", "delete", "--operation-column", "op"], /--operation must not be set with --operation-column/],
    [["--pick", "a", "--omit", "b"], /--omit must not be set with --pick/],
    [["--raw-body-column", "a", "--omit", "b"], /--raw-body-column must not be set with --omit/],
    [["--pick", "a,a"], /--pick must not name a column twice/],
    [["--event-id-column", "a,"], /--event-id-column must be names of columns, separated by commas: received "a,"/],
    [["--operation-value", "c=insert"], /--operation-value must not be set without --operation-column/],
    [["--operation-column", "op", "--operation-value", "c"], /--operation-value must be 'VALUE=OPERATION'/],
    [["--operation-column", "op", "--operation-value", "c=upsert"], /--operation-value must be one of insert/],
    [["--raw-body-column", "a", "--json-int64", "string"], /--raw-body-column must not be set with --json-int64: one/],
    [
      ["--operation-column", "op", "--no-standard-headers"],
      /--operation-column must not be set if --standard-headers is false/,
    ],
    [
      ["--operation", "update", "--no-standard-headers"],
      /--operation must be "insert" or absent if --standard-headers is false/,
    ],
    [["--subject-escape", "url"], /--subject-escape must be one of none, percent/],
    [["--subject", "o.{row.region"], /--subject must not contain braces other than/],
    [["--stream", "S_{row.region}"], /--stream must not contain \{row\.NAME\}/],
  ] as const
) {
  Deno.test(`publish ${flags.join(" ")} is a usage error`, async () => {
    using files = new Files(1, columns);
    const given = new Set<string>(flags);
    const base = [["--url", "nats://localhost"], ["--stream", "S"], ["--subject", "s"]].filter(([name]) =>
      !given.has(name!)
    );
    const { exitCode, err } = await jetrow(["publish", files.path("orders.arrow"), ...base.flat(), ...flags]);
    assert.equal(exitCode, 2, err);
    assert.match(err, says);
  });
}

Deno.test("a journal records the options of columns, and a run with other ones is not resumed", async () => {
  using files = new Files(600, columns);
  await using server = await startNatsServer();
  const where = destination(server, "ORDERS", "orders.{row.region}");
  const journal = files.path("run.journal");
  const base = ["publish", files.path("orders.arrow"), ...where, "--batch-rows", "200"];
  assert.equal((await jetrow([...base, ...FLAGS, "--receipt", journal])).exitCode, 0);
  const lines = readFileSync(journal, "utf8").split("\n");
  const { options, inputs } = JSON.parse(lines[0]!);
  const forms = Object.keys(options).filter((name) => name.startsWith("json-"));
  assert.equal(forms.length, 8, "the forms of values, as journal_test.ts checks them");
  for (const name of forms) delete options[name];
  assert.deepEqual(options, {
    "event-id-column": '["order","line"]',
    subject: "orders.{row.region}",
    "subject-escape": "none",
    header: '{"X-Region":"{row.region}"}',
    "operation-column": "op",
    "operation-value": '{"c":"insert","u":"update","d":"delete"}',
    omit: '["region","op"]',
    tenant: "",
    pipeline: "",
    "sink-connection": "",
    "publish-mode": "individual",
    "batch-rows": 200,
    "batch-bytes": 16777216,
  });
  assert.equal(inputs[0].subject, "orders.*");
  // Without the last piece's receipt its rows are begun and not settled.
  const last = lines.findLastIndex((line) => line.includes('"kind":"receipt"'));
  writeFileSync(journal, `${lines.slice(0, last).join("\n")}\n`);
  const other = await jetrow([...base, ...FLAGS.slice(0, -2), "--resume", journal]);
  assert.equal(other.exitCode, 2, other.err);
  assert.match(other.err, /--omit must be as in /);
  const moved = base.map((part) => part === "orders.{row.region}" ? "orders.{row.order}" : part);
  assert.match((await jetrow([...moved, ...FLAGS, "--resume", journal])).err, /--subject must be as in /);
  const resumed = await jetrow([...base, ...FLAGS, "--resume", journal]);
  assert.equal(resumed.exitCode, 0, resumed.err);
  await using nc = await connect({ url: server.url });
  assert.equal((await infoOf(nc, "ORDERS")).state.messages, 600);
  const verified = await jetrow(["verify", journal, "--url", server.url]);
  assert.equal(verified.exitCode, 0, verified.err);
});

Deno.test("--raw-body-column publishes a column's bytes, with --content-type", async () => {
  using files = new Files(1);
  files.write("events.arrow", tableToIPC(tableFromArrays({ key: ["a", "b"], payload: ["<a/>", "<b/>"] }), "file"));
  await using server = await startNatsServer();
  const { exitCode, err } = await jetrow([
    "publish",
    files.path("events.arrow"),
    ...destination(server, "EVENTS", "events.{row.key}"),
    "--raw-body-column",
    "payload",
    "--content-type",
    "application/xml",
  ]);
  assert.equal(exitCode, 0, err);
  await using nc = await connect({ url: server.url });
  const stored = await storedIn(nc, "EVENTS");
  assert.deepEqual(stored.map(({ subject, body, headers }) => [subject, body, headers[0]]), [
    ["events.a", "<a/>", ["Content-Type", "application/xml"]],
    ["events.b", "<b/>", ["Content-Type", "application/xml"]],
  ]);
});
