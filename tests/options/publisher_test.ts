import assert from "node:assert/strict";
import fc from "fast-check";
import { describe } from "../../src/util/describe.ts";
import type { ConfigErrorCode } from "../../src/errors/mod.ts";
import { OPTION_KEYS, resolveOptions } from "../../src/options/publisher.ts";
import type { Options } from "../../src/types/mod.ts";
import { keepsSecret, refuses } from "../_support/config_errors.ts";

const REQUIRED = { stream: "EVENTS", subject: "events.{resource}" };

const resolve = (options: Record<string, unknown>) => resolveOptions({ ...REQUIRED, ...options } as Options);

/** A value of each kind that is neither a string nor a number. */
const OTHERS: readonly (readonly [value: unknown, shown: string])[] = [
  [null, "received null"],
  [true, "received true"],
  [{}, "received an object"],
  [["a"], "received an array"],
  [5n, "received 5n"],
  [() => {}, "received a function"],
  [Symbol("s"), "received a symbol"],
];

type Case = readonly [option: string, value: unknown, code: ConfigErrorCode, field: string, says: string];

const cases: readonly Case[] = [
  // Strings that are templates.
  ...["stream", "subject"].flatMap((option): Case[] => [
    ...OTHERS.map(([value, says]): Case => [option, value, "config.type", option, says]),
    [option, 5, "config.type", option, "received 5"],
    [option, "", "config.syntax", option, "must not be empty"],
    [option, "{table}", "config.syntax", option, 'received "{table}"'],
    [option, "{resource", "config.syntax", option, "brace"],
    [option, "a b", "config.syntax", option, 'received "a b"'],
    [option, "a\ud800", "config.syntax", option, "surrogate"],
  ]),
  ["stream", "{resource}.v1", "config.syntax", "stream", "letters, digits, - and _"],
  ["stream", `${"S".repeat(255)}{resource}`, "config.syntax", "stream", "at most 255 bytes"],
  ["subject", "events.*", "config.syntax", "subject", "must not contain a wildcard"],
  ["subject", "events..{resource}", "config.syntax", "subject", "must not contain an empty token"],
  ["subject", ".{resource}", "config.syntax", "subject", "must not contain an empty token"],
  ["subject", "$JS.API.{resource}", "config.syntax", "subject", "must not be below $JS."],
  ["subject", "_INBOX.{resource}", "config.syntax", "subject", "must not be below _INBOX."],
  ["subject", "s".repeat(4100), "config.syntax", "subject", "(4100 characters)"],
  // Booleans.
  ...["createStream", "expectedStream", "ownsConnection"].flatMap((option): Case[] => [
    [option, "true", "config.type", option, 'must be true or false: received "true"'],
    [option, 1, "config.type", option, "received 1"],
    [option, null, "config.type", option, "received null"],
  ]),
  // Durations.
  ...["publishTimeout", "retry.budget"].flatMap((field): Case[] => {
    const value = (given: unknown) => field === "retry.budget" ? { budget: given } : given;
    const option = field.split(".")[0]!;
    return [
      ...OTHERS.map(([given, says]): Case => [option, value(given), "config.type", field, says]),
      [option, value("5"), "config.syntax", field, 'received "5"'],
      [option, value(""), "config.syntax", field, 'received ""'],
      [option, value("5 s"), "config.syntax", field, 'received "5 s"'],
      [option, value("0s"), "config.range", field, 'received "0s"'],
      [option, value(0), "config.range", field, "received 0"],
      [option, value(-5), "config.range", field, "received -5"],
      [option, value(NaN), "config.range", field, "received NaN"],
      [option, value(Infinity), "config.range", field, "received Infinity"],
    ];
  }),
  ["publishTimeout", "600h", "config.range", "publishTimeout", "must be at most 2147483647 milliseconds"],
  ["publishTimeout", 2 ** 31, "config.range", "publishTimeout", "received 2147483648"],
  // Integers.
  ...["maxInFlight", "maxInFlightBytes"].flatMap((option): Case[] => [
    ...OTHERS.map(([value, says]): Case => [option, value, "config.type", option, says]),
    [option, "5", "config.type", option, 'received "5"'],
    [option, 1.5, "config.type", option, "must be a whole number"],
    [option, NaN, "config.type", option, "received NaN"],
    [option, Infinity, "config.range", option, "received Infinity"],
    [option, 0, "config.range", option, "received 0"],
    [option, -0, "config.range", option, "received -0"],
    [option, -1, "config.range", option, "received -1"],
    [option, 2 ** 53, "config.range", option, "received 9007199254740992"],
  ]),
  ["maxInFlight", 65_537, "config.range", "maxInFlight", "must be a whole number from 1 to 65536: received 65537"],
  // The namespace.
  ["namespace", null, "config.type", "namespace", "received null"],
  ["namespace", "acme", "config.type", "namespace", "must be a plain object"],
  ["namespace", ["a", "b", "c"], "config.type", "namespace", "received an array"],
  ["namespace", { tenant: 5 }, "config.type", "namespace.tenant", "received 5"],
  ["namespace", { pipeline: null }, "config.type", "namespace.pipeline", "received null"],
  ["namespace", { sinkConnection: "a\udc00" }, "config.syntax", "namespace.sinkConnection", "surrogate"],
  ["namespace", { sink_connection: "a" }, "config.unknown", "namespace.sink_connection", "namespace.sinkConnection"],
  // The id column.
  ["eventIdColumn", "", "config.syntax", "eventIdColumn", "must not be empty"],
  ["eventIdColumn", 5, "config.type", "eventIdColumn", "received 5"],
  ["eventIdColumn", [], "config.range", "eventIdColumn", "must name at least one column"],
  ["eventIdColumn", ["a", ""], "config.syntax", "eventIdColumn[1]", "must not be empty"],
  ["eventIdColumn", ["a", "a"], "config.conflict", "eventIdColumn", 'must not name a column twice: received "a"'],
  ["eventIdColumn", { a: 1 }, "config.type", "eventIdColumn", "must be a column's name or a list of names"],
  // Values of a row in the subject.
  ["stream", "S_{row.a}", "config.syntax", "stream", "must not contain {row.NAME}"],
  ...["e.{row}", "e.{row.}", "e.{row.a", "e.{{row.a}}", "e.{rows.a}", "e.{ row.a}"].map((value): Case => [
    "subject",
    value,
    "config.syntax",
    "subject",
    "must not contain braces other than {resource} and {row.NAME}: received",
  ]),
  ["subject", "e.{sku}", "config.syntax", "subject", '{row.NAME}. Write {row.sku} for the column "sku": received'],
  ["stream", "S_{sku}", "config.syntax", "stream", "must not contain braces other than {resource}: received"],
  ["subject", "e..{row.a}", "config.syntax", "subject", "must not contain an empty token"],
  ["subject", "$JS.{row.a}", "config.syntax", "subject", "must not be below $JS., which is reserved by the server"],
  ...[["", "must not be empty"], ["a.b", "must not contain a dot"], ["*", "must not contain a wildcard"], [
    "a b",
    "must not contain white space",
  ]].map((
    [fallback, says],
  ): Case => ["subject", `e.{row.a|${fallback}}`, "config.syntax", "subject", `in {row.a|${fallback}}: it ${says}`]),
  ["subjectEscape", "url", "config.range", "subjectEscape", "must be one of none, percent"],
  // Operations and bodies.
  ["operationColumn", "", "config.syntax", "operationColumn", "must not be empty"],
  ["operationValues", { c: "insert" }, "config.conflict", "operationValues", "must not be set without operationColumn"],
  ["operationValues", {}, "config.range", "operationValues", "must map at least one string"],
  ["operationValues", { c: "upsert" }, "config.range", "operationValues.c", 'received "upsert"'],
  ["bodyColumns", {}, "config.missing", "bodyColumns", "must have pick or omit"],
  ["bodyColumns", ["a"], "config.type", "bodyColumns", "must be a plain object"],
  ["bodyColumns", { pick: ["a"], omit: ["b"] }, "config.conflict", "bodyColumns", "either pick or omit, not both"],
  ["bodyColumns", { pick: [] }, "config.range", "bodyColumns.pick", "must name at least one column"],
  ["bodyColumns", { pick: "a" }, "config.type", "bodyColumns.pick", "must be a list of column names"],
  ["bodyColumns", { omit: ["a", 5] }, "config.type", "bodyColumns.omit[1]", "received 5"],
  ["bodyColumns", { pick: ["a", "a"] }, "config.conflict", "bodyColumns.pick", "must not name a column twice"],
  ["contentType", "a\r\nb", "config.syntax", "contentType", "visible ASCII"],
  ["contentType", "{row.type}", "config.syntax", "contentType", "without braces"],
  ["contentType", "text/plain; note=Nats-Msg-Id", "config.conflict", "contentType", "must not contain Nats-Msg-Id"],
  // Headers.
  ["headers", null, "config.type", "headers", "received null"],
  ["headers", [["A", "b"]], "config.type", "headers", "received an array"],
  ["headers", new Map([["A", "b"]]), "config.type", "headers", "received a Map"],
  ["headers", { "X-A": 5 }, "config.type", "headers", 'must have values that are strings: received 5 for "X-A"'],
  ["headers", { "X-A": ["b"] }, "config.type", "headers", "received an array"],
  ["headers", { "X-A": undefined }, "config.type", "headers", "received undefined"],
  ...["", "X A", "X:A", "X\u00e4", "X\r\nNats-Rollup", "X\t", "\u007f"].map((name): Case => [
    "headers",
    { [name]: "b" },
    "config.syntax",
    "headers",
    `must have names of visible ASCII characters without a colon: received ${describe(name)}`,
  ]),
  ...["Nats-TTL", "nats-ttl", "NATS-Rollup", "Nats-", "Nats-Msg-Id", "Nats-Batch-Commit", "Nats-Expected-Last-Msg-Id"]
    .map((
      name,
    ): Case => [
      "headers",
      { [name]: "1" },
      "config.conflict",
      "headers",
      `must not have names that begin with Nats-: received "${name}"`,
    ]),
  ...["X-Nats-Msg-Id", "xNATS-MSG-ID", "My-Nats-Msg-Id-Copy"].map((name): Case => [
    "headers",
    { [name]: "1" },
    "config.conflict",
    "headers",
    `must not have names that contain Nats-Msg-Id: received "${name}"`,
  ]),
  ...["Content-Type", "content-type", "FILAMENT-OPERATION"].map((name): Case => [
    "headers",
    { [name]: "1" },
    "config.conflict",
    "headers",
    `must not have names that jetrow writes itself: received "${name}"`,
  ]),
  ...["{resource}", "{row}", "{row.}", "{row.a", "{", "}", '{"a":1}', "{{resource}}", "{{row.a}}"].map((
    value,
  ): Case => [
    "headers",
    { "X-A": value },
    "config.syntax",
    "headers",
    `must have values without braces other than {row.NAME}: received ${JSON.stringify(value)} for "X-A"`,
  ]),
  ["headers", { "X-A": "a\nNats-Rollup: all" }, "config.syntax", "headers", "must have values without CR and LF"],
  ["headers", { "X-A": "a\r" }, "config.syntax", "headers", 'received "a\\r"'],
  ["headers", { "X-A": "a\ud800" }, "config.syntax", "headers", "surrogate"],
  [
    "headers",
    { "X-A": "see Nats-Msg-Id" },
    "config.conflict",
    "headers",
    "must not have values that contain Nats-Msg-Id",
  ],
  // Time to live.
  ...OTHERS.map(([value, says]): Case => ["ttl", value, "config.type", "ttl", says]),
  ["ttl", 90, "config.type", "ttl", "seconds in NATS): received 90"],
  ["ttl", "", "config.syntax", "ttl", 'received ""'],
  ["ttl", "90", "config.syntax", "ttl", 'received "90"'],
  ["ttl", "Never", "config.syntax", "ttl", 'received "Never"'],
  ["ttl", "0s", "config.range", "ttl", "at least one second"],
  ["ttl", "999ms", "config.range", "ttl", 'received "999ms"'],
  ["ttl", "-5s", "config.syntax", "ttl", 'received "-5s"'],
  // A single token, and a sequence of tokens.
  ["domain", "", "config.syntax", "domain", "must not be empty"],
  ["domain", "a.b", "config.syntax", "domain", "must not contain a dot"],
  ["domain", "*", "config.syntax", "domain", "wildcard"],
  ["domain", "a b", "config.syntax", "domain", "white space"],
  ["domain", 5, "config.type", "domain", "received 5"],
  ["inboxPrefix", "", "config.syntax", "inboxPrefix", "must not be empty"],
  ["inboxPrefix", "_INBOX.", "config.syntax", "inboxPrefix", "must not contain an empty token"],
  ["inboxPrefix", "in..box", "config.syntax", "inboxPrefix", "must not contain an empty token"],
  ["inboxPrefix", "in.*", "config.syntax", "inboxPrefix", "wildcard"],
  ["inboxPrefix", "in.>", "config.syntax", "inboxPrefix", "wildcard"],
  ["inboxPrefix", "in box", "config.syntax", "inboxPrefix", "white space"],
  ["inboxPrefix", "i".repeat(4090), "config.syntax", "inboxPrefix", "command line"],
  ["inboxPrefix", 5, "config.type", "inboxPrefix", "received 5"],
  ...["$JS", "$JS.ACK.x", "_R_.x", "_GR_.x", "$SYS.x", "$MQTT"].map((prefix): Case => [
    "inboxPrefix",
    prefix,
    "config.syntax",
    "inboxPrefix",
    "which is reserved by the server",
  ]),
  // Other options.
  ["onProgress", "log", "config.type", "onProgress", "must be a function"],
  ["onProgress", null, "config.type", "onProgress", "received null"],
  ["retry", true, "config.type", "retry", "received true"],
  ["retry", "30s", "config.type", "retry", "received a string"],
  ["retry", {}, "config.missing", "retry.budget", "is required"],
  ["retry", { budget: undefined }, "config.missing", "retry.budget", "is required"],
  ["retry", { bugdet: "30s" }, "config.unknown", "retry.bugdet", 'did you mean "retry.budget'],
  ["publishMode", "Atomic", "config.range", "publishMode", "must be one of individual, atomic, fast"],
  ["publishMode", "", "config.range", "publishMode", 'received ""'],
  ["publishMode", true, "config.type", "publishMode", "received true"],
];

