import assert from "node:assert/strict";
import type { JetStreamAccountStats, StreamInfo } from "@nats-io/jetstream";
import { type Finding, type FindingCode, renderFinding } from "../../../src/stream/checks/finding.ts";
import * as checks from "../../../src/stream/checks/findings.ts";
import { apiError, type Document, fakeConnection, streamInfo } from "../../_support/fake/mod.ts";
import { inspect } from "../../../src/stream/checks/inspect.ts";

type DestinationFacts = checks.DestinationFacts;

const refusalFindings = (facts: DestinationFacts): Finding[] =>
  checks.refusalFindings(facts).map((finding) => renderFinding(finding));
const destinationFindings = (facts: DestinationFacts): Finding[] =>
  checks.destinationFindings(facts).map((finding) => renderFinding(finding));

/** Facts of a stream that accepts rows; `config`, `over` and `more` override parts of them. */
function facts(config: Document = {}, over: Partial<DestinationFacts> = {}, more: Document = {}): DestinationFacts {
  return {
    stream: "ORDERS",
    info: streamInfo("ORDERS", config, more) as unknown as StreamInfo,
    pattern: "orders.*",
    sharedByResources: true,
    settings: { subject: "orders.{resource}", createStream: true, publishMode: "individual", publishTimeout: 5000 },
    server: { version: "2.15.2", apiLevel: 5, maxPayload: 1_048_576 },
    ...over,
  };
}

const settings = (over: Partial<DestinationFacts["settings"]>) => ({ ...facts().settings, ...over });
const server = (version: string, apiLevel?: number) => ({ version, apiLevel, maxPayload: 1_048_576 });
const codes = (findings: readonly Finding[]): FindingCode[] => findings.map(({ code }) => code);

Deno.test("refusalFindings() returns nothing for a stream that accepts rows", () => {
  assert.deepEqual(refusalFindings(facts()), []);
});

Deno.test("stream.reserved accepts a KV bucket if each row has a key, and no object store", () => {
  const found = (name: string, subject: string) =>
    codes(destinationFindings(facts({ name }, { settings: settings({ subject }) }))).includes("stream.reserved");
  assert.equal(found("KV_B", "$KV.B.{row.key}"), false);
  assert.equal(found("KV_B", "$KV.B.{resource}"), true);
  assert.equal(found("KV_B", "$KV.B.k"), true);
  assert.equal(found("OBJ_B", "$O.B.M.{row.key}"), true);
  assert.equal(found("KVS", "kvs"), false);
});

Deno.test("stream.batch_flag depends on the version of the server that hosts the stream, if the stream names it", () => {
  const atomic = (version: string, level: string, flag = true) =>
    codes(refusalFindings(facts(
      { allow_atomic: flag, metadata: { "_nats.ver": version, "_nats.level": level } },
      { settings: settings({ publishMode: "atomic" }), server: server("2.15.2", 5) },
    )));
  assert.deepEqual(atomic("2.12.1", "2"), []);
  assert.deepEqual(atomic("2.15.0-dev", "5"), []);
  assert.deepEqual(atomic("2.12.0", "2"), ["stream.batch_flag"], "ids in a batch came with 2.12.1");
  assert.deepEqual(atomic("2.11.9", "1"), ["stream.batch_flag"]);
  assert.deepEqual(atomic("2.14.0", "4", false), ["stream.batch_flag"]);
});

Deno.test("stream.batch_flag depends on the connected server if the stream names no version or is missing", () => {
  const fast = (version: string, apiLevel?: number) =>
    codes(refusalFindings(facts({ allow_batched: true, metadata: undefined }, {
      settings: settings({ publishMode: "fast" }),
      server: server(version, apiLevel),
    })));
  assert.deepEqual(fast("2.14.0", 4), []);
  assert.deepEqual(fast("2.14.5"), []);
  assert.deepEqual(fast("2.12.4", 2), ["stream.batch_flag"]);
  assert.deepEqual(fast("unknown"), ["stream.batch_flag"]);
  assert.deepEqual(fast("unknown", 4), []);
  const missing = facts({}, {
    info: undefined,
    settings: settings({ publishMode: "fast" }),
    server: server("2.12.4", 2),
  });
  assert.deepEqual(codes(refusalFindings(missing)), ["stream.missing", "stream.batch_flag"]);
});

Deno.test("stream.ttl_off refuses a time to live that an old server would ignore", () => {
  const ttl = { settings: settings({ ttl: "60", ttlMs: 60_000 }) };
  assert.deepEqual(codes(refusalFindings(facts({ allow_msg_ttl: true }, ttl))), []);
  const [off] = refusalFindings(facts({}, ttl));
  assert.deepEqual([off?.code, /with a time to live \(1m\)/.test(off?.message ?? "")], ["stream.ttl_off", true]);
  const old = facts({}, { ...ttl, info: undefined, server: server("2.10.4") });
  assert.deepEqual(codes(refusalFindings(old)), ["stream.missing", "stream.ttl_off"]);
  const never = { settings: settings({ ttl: "never" }) };
  assert.deepEqual(codes(refusalFindings(facts({}, never))), ["stream.ttl_off"]);
  const marker = { allow_msg_ttl: true, subject_delete_marker_ttl: 3600e9 };
  assert.ok(!codes(destinationFindings(facts(marker, never))).includes("stream.marker_ttl"), "never is not raised");
});

