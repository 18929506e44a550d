import assert from "node:assert/strict";
import fc from "fast-check";
import { describe } from "../../src/util/describe.ts";
import { RouteError } from "../../src/errors/mod.ts";
import { assertStreamName, assertSubject, commandLineBytes, MAX_COMMAND_LINE } from "../../src/subject/name.ts";
import vectors from "../_testdata/vectors/subjects.json" with { type: "json" };

function refusesSubject(subject: string, rule: RegExp): void {
  assert.throws(() => assertSubject(subject), (error) => {
    assert.ok(error instanceof RouteError);
    assert.equal(error.code, "route.subject");
    assert.equal(error.subject, subject);
    assert.match(error.message, rule);
    if (subject.length <= 80) assert.ok(error.message.includes(describe(subject)), error.message);
    return true;
  });
}

Deno.test("assertSubject() accepts the vectors' valid subjects", () => {
  vectors.names.subjects.valid.forEach(assertSubject);
});

Deno.test("assertSubject() throws on the vectors' invalid subjects", () => {
  for (const subject of vectors.names.subjects.invalid) refusesSubject(subject, /^Cannot publish to /);
});

Deno.test("assertSubject() names the rule that is broken", () => {
  refusesSubject("", /must not be empty/);
  refusesSubject("a..b", /must not contain an empty token/);
  refusesSubject("a.*", /must not contain a wildcard/);
  refusesSubject("a.b>", /must not contain a wildcard/);
  for (const space of [" ", "\t", "\n", "\r", "\f", "\v", "\u00a0", "\u0085", "\u2003", "\u2028", "\u3000", "\ufeff"]) {
    refusesSubject(`a${space}b`, /white space or control/);
  }
  refusesSubject("a.\0", /white space or control/);
  refusesSubject("a.\ud800", /surrogate/);
});

Deno.test("assertSubject() throws below a reserved prefix only", () => {
  for (const prefix of ["$JS", "$JSC", "$SYS", "$NRG", "$GR", "_INBOX", "_R_", "_GR_", "$MQTT"]) {
    refusesSubject(`${prefix}.orders`, new RegExp(`must not be below \\${prefix}\\.`));
    assertSubject(prefix);
    assertSubject(`${prefix}x.orders`);
    assertSubject(`events.${prefix}.orders`);
    assertSubject(`${prefix.toLowerCase()}x.orders`);
  }
});

Deno.test("assertSubject() throws when the subject is too long for a protocol line", () => {
  const longest = MAX_COMMAND_LINE - " a.b 72 72".length;
  assertSubject("s".repeat(longest));
  refusesSubject("s".repeat(longest + 1), /must leave room on a command line of 4096 bytes: it has 4087$/);
  assertSubject("é".repeat(longest / 2));
  refusesSubject("é".repeat(longest / 2 + 1), /it has 4088$/);
});

Deno.test("assertSubject() accepts any sequence of visible tokens", () => {
  const token = fc.string({ unit: "grapheme", minLength: 1, maxLength: 9 })
    .map((text) => `t${text.replace(/[\s\p{Cc}.*>]/gu, "")}`);
  fc.assert(fc.property(fc.array(token, { minLength: 1, maxLength: 9 }), (tokens) => assertSubject(tokens.join("."))));
});

Deno.test("assertSubject() throws when the subject is not a string", () => {
  assert.throws(() => assertSubject(undefined as unknown as string), { code: "route.subject" });
});

Deno.test("assertStreamName() agrees with the vectors", () => {
  vectors.names.streams.valid.forEach(assertStreamName);
  for (const name of vectors.names.streams.invalid) {
    assert.throws(() => assertStreamName(name), (error) => {
      assert.ok(error instanceof RouteError);
      assert.equal(error.code, "route.stream_name");
      assert.equal(error.stream, name);
      assert.match(error.message, /^Cannot use ".*a stream name must /);
      return true;
    });
  }
});

Deno.test("assertStreamName() accepts 255 ASCII letters, digits, - and _ and nothing else", () => {
  assertStreamName("S".repeat(255));
  assert.throws(() => assertStreamName("S".repeat(256)), /at most 255 bytes: it has 256/);
  fc.assert(fc.property(fc.string({ unit: "binary", minLength: 1, maxLength: 4 }), (name) => {
    if (/^[A-Za-z0-9_-]*$/.test(name)) assertStreamName(name);
    else assert.throws(() => assertStreamName(name), { code: "route.stream_name" });
  }));
  assert.throws(() => assertStreamName("ORDERS\n"), { code: "route.stream_name" });
  assert.throws(() => assertStreamName(null as unknown as string), { code: "route.stream_name" });
});

Deno.test("commandLineBytes() counts the UTF-8 bytes of the line", () => {
  const line = "caf\u00e9.x _INBOX.abc.12 99 1024";
  assert.equal(
    commandLineBytes("caf\u00e9.x", "_INBOX.abc.12".length, 99, 1024),
    new TextEncoder().encode(line).length,
  );
});
