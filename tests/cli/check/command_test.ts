import assert from "node:assert/strict";
import type { CheckReport } from "../../../src/cli/check/report.ts";
import { checkTable } from "../../../src/cli/check/table.ts";
import { connect } from "../../../src/runtime/deno.ts";
import {
  addStream,
  createStream,
  infoOf,
  passwordUsers,
  publisherPermissions,
  startNatsServer,
} from "../../_support/nats/mod.ts";
import { jetrow, onTerminal } from "../_io.ts";

const destination = (url: string, stream = "ORDERS") => [
  "--url",
  url,
  "--stream",
  stream,
  "--subject",
  "orders.{resource}",
];

Deno.test("check prints one JSON object to a pipe: connection, transport, destination, findings", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "ORDERS", subjects: ["orders.>"], max_bytes: 1e9, duplicate_window: 120e9 });
  const { exitCode, out, err } = await jetrow(["check", ...destination(server.url), "--resource", "eu"]);
  assert.deepEqual([exitCode, err], [0, ""]);
  assert.equal(out.split("\n").length, 2);
  const report: CheckReport = JSON.parse(out);
  assert.equal(report.ok, true);
  assert.equal(report.connection.version, nc.info?.version);
  assert.equal(report.connection.maxPayload, 1048576);
  assert.match(report.connection.transport, /^@nats-io\/transport-node$/);
  assert.equal(report.jetstream?.streams, 1);
  assert.deepEqual(report.destination, { stream: "ORDERS", subject: "orders.eu", resource: "eu" });
  const codes = report.findings.map(({ code }) => code);
  assert.ok(codes.includes("stream.single_copy") && codes.includes("stream.discard_old"), codes.join());
});

Deno.test("check exits with 1 on a finding that is an error, and changes nothing", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "ORDERS", subjects: ["orders.>"], no_ack: true });
  const before = await infoOf(nc, "ORDERS");
  const { exitCode, out, err } = await jetrow(["check", ...destination(server.url)]);
  assert.deepEqual([exitCode, err], [1, ""]);
  const report: CheckReport = JSON.parse(out);
  assert.deepEqual([report.ok, report.findings.find(({ severity }) => severity === "error")?.code], [
    false,
    "stream.no_ack",
  ]);
  assert.deepEqual((await infoOf(nc, "ORDERS")).config, before.config);
  const missing = await jetrow(["check", ...destination(server.url, "OTHER"), "--no-create-stream"]);
  assert.equal(missing.exitCode, 1);
  assert.equal(JSON.parse(missing.out).findings[0].code, "stream.missing");
  await assert.rejects(infoOf(nc, "OTHER"), "nothing was created");
});

Deno.test("check prints a table to a terminal, worst finding first, within the window's width", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "ORDERS", subjects: ["orders.>"], sealed: false, no_ack: true });
  const shown = await onTerminal(["check", ...destination(server.url)]);
  if (shown === undefined) return;
  const { exitCode, screen } = shown;
  assert.equal(exitCode, 1, screen);
  assert.match(screen, /account {8}1 stream, 0 consumers, /);
  assert.match(screen, /transport {6}@nats-io\/transport-/);
  assert.match(screen, /ERROR {4}stream\.no_ack {2}\(no_ack\)\r\n {2}\S/);
  assert.ok(screen.indexOf("ERROR") < screen.indexOf("WARNING"), screen);
  assert.match(screen, /1 error, \d+ warnings, \d+ notes\r\n$/);
  for (const line of screen.split("\r\n")) assert.ok(line.length <= 80, line);
});

Deno.test("check reports what the user's permissions hide, and checks the rest", async () => {
  const worker = { username: "worker", password: "few" };
  const permissions = publisherPermissions({ stream: "ORDERS", subjects: ["orders.*"] });
  await using server = await startNatsServer({
    config: passwordUsers({ username: "admin", password: "all" }, { ...worker, permissions }),
  });
  await using boss = await connect({
    url: server.url,
    authMode: "user_password",
    username: "admin",
    password: "all",
  });
  await addStream(boss, { name: "ORDERS", subjects: ["orders.*"] });
  const args = ["check", ...destination(server.url), "--username", "worker"];
  const { exitCode, out, err } = await jetrow(args, { env: { JETROW_PASSWORD: "few" } });
  assert.deepEqual([exitCode, err], [0, ""]);
  const report: CheckReport = JSON.parse(out);
  assert.equal(report.jetstream, undefined);
  const codes = report.findings.map(({ code }) => code);
  assert.ok(codes.includes("account.hidden") && codes.includes("consumer.hidden"), codes.join());
});

Deno.test("check names options as they are written on the command line", async () => {
  await using server = await startNatsServer();
  const args = ["check", ...destination(server.url), "--no-create-stream", "--format"];
  for (const format of ["json", "table"]) {
    const { exitCode, out } = await jetrow([...args, format]);
    assert.equal(exitCode, 1);
    assert.match(
      out.replace(/\s+/g, " "),
      /--create-stream is false: .*Create the stream, or set --create-stream to true\./,
    );
  }
});

Deno.test("check exits with 1 without a server or JetStream, and with 2 for a wrong option or resource", async () => {
  const gone = await jetrow(["check", ...destination("nats://127.0.0.1:1")]);
  assert.deepEqual([gone.exitCode, gone.out], [1, ""]);
  assert.match(gone.err, /^jetrow: connection\.refused: Cannot connect to nats:\/\/127\.0\.0\.1:1: /);
  await using server = await startNatsServer({ jetstream: false });
  const off = await jetrow(["check", ...destination(server.url)]);
  assert.deepEqual([off.exitCode, off.out], [1, ""]);
  assert.match(off.err, /JetStream/);
  for (
    const [args, words, wanted = 2] of [
      [["--resource", "e u"], /^jetrow: route\.subject: .*"orders\.e u"/, 1],
      [["--stream", "A.B"], /^jetrow: config\.\w+: --stream must/],
      [["--max-in-flight", "0"], /^jetrow: config\.\w+: --max-in-flight must/],
      [["--format", "xml"], /^jetrow: --format must be one of auto, table, json/],
      [["orders.arrow"], /^jetrow: check takes no FILE/],
    ] as const
  ) {
    const rest = args[0] === "--stream" ? ["--url", "nats://127.0.0.1:1", "--subject", "s"] : destination("nats://x");
    const { exitCode, out, err } = await jetrow(["check", ...rest, ...args]);
    assert.deepEqual([exitCode, out], [wanted, ""], err);
    assert.match(err, words);
  }
  const { exitCode, out } = await jetrow(["check", "--help"]);
  assert.equal(exitCode, 0);
  assert.match(out, /--format FORMAT\n[^-]*\[default: auto; env: JETROW_FORMAT\]/);
});

Deno.test("checkTable() escapes control characters in what a server sends", () => {
  const text = checkTable({
    ok: true,
    connection: { server: "n\x1b]0;owned\x07", version: "2", maxPayload: 1, transport: "t" },
    destination: { stream: "S", subject: "s" },
    findings: [{
      severity: "info",
      code: "server.sync",
      field: "f\r",
      message: "long ".repeat(50) + "\x9b2J",
      remedy: "none\n",
      consumer: "c\t",
    }],
  }, 60);
  // deno-lint-ignore no-control-regex
  assert.doesNotMatch(text.replaceAll("\n", ""), /[\x00-\x1f\x7f-\x9f]/);
  for (const line of text.split("\n")) assert.ok(line.length <= 60, line);
});
