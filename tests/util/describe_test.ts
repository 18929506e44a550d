import { RecordBatch, tableFromArrays } from "apache-arrow";
import assert from "node:assert/strict";
import { runInNewContext } from "node:vm";
import { describe } from "../../src/util/describe.ts";

Deno.test("describe() shows a string quoted, on one line and truncated", () => {
  assert.equal(describe('a "b"\n'), '"a \\"b\\"\\n"');
  assert.equal(describe("x".repeat(80)), `"${"x".repeat(80)}"`);
  assert.equal(describe("x".repeat(81)), `"${"x".repeat(80)}"... (81 characters)`);
  assert.equal(
    describe("\u001b[31m \u007f \u009b31m \u0085 \u2028 \u00a0é"),
    '"\\u001b[31m \\u007f \\u009b31m \\u0085 \\u2028 \u00a0é"',
  );
});

Deno.test("describe() distinguishes primitive values", () => {
  const shown: readonly (readonly [unknown, string])[] = [
    [undefined, "undefined"],
    [null, "null"],
    [true, "true"],
    [-0, "-0"],
    [NaN, "NaN"],
    [5n, "5n"],
    [Symbol("s3cret"), "a symbol"],
    [() => {}, "a function"],
    [class Word {}, "a function"],
  ];
  for (const [value, text] of shown) assert.equal(describe(value), text);
});

Deno.test("describe() names the class of an instance", () => {
  class Own {}
  const table = tableFromArrays({ id: [1] });
  const shown: readonly (readonly [unknown, string])[] = [
    [Promise.resolve(), "a Promise"],
    [new Map(), "a Map"],
    [new Date(NaN), "a Date"],
    [new URL("ws://localhost"), "a URL"],
    [new Uint8Array(1), "a Uint8Array"],
    [new Int32Array(1), "an Int32Array"],
    [new ArrayBuffer(1), "an ArrayBuffer"],
    [new Error("s3cret"), "an Error"],
    [AbortSignal.abort(), "an AbortSignal"],
    [table, "a Table"],
    [table.batches[0], "a RecordBatch"],
    [RecordBatch.prototype, "an object"],
    [new Own(), "an Own"],
    [(function* () {})(), "an object"],
    [runInNewContext("new Map()"), "a Map"],
  ];
  for (const [value, text] of shown) assert.equal(describe(value), text);
});

Deno.test("describe() writes only 'an object' when the class has no harmless name", () => {
  const named = (name: string) => new ({ [name]: class {} })[name]!();
  const objects: readonly unknown[] = [
    {},
    Object.create(null),
    Object.create(Object.create(null)),
    Object.create({ s3cret: 1 }),
    runInNewContext("({})"),
    { constructor: { name: "Secret" } },
    { constructor: class Secret {} },
    Object.create({ constructor: "Secret" }),
    Object.create({ constructor: null }),
    new (class {})(),
    new (class Secret {
      static name = "Secret";
    })(),
    new (class Secret {
      static get name(): string {
        throw new Error("read");
      }
    })(),
    named("t"),
    named("Ab"),
    named("a secret"),
    named("A\u001b[31m"),
    named("Table$1"),
    named(`S${"U".repeat(57)}`),
  ];
  for (const object of objects) assert.equal(describe(object), "an object");
});

Deno.test("describe() runs no code of the value and never throws", () => {
  const trap = (): never => {
    throw new Error("ran");
  };
  const members = ["toString", "toJSON", "valueOf", "constructor", "name"];
  const traps = Object.fromEntries(members.map((key) => [key, { get: trap }]));
  class Trapped {}
  Object.defineProperties(Trapped.prototype, {
    ...traps,
    [Symbol.toPrimitive]: { get: trap },
    [Symbol.toStringTag]: { get: trap },
  });
  assert.equal(describe(new Trapped()), "an object");
  assert.equal(describe(Object.defineProperties(new Map(), traps)), "a Map");

  const handler = new Proxy({}, { get: () => trap });
  assert.equal(describe(new Proxy({}, handler)), "an object");
  assert.equal(describe(new Proxy([], handler)), "an array");
  assert.equal(describe(Object.create(new Proxy({}, handler))), "an object");
  assert.equal(describe(new Proxy(new Map(), {})), "a Map");
  const revoked = Proxy.revocable({}, {});
  revoked.revoke();
  assert.equal(describe(revoked.proxy), "an object");
});