for (const [option, value, code, field, says] of cases) {
  const shown = typeof value === "string" ? JSON.stringify(value.slice(0, 40)) : Deno.inspect(value, { compact: true });
  Deno.test(`resolveOptions() throws when ${option} is ${shown}: ${says}`, () => {
    refuses(() => resolve({ [option]: value }), { code, field, says });
  });
}

Deno.test("resolveOptions() throws when an option would be in the headers that are switched off", () => {
  for (const options of [{ operationColumn: "op" }, { contentType: "text/plain" }, { expectedStream: true }]) {
    const [field] = Object.keys(options);
    const says = "must not be set if standardHeaders is false";
    refuses(() => resolve({ ...options, standardHeaders: false }), { code: "config.conflict", field: field!, says });
  }
  assert.equal(resolve({ standardHeaders: false, expectedStream: false }).standardHeaders, false);
});

Deno.test("resolveOptions() throws when stream or subject is missing", () => {
  for (const field of ["stream", "subject"]) {
    refuses(() => resolve({ [field]: undefined }), { code: "config.missing", field, says: "is required" });
  }
});

Deno.test("resolveOptions() throws when the options are not a plain object", () => {
  class Config {
    stream = "EVENTS";
    subject = "events.all";
  }
  for (const options of [null, undefined, [], new Config(), new Map(), () => {}, 5, Object.create(REQUIRED)]) {
    refuses(() => resolveOptions(options), { code: "config.type", field: "options", says: "must be a plain object" });
  }
  const notAwaited = Promise.resolve(REQUIRED) as unknown as Options;
  refuses(() => resolveOptions(notAwaited), { code: "config.type", field: "options", says: "received a Promise" });
  const error = refuses(() => resolveOptions("nats://me:s3cret@a" as unknown as Options), {
    code: "config.type",
    field: "options",
    says: "received a string",
  });
  keepsSecret(error, "s3cret");
});

