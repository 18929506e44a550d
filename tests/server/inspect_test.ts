import assert from "node:assert/strict";
import type { NatsConnection } from "@nats-io/nats-core";
import { tableFromArrays } from "apache-arrow";
import { connect, isJetrowError, Publisher } from "../../src/runtime/deno.ts";
import type { Finding, FindingCode, Severity } from "../../src/stream/checks/finding.ts";
import { inspect } from "../../src/stream/checks/inspect.ts";
import type { Options } from "../../src/types/mod.ts";
import {
  api,
  compareVersions,
  createStream,
  natsServerVersion,
  olderThan,
  passwordUsers,
  publishAcked,
  startNatsServer,
} from "../_support/nats/mod.ts";
import { theOne } from "./_findings.ts";

const server = await natsServerVersion();
const skipOld = olderThan("2.15.0", server, "inspect() on streams with every fault");

/** A stream with a fault, what is published to it, and the finding that shows the fault. */
interface Fault {
  readonly code: FindingCode;
  readonly severity: Severity;
  readonly field: string;
  /** The stream's configuration without name and subjects. */
  readonly config?: Readonly<Record<string, unknown>>;
  readonly options?: Partial<Options>;
  /** Called once the stream exists. */
  readonly then?: (nc: NatsConnection, stream: string) => Promise<unknown>;
  /** What the message must match. */
  readonly shows?: RegExp;
}

const FAULTS: readonly Fault[] = [
  { code: "stream.not_captured", severity: "error", field: "subjects", options: { subject: "elsewhere.{resource}" } },
  { code: "stream.no_ack", severity: "error", field: "no_ack", config: { no_ack: true } },
  {
    code: "stream.sealed",
    severity: "error",
    field: "sealed",
    then: (nc, name) => api(nc, `STREAM.UPDATE.${name}`, { name, subjects: [`${name}.>`], sealed: true }),
  },
  { code: "stream.counter", severity: "error", field: "allow_msg_counter", config: { allow_msg_counter: true } },
  { code: "stream.no_interest", severity: "error", field: "retention", config: { retention: "interest" } },
  { code: "stream.too_small", severity: "error", field: "max_bytes", config: { max_bytes: 100 }, shows: /100/ },
  {
    code: "stream.batch_flag",
    severity: "error",
    field: "allow_atomic",
    options: { publishMode: "atomic" },
  },
  {
    code: "stream.batch_flag",
    severity: "error",
    field: "allow_batched",
    config: { allow_atomic: true },
    options: { publishMode: "fast" },
  },
  { code: "stream.ttl_off", severity: "error", field: "allow_msg_ttl", options: { ttl: "1m" } },
  { code: "stream.unbounded", severity: "warning", field: "max_bytes" },
  { code: "stream.discard_old", severity: "warning", field: "discard", config: { max_msgs: 1000 }, shows: /1000/ },
  {
    code: "stream.last_value",
    severity: "warning",
    field: "max_msgs_per_subject",
    config: { max_msgs_per_subject: 1 },
    options: { subject: "{stream}.all" },
  },
  {
    code: "stream.full_subjects",
    severity: "warning",
    field: "discard_new_per_subject",
    config: { max_msgs_per_subject: 7, discard: "new", discard_new_per_subject: true },
    shows: /7, refuses further rows/,
  },
  {
    code: "stream.nearly_full",
    severity: "warning",
    field: "max_msgs",
    config: { max_msgs: 10, discard: "new" },
    then: (nc, name) => publishAcked(nc, `${name}.a`, Array(10).fill("{}")),
    shows: /10 of max_msgs 10/,
  },
  {
    code: "stream.nearly_full",
    severity: "warning",
    field: "max_bytes",
    config: { max_bytes: 10_000, discard: "new" },
    then: (nc, name) => publishAcked(nc, `${name}.a`, ["x".repeat(9_500)]),
  },
  { code: "stream.short_age", severity: "warning", field: "max_age", config: { max_age: 600e9 }, shows: /10m/ },
  {
    code: "stream.no_dedupe",
    severity: "warning",
    field: "duplicate_window",
    // The server sets no duplicate window for a stream with sources.
    config: { sources: [{ name: "ORIGIN" }] },
  },
  {
    code: "stream.short_dedupe",
    severity: "warning",
    field: "duplicate_window",
    config: { duplicate_window: 30e9 },
    options: { retry: { budget: "30s" }, publishTimeout: "5s" },
    shows: /30s.*35s/,
  },
  { code: "stream.single_copy", severity: "warning", field: "num_replicas" },
  { code: "stream.memory", severity: "warning", field: "storage", config: { storage: "memory" } },
  { code: "stream.async_persist", severity: "warning", field: "persist_mode", config: { persist_mode: "async" } },
  {
    code: "stream.transform",
    severity: "warning",
    field: "subject_transform",
    config: { subject_transform: { src: ">", dest: "stored.>" } },
    shows: /stored\.>/,
  },
  { code: "stream.other_writers", severity: "info", field: "sources", config: { sources: [{ name: "ORIGIN" }] } },
  {
    code: "stream.republish",
    severity: "info",
    field: "republish",
    config: { republish: { src: ">", dest: "copies.>" } },
  },
  { code: "stream.work_queue", severity: "info", field: "retention", config: { retention: "workqueue" } },
  { code: "stream.purgeable", severity: "info", field: "deny_purge" },
  {
    code: "stream.marker_ttl",
    severity: "warning",
    field: "subject_delete_marker_ttl",
    config: { subject_delete_marker_ttl: 3600e9 },
    options: { ttl: "1m" },
    shows: /1h.*1m/,
  },
  { code: "stream.shared_limits", severity: "info", field: "max_msgs_per_subject", config: { max_bytes: 1_000_000 } },
  { code: "stream.direct_off", severity: "info", field: "allow_direct" },
  { code: "server.sync", severity: "info", field: "sync_interval" },
  { code: "connection.payload", severity: "info", field: "max_payload", shows: /1048576/ },
  {
    code: "connection.payload",
    severity: "info",
    field: "max_msg_size",
    config: { max_msg_size: 5000 },
    shows: /5000/,
  },
];