Deno.test("stream.too_small counts what the server stores with a row, to the byte", () => {
  const found = (max_bytes: number, storage: string) =>
    codes(refusalFindings(facts({ discard: "old", max_bytes, storage }, { largestMessage: 1000 })));
  assert.deepEqual(found(1034, "file"), []);
  assert.deepEqual(found(1033, "file"), ["stream.too_small"]);
  assert.deepEqual(found(1016, "memory"), []);
  assert.deepEqual(found(1015, "memory"), ["stream.too_small"]);
  const refused = facts({ discard: "new", max_bytes: 10 }, { largestMessage: 1000 });
  assert.deepEqual(codes(refusalFindings(refused)), [], "discard new refuses the row itself");
});

Deno.test("stream.offline is found when a lookup fails for another reason than a missing stream", () => {
  for (const createStream of [true, false]) {
    const failure = { code: 500, err_code: 10118, description: "stream is offline" };
    const found = refusalFindings(facts({}, { info: undefined, failure, settings: settings({ createStream }) }));
    assert.deepEqual(found.map(({ severity, code }) => [severity, code]), [["error", "stream.offline"]]);
    assert.match(found[0]!.message, /stream is offline \(10118\)/);
  }
});

Deno.test("inspect() finds a stream that requires a newer server", async () => {
  const offline = apiError(
    "stream_info_response",
    500,
    10194,
    "stream is offline: unsupported - required API level: 9",
  );
  const account = { type: "io.nats.jetstream.api.v1.account_info_response", limits: {} };
  const fake = fakeConnection({ requests: ({ subject }) => subject.endsWith(".API.INFO") ? account : offline });
  const found = await inspect(fake.nc, { stream: "ORDERS", subject: "orders.{resource}" });
  const { severity, message } = found.find(({ code }) => code === "stream.offline")!;
  assert.equal(severity, "error");
  assert.match(message, /required API level: 9/);
});

Deno.test("stream.no_leader is found only for a clustered stream", () => {
  assert.deepEqual(codes(refusalFindings(facts({}, {}, { cluster: { name: "c" } }))), ["stream.no_leader"]);
  assert.deepEqual(refusalFindings(facts({}, {}, { cluster: undefined })), []);
});

Deno.test("stream.not_captured compares patterns, not the subjects of single resources", () => {
  const captured = (subjects: string[], pattern: string) =>
    refusalFindings(facts({ subjects }, { pattern })).length === 0;
  assert.ok(captured(["warehouse.>"], "warehouse.*"));
  assert.ok(captured(["warehouse.orders", "warehouse.items"], "warehouse.*"));
  assert.ok(!captured(["warehouse.public.>"], "warehouse.*"));
  assert.ok(!captured([], "warehouse.*"));
});

Deno.test("server.old is found for servers below 2.11", () => {
  const old = (version: string) =>
    codes(destinationFindings(facts({ metadata: undefined }, { server: server(version) }))).includes("server.old");
  assert.deepEqual([old("2.10.29"), old("2.9.10"), old("2.11.0"), old("2.15.2")], [true, true, false, false]);
});

Deno.test("account.limits reads the tier of the stream's replicas, and knows unlimited tiers", () => {
  const account = (over: object) => ({ storage: 95, memory: 0, limits: limits(100), ...over }) as JetStreamAccountStats;
  const limits = (max_storage: number) => ({ max_storage, max_memory: -1 });
  const found = (over: object, num_replicas = 3) =>
    codes(destinationFindings(facts({ num_replicas }, { account: account(over) }))).includes("account.limits");
  assert.equal(found({}), true);
  assert.equal(found({ storage: 90 }), false);
  assert.equal(found({ limits: limits(-1) }), false);
  const tiers = { R1: account({ storage: 1 }), R3: account({ storage: 99 }) };
  assert.equal(found({ storage: 0, tiers }, 3), true);
  assert.equal(found({ storage: 99, tiers }, 1), false);
});

Deno.test("stream.replica_lag tolerates the lag of a healthy replica", () => {
  const lag = (replica: object) =>
    codes(destinationFindings(facts({ num_replicas: 3 }, {}, {
      cluster: { leader: "a", replicas: [{ name: "b", current: true, active: 1, ...replica }] },
    }))).includes("stream.replica_lag");
  assert.deepEqual([lag({}), lag({ lag: 20 }), lag({ lag: 5000 })], [false, false, true]);
  assert.deepEqual([lag({ current: false }), lag({ offline: true })], [true, true]);
});

Deno.test("every finding is complete: a field, a message of one line, a remedy that is a sentence", () => {
  const odd = facts({
    discard: "old",
    max_msgs: 5,
    max_msgs_per_subject: 1,
    max_age: 1e9,
    duplicate_window: 1e9,
    storage: "memory",
    persist_mode: "async",
    no_ack: true,
    sealed: true,
    sources: [{ name: "A" }],
  }, { pattern: "elsewhere", settings: settings({ ttl: "1", ttlMs: 1000, publishMode: "fast" }) });
  const found = destinationFindings(odd);
  assert.ok(found.length > 12);
  for (const { field, message, remedy, code } of found) {
    assert.match(field, /^[a-z_.]+$/, code);
    assert.ok(!/\n|undefined|NaN|\[object/.test(message + remedy), code);
    assert.match(remedy, /^[A-Z].*\.$/, code);
  }
});