Deno.test("resolveOptions() accepts objects without a prototype", () => {
  assert.equal(resolveOptions(Object.assign(Object.create(null), REQUIRED)).stream, "EVENTS");
});

Deno.test("resolveOptions() throws on an unknown key, names the nearest and never shows the value", () => {
  const near: Record<string, string> = {
    sream: "stream",
    Stream: "stream",
    max_in_flight: "maxInFlight",
    maxInflight: "maxInFlight",
    passwrd: "password",
    pasword: "password",
    nkey_seed: "nkeySeed",
    tenant: "namespace.tenant",
    sinkConnection: "namespace.sinkConnection",
  };
  for (const [key, nearest] of Object.entries(near)) {
    const says = `did you mean "${nearest}"?`;
    const error = refuses(() => resolve({ [key]: "s3cret" }), { code: "config.unknown", field: key, says });
    keepsSecret(error, "s3cret");
  }
  for (const key of ["constructor", "toString", "__proto__", "hasOwnProperty", ""]) {
    const options = JSON.parse(JSON.stringify(REQUIRED).replace("{", `{${JSON.stringify(key)}:"s3cret",`));
    keepsSecret(
      refuses(() => resolveOptions(options), { code: "config.unknown", field: key, says: "use one of" }),
      "s3cret",
    );
  }
  assert.throws(() => resolve({ ["x".repeat(100_000)]: 1 }), {
    code: "config.unknown",
    message: /\(100000 characters\)/,
  });
  refuses(() => resolve({ sream: undefined }), { code: "config.unknown", field: "sream", says: "did you mean" });
});