Deno.test({
  name: "inspect() finds every fault that a single server can have, on a real stream",
  ignore: skipOld,
  async fn(t) {
    await using server = await startNatsServer();
    await using nc = await connect({ url: server.url });
    await createStream(nc, { name: "ORIGIN", subjects: ["origin"] });
    for (const [i, fault] of FAULTS.entries()) {
      await t.step(`${fault.code} (${fault.field})`, async () => {
        const name = `S${i}`;
        await createStream(nc, { name, subjects: [`${name}.>`], ...fault.config });
        await fault.then?.(nc, name);
        const { subject = "{stream}.{resource}", ...options } = fault.options ?? {};
        const found = await inspect(nc, { stream: name, subject: subject.replace("{stream}", name), ...options });
        const { severity, field, message, remedy } = theOne(found, fault.code, fault.field);
        assert.deepEqual([severity, field], [fault.severity, fault.field]);
        assert.match(message, fault.shows ?? /./);
        assert.ok(remedy.length > 0 && !message.includes("undefined"));
      });
    }
  },
});

Deno.test("inspect() distinguishes a missing stream that publishing creates from one that it does not, and creates none", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const options = { stream: "NONE", subject: "none.{resource}" };
  const willBe = theOne(await inspect(nc, options), "stream.missing");
  assert.equal(willBe.severity, "info");
  assert.match(willBe.message, /none\.>/);
  assert.equal(theOne(await inspect(nc, { ...options, createStream: false }), "stream.missing").severity, "error");
  // The server refuses filters that begin with a wildcard, and the library those that would capture the API.
  for (const subject of ["{resource}.events", "{resource}"]) {
    assert.equal(theOne(await inspect(nc, { ...options, subject }), "stream.missing").severity, "error", subject);
  }
  assert.deepEqual((await api(nc, "STREAM.NAMES")).streams, null);
});

Deno.test("inspect() reports an error exactly for templates whose stream cannot be created", async () => {
  await using server = await startNatsServer();
  if (olderThan("2.10.0", server, "refused wildcard filters")) return;
  await using nc = await connect({ url: server.url });
  const rows = tableFromArrays({ a: ["k"], b: ["l"] });
  const subjects = ["{row.a}", "{row.a}.x", "{row.a}.{row.b}", "x.{row.a}", "{resource}.{row.a}", "{row.a}.{resource}"];
  for (const [index, subject] of subjects.entries()) {
    for (const stream of [`S${index}`, "{resource}"]) {
      const options = { stream, subject: subject.replace("x", `x${index}`) };
      const resource = `r${index}`;
      const { severity } = theOne(await inspect(nc, options, { resource }), "stream.missing");
      const publish = async () => {
        await using publisher = await Publisher.open(nc, options);
        await publisher.publish({ resource, rows });
      };
      const refused = await publish().then(() => false, (error) => {
        assert.ok(isJetrowError(error, "route.create"), String(error));
        return true;
      });
      assert.equal(severity, refused ? "error" : "info", `${stream} ${subject}`);
      const { streams } = await api(nc, "STREAM.NAMES") as { streams: string[] | null };
      for (const name of streams ?? []) await api(nc, `STREAM.DELETE.${name}`);
    }
  }
});

Deno.test("inspect() reports a server below 2.11, and no newer one", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "ORDERS", subjects: ["orders"] });
  const found = await inspect(nc, { stream: "ORDERS", subject: "orders" });
  const told = found.some(({ code }) => code === "server.old");
  assert.equal(told, compareVersions(server.version, "2.11.0") < 0);
});

