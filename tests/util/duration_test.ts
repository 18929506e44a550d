import assert from "node:assert/strict";
import fc from "fast-check";
import { durationMillis, durationNanos, parseDuration } from "../../src/util/duration.ts";
import { ConfigError } from "../../src/errors/mod.ts";
import vectors from "../_testdata/vectors/durations.json" with { type: "json" };

const NANOS = {
  ns: 1n,
  us: 1000n,
  "\u00b5s": 1000n,
  "\u03bcs": 1000n,
  ms: 10n ** 6n,
  s: 10n ** 9n,
  m: 60n * 10n ** 9n,
};

function refuses(value: unknown, code: string, shown: string): void {
  assert.throws(() => parseDuration(value as string), (error) => {
    assert.ok(error instanceof ConfigError, String(error));
    assert.equal(error.code, code, error.message);
    assert.equal(error.field, "duration");
    assert.ok(error.message.startsWith("duration must be a positive duration"), error.message);
    assert.ok(error.message.endsWith(`received ${shown}`), error.message);
    return true;
  });
}

Deno.test("parseDuration() returns the vectors' milliseconds", () => {
  for (const [text, millis] of vectors.valid) assert.equal(parseDuration(text!), millis, String(text));
});

Deno.test("parseDuration() throws on the vectors' invalid values", () => {
  for (const value of vectors.invalid) {
    assert.throws(() => parseDuration(value as string), ConfigError, JSON.stringify(value));
  }
});

Deno.test("parseDuration() names what is wrong: the type, the notation or the size", () => {
  refuses(null, "config.type", "null");
  refuses(undefined, "config.type", "undefined");
  refuses(true, "config.type", "true");
  refuses({}, "config.type", "an object");
  refuses(["5s"], "config.type", "an array");
  refuses(5n, "config.type", "5n");
  for (const text of ["", "+", "5", "5 s", "-5s", "1e3s", "5S", ".s", "0x5s", "5s-1s", "\u0665s", "++5s", "5s+5s"]) {
    refuses(text, "config.syntax", JSON.stringify(text));
  }
  for (const text of ["0s", "0.0h", "0.1ns", "+0ms", "2562047h48m", "9223372036854775808ns"]) {
    refuses(text, "config.range", JSON.stringify(text));
  }
  for (const value of [0, -1, NaN, Infinity, -Infinity, 1e13]) refuses(value, "config.range", String(value));
  refuses(-0, "config.range", "-0");
});

Deno.test("parseDuration() accepts Go's longest duration, and no more digits than a duration can need", () => {
  assert.equal(durationNanos("2562047h47m16.854775807s", "d"), 2n ** 63n - 1n);
  const long = `${"0".repeat(200)}1s`;
  assert.throws(() => parseDuration(long), { code: "config.syntax" });
});

Deno.test("parseDuration() sums the parts of any duration, exact to the nanosecond", () => {
  const unit = fc.constantFrom(...Object.keys(NANOS) as (keyof typeof NANOS)[]);
  const part = fc.tuple(fc.nat(99_999), fc.nat(999), unit);
  fc.assert(fc.property(fc.array(part, { minLength: 1, maxLength: 4 }), (parts) => {
    const text = parts.map(([whole, thousandths, unit]) => `${whole}.${`${thousandths}`.padStart(3, "0")}${unit}`);
    const nanos = parts.reduce(
      (sum, [whole, thousandths, unit]) => sum + BigInt(whole * 1000 + thousandths) * NANOS[unit] / 1000n,
      0n,
    );
    if (nanos === 0n) return assert.throws(() => parseDuration(text.join("")), { code: "config.range" });
    assert.equal(durationNanos(text.join(""), "d"), nanos);
    assert.equal(parseDuration(text.join("")), Number(nanos) / 1e6);
  }));
});

Deno.test("durationMillis() names the option", () => {
  assert.throws(() => durationMillis("5", "retry.budget"), {
    field: "retry.budget",
    message: 'retry.budget must be a positive duration with its unit, such as 5s, 1m30s or 100ms: received "5"',
  });
  assert.throws(() => durationMillis(0, "retry.budget"), {
    field: "retry.budget",
    message:
      "retry.budget must be a positive duration: milliseconds as a number, or a string such as 5s, 1m30s or 100ms: received 0",
  });
});