Deno.test("resolveOptions() does not read the connection's keys and keeps no credential", () => {
  const read: string[] = [];
  const options = { ...REQUIRED };
  for (const key of OPTION_KEYS.camel) {
    if (key in options || key === "inboxPrefix") continue;
    Object.defineProperty(options, key, { enumerable: true, get: () => void read.push(key) });
  }
  const settings = resolveOptions(options);
  for (
    const key of ["url", "authMode", "username", "password", "jwt", "nkeySeed", "token", "name", "reconnect", "tls"]
  ) {
    assert.ok(!read.includes(key), key);
    assert.ok(!(key in settings), key);
  }
  assert.equal(new Set(read).size, read.length, "an option was read twice");
  keepsSecret(resolve({ password: "s3cret", token: 5, tls: { key: "s3cret" } }), "s3cret");
});

Deno.test("resolveOptions() throws when a getter throws, without the getter's error", () => {
  const options = Object.defineProperty({ ...REQUIRED }, "ttl", {
    enumerable: true,
    get() {
      throw new Error("s3cret");
    },
  });
  const error = refuses(() => resolveOptions(options), {
    code: "config.type",
    field: "ttl",
    says: "its getter throws",
  });
  assert.equal(error.cause, undefined);
});

Deno.test("resolveOptions() ignores properties added to Object.prototype", () => {
  const prototype = Object.prototype as unknown as Record<string, unknown>;
  prototype["createStream"] = false;
  try {
    assert.equal(resolve({}).createStream, true);
  } finally {
    delete prototype["createStream"];
  }
});