Deno.test("inspect() checks the stream and subject of a resource, and says if none was checked", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "S_a", subjects: ["a.events"] });
  const options = { stream: "S_{resource}", subject: "{resource}.events", createStream: false };
  assert.deepEqual(errors(await inspect(nc, options, { resource: "a" })), []);
  assert.deepEqual(errors(await inspect(nc, options, { resource: "b" })), ["stream.missing"]);
  const unnamed = await inspect(nc, options);
  assert.equal(theOne(unnamed, "stream.unchecked").severity, "info");
  assert.ok(unnamed.some(({ code }) => code === "connection.payload"));
  await assert.rejects(inspect(nc, options, { resource: "no.stream" }), { code: "route.stream_name" });
});

Deno.test("inspect() refuses a mirror, and warns about a bucket unless each row has a key of its own", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  await createStream(nc, { name: "ORIGIN", subjects: ["origin.>"] });
  await createStream(nc, { name: "COPY", mirror: { name: "ORIGIN" } });
  const mirror = await inspect(nc, { stream: "COPY", subject: "origin.{resource}" });
  assert.deepEqual(errors(mirror), ["stream.mirror"]);
  assert.match(theOne(mirror, "stream.mirror").message, /ORIGIN/);
  await createStream(nc, { name: "KV_users", subjects: ["$KV.users.>"] });
  const bucket = await inspect(nc, { stream: "KV_users", subject: "$KV.users.{resource}" });
  assert.equal(theOne(bucket, "stream.reserved").severity, "warning");
  const keyed = await inspect(nc, { stream: "KV_users", subject: "$KV.users.{row.id}" });
  assert.ok(!keyed.some(({ code }) => code === "stream.reserved"));
});

Deno.test("inspect() finds an account that is nearly full", async () => {
  const config = `accounts { A { jetstream { max_file: 10000, max_mem: 10000 }, users: [{ user: a, password: a }] } }`;
  await using server = await startNatsServer({ config });
  await using nc = await connect({ url: server.url, authMode: "user_password", username: "a", password: "a" });
  await createStream(nc, { name: "FULL", subjects: ["full.>"] });
  const options = { stream: "FULL", subject: "full.{resource}" };
  assert.equal((await inspect(nc, options)).some(({ code }) => code === "account.limits"), false);
  await publishAcked(nc, "full.a", ["x".repeat(9_500)]);
  const { severity, field, message } = theOne(await inspect(nc, options), "account.limits");
  assert.deepEqual([severity, field], ["warning", "max_storage"]);
  assert.match(message, /10000/);
});

Deno.test("inspect() reports what permissions hide as findings", async () => {
  const config = passwordUsers(
    { username: "all", password: "p" },
    {
      username: "publisher",
      password: "p",
      permissions: { publish: ["$JS.API.STREAM.INFO.ORDERS", "orders.>"], subscribe: ["_MINE.>"] },
    },
    { username: "limited", password: "p", permissions: { publish: ["orders.>"], subscribe: ["_MINE.>"] } },
  );
  await using server = await startNatsServer({ config });
  const login = (username: string) =>
    connect({ url: server.url, authMode: "user_password", username, password: "p", inboxPrefix: "_MINE" });
  const options = { stream: "ORDERS", subject: "orders.{resource}", inboxPrefix: "_MINE" };
  await using all = await login("all");
  await createStream(all, { name: "ORDERS", subjects: ["orders.>"] });
  assert.deepEqual(hidden(await inspect(all, options)), []);
  await using publisher = await login("publisher");
  assert.deepEqual(hidden(await inspect(publisher, options)), ["info account.hidden", "info consumer.hidden"]);
  await using limited = await login("limited");
  assert.deepEqual(hidden(await inspect(limited, options)), ["error stream.hidden", "info account.hidden"]);
});

Deno.test("inspect() throws if no JetStream answers, even without a stream to look up", async () => {
  await using server = await startNatsServer({ jetstream: false });
  await using nc = await connect({ url: server.url });
  for (const stream of ["ORDERS", "{resource}"]) {
    await assert.rejects(inspect(nc, { stream, subject: "orders.{resource}" }), {
      name: "ConnectionError",
      code: "connection.no_jetstream",
    });
  }
});

Deno.test("inspect() refuses a wrong option by its name", async () => {
  await using server = await startNatsServer();
  await using nc = await connect({ url: server.url });
  const inspectWith = (how: object) => inspect(nc, { stream: "ORDERS", subject: "orders" }, how);
  await assert.rejects(inspectWith({ singal: 1 }), { code: "config.unknown", field: "singal" });
  await assert.rejects(inspectWith({ timeout: "soon" }), { name: "ConfigError", field: "timeout" });
  const codes = (await inspectWith({ timeout: "30s" })).map(({ code }) => code);
  assert.ok(codes.includes("stream.missing"), codes.join());
});

function errors(findings: readonly Finding[]): FindingCode[] {
  return findings.filter(({ severity }) => severity === "error").map(({ code }) => code);
}

function hidden(findings: readonly Finding[]): string[] {
  return findings.filter(({ code }) => code.endsWith(".hidden")).map(({ severity, code }) => `${severity} ${code}`);
}