Deno.test("resolveOptions() fills in the defaults for absent and undefined options", () => {
  const defaults = {
    stream: "EVENTS",
    subject: "events.{resource}",
    createStream: true,
    publishTimeout: 5_000,
    maxInFlight: 1_024,
    maxInFlightBytes: 16_777_216,
    namespace: { tenant: "", pipeline: "", sinkConnection: "" },
    eventIdColumns: ["_filament_event_id"],
    eventIdRequired: false,
    operationValues: { insert: "insert", update: "update", delete: "delete" },
    contentType: "application/json",
    subjectEscape: "none",
    standardHeaders: true,
    expectedStream: true,
    headers: [],
    ownsConnection: false,
    publishMode: "individual",
  };
  assert.deepEqual(resolve({}), defaults);
  const none = Object.fromEntries(OPTION_KEYS.camel.map((key) => [key, undefined]));
  assert.deepEqual(resolveOptions({ ...none, ...REQUIRED } as unknown as Options), defaults);
});

Deno.test("resolveOptions() returns every option in the form that the publisher needs", () => {
  const onProgress = () => {};
  const settings = resolve({
    createStream: false,
    publishTimeout: "1.5s",
    maxInFlight: 65_536,
    maxInFlightBytes: 1,
    namespace: { pipeline: "p" },
    eventIdColumn: "id",
    expectedStream: false,
    headers: { "X-B": " b ", "x-b": "", "__proto__x": "1", "X-\u007e!": "caf\u00e9\t;" },
    ttl: "1m30s",
    domain: "hub",
    inboxPrefix: "_INBOX.me",
    ownsConnection: true,
    onProgress,
    retry: { budget: "30s" },
    publishMode: "fast",
    subjectEscape: "percent",
    operationColumn: "op",
    operationValues: { c: "insert" },
    rawBodyColumn: "payload",
  });
  assert.deepEqual(settings, {
    stream: "EVENTS",
    subject: "events.{resource}",
    createStream: false,
    publishTimeout: 1_500,
    maxInFlight: 65_536,
    maxInFlightBytes: 1,
    namespace: { tenant: "", pipeline: "p", sinkConnection: "" },
    eventIdColumns: ["id"],
    eventIdRequired: true,
    operationColumn: "op",
    operationValues: { c: "insert" },
    rawBodyColumn: "payload",
    contentType: "application/octet-stream",
    subjectEscape: "percent",
    standardHeaders: true,
    expectedStream: false,
    headers: [["X-B", "b"], ["x-b", ""], ["__proto__x", "1"], ["X-~!", "caf\u00e9\t;"]],
    ttl: "90",
    ttlMs: 90_000,
    domain: "hub",
    inboxPrefix: "_INBOX.me",
    ownsConnection: true,
    onProgress,
    retry: { budget: 30_000 },
    publishMode: "fast",
  });
});

Deno.test("resolveOptions() copies lists of columns, and refuses two ways to make bodies", () => {
  const [names, pick] = [["a", "b"], ["c"]];
  const settings = resolve({ eventIdColumn: names, bodyColumns: { pick } });
  names.push("x");
  pick.push("x");
  assert.deepEqual([settings.eventIdColumns, settings.bodyColumns], [["a", "b"], { pick: ["c"] }]);
  assert.deepEqual(resolve({ bodyColumns: { omit: [] } }).bodyColumns, { omit: [] });
  const both = { rawBodyColumn: "a", bodyColumns: { omit: ["b"] } };
  refuses(() => resolve(both), {
    code: "config.conflict",
    field: "rawBodyColumn",
    says: "must not be set with bodyColumns",
  });
  const says = "must not be set with json";
  const forms = { rawBodyColumn: "a", json: { int64: "string" } };
  refuses(() => resolve(forms), { code: "config.conflict", field: "rawBodyColumn", says });
});

Deno.test("resolveOptions() accepts a header named __proto__ like any other", () => {
  const headers = JSON.parse('{"__proto__":"a"}');
  assert.deepEqual(resolve({ headers }).headers, [["__proto__", "a"]]);
});

Deno.test("resolveOptions() writes a time to live in whole seconds as digits, and any other as a duration", () => {
  const sent = {
    "1s": "1",
    "1000ms": "1",
    "1h": "3600",
    "1.5s": "1.5s",
    "1001ms": "1.001s",
    "61s1ns": "61.000000001s",
  };
  for (const [ttl, text] of Object.entries(sent)) assert.equal(resolve({ ttl }).ttl, text);
  assert.equal(resolve({ ttl: "1500ms" }).ttlMs, 1_500);
  assert.deepEqual([resolve({ ttl: "never" }).ttl, resolve({ ttl: "never" }).ttlMs], ["never", undefined]);
});

Deno.test("resolveOptions() treats an id column with the default name as named explicitly", () => {
  assert.equal(resolve({ eventIdColumn: "_filament_event_id" }).eventIdRequired, true);
});

Deno.test("resolveOptions() accepts every integer within the limits", () => {
  fc.assert(
    fc.property(fc.integer({ min: 1, max: 65_536 }), (n) => assert.equal(resolve({ maxInFlight: n }).maxInFlight, n)),
  );
  fc.assert(fc.property(fc.maxSafeInteger().filter((n) => n > 0), (n) => {
    assert.equal(resolve({ maxInFlightBytes: n }).maxInFlightBytes, n);
  }));
});

Deno.test("resolveOptions() returns deeply frozen settings and leaves the options unchanged", () => {
  const options = Object.freeze({
    ...REQUIRED,
    namespace: Object.freeze({ tenant: "a" }),
    headers: Object.freeze({ "X-A": " b " }),
    retry: Object.freeze({ budget: 5 }),
  });
  const before = structuredClone(options);
  const settings = resolveOptions(options);
  assert.deepEqual(options, before);
  for (const value of [settings, settings.namespace, settings.headers, settings.headers[0], settings.retry]) {
    assert.ok(Object.isFrozen(value));
  }
});
