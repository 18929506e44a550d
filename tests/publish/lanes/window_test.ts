import assert from "node:assert/strict";
import fc from "fast-check";
import { Window } from "../../../src/publish/lanes/window.ts";

/** The simple version: a list of the outstanding messages. */
class NaiveWindow {
  readonly items: { token: number; owner: object; row: number; bytes: number; deadline: number }[] = [];
  constructor(readonly maxCount: number, readonly maxBytes: number) {}
  get bytes(): number {
    return this.items.reduce((sum, { bytes }) => sum + bytes, 0);
  }
  fits(bytes: number): boolean {
    return this.items.length < this.maxCount && this.bytes + bytes <= this.maxBytes;
  }
}

type Command =
  | { kind: "reserve"; owner: number; bytes: number; wait: number }
  | { kind: "take"; which: number }
  | { kind: "stale"; which: number }
  | { kind: "foreign"; token: number }
  | { kind: "expire"; wait: number }
  | { kind: "detach"; owner: number };

const command: fc.Arbitrary<Command> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant("reserve" as const),
      owner: fc.nat(2),
      bytes: fc.integer({ min: 1, max: 50 }),
      wait: fc.nat(3),
    }),
  },
  { weight: 3, arbitrary: fc.record({ kind: fc.constant("take" as const), which: fc.nat() }) },
  fc.record({ kind: fc.constant("stale" as const), which: fc.nat() }),
  fc.record({
    kind: fc.constant("foreign" as const),
    token: fc.oneof(fc.constantFrom(NaN, -1, 0.5, Infinity, 2 ** 53), fc.integer({ min: 0, max: 10_000 })),
  }),
  fc.record({ kind: fc.constant("expire" as const), wait: fc.nat(20) }),
  fc.record({ kind: fc.constant("detach" as const), owner: fc.nat(3) }),
);

Deno.test("Window agrees with a plain list under any order of reservations, answers, repeats, losses and timeouts", () => {
  const owners = [{ name: "a" }, { name: "b" }, { name: "c" }];
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 50, max: 150 }),
      fc.array(command, { maxLength: 120 }),
      (maxCount, maxBytes, commands) => {
        const window = new Window<object>(maxCount, maxBytes);
        const naive = new NaiveWindow(maxCount, maxBytes);
        const retired: number[] = [];
        let clock = 0;
        let row = 0;
        const remove = (index: number) => retired.push(...naive.items.splice(index, 1).map(({ token }) => token));
        for (const step of commands) {
          switch (step.kind) {
            case "reserve": {
              assert.equal(window.fits(step.bytes), naive.fits(step.bytes));
              if (!naive.fits(step.bytes)) {
                assert.throws(() => window.reserve(owners[0]!, 0, step.bytes, clock), RangeError);
                break;
              }
              clock += step.wait;
              const owner = owners[step.owner]!;
              const token = window.reserve(owner, row, step.bytes, clock + 10);
              assert.ok(!retired.includes(token) && naive.items.every((item) => item.token !== token), "a new token");
              naive.items.push({ token, owner, row: row++, bytes: step.bytes, deadline: clock + 10 });
              break;
            }
            case "take": {
              if (naive.items.length === 0) break;
              const index = step.which % naive.items.length;
              const item = naive.items[index]!;
              assert.equal(window.peek(item.token), item.owner);
              assert.equal(window.take(item.token), true);
              assert.deepEqual([window.owner, window.row], [item.owner, item.row]);
              remove(index);
              break;
            }
            case "stale":
              if (retired.length > 0) assert.equal(window.take(retired[step.which % retired.length]!), false);
              break;
            case "foreign":
              if (naive.items.every((item) => item.token !== step.token)) {
                assert.equal(window.take(step.token), false);
                assert.equal(window.peek(step.token), undefined);
              }
              break;
            case "expire": {
              clock += step.wait;
              while (naive.items[0] !== undefined && naive.items[0].deadline <= clock) {
                const { owner, row } = naive.items[0];
                assert.equal(window.expire(clock), true);
                assert.deepEqual([window.owner, window.row], [owner, row]);
                remove(0);
              }
              assert.equal(window.expire(clock), false);
              break;
            }
            case "detach": {
              const owner = owners[step.owner];
              const expected = naive.items.filter((item) => owner === undefined || item.owner === owner);
              const freed: number[] = [];
              window.detach(owner, (_, row) => freed.push(row));
              assert.deepEqual(freed, expected.map((item) => item.row));
              for (const item of expected) remove(naive.items.indexOf(item));
              break;
            }
          }
          assert.equal(window.count, naive.items.length);
          assert.equal(window.bytes, naive.bytes);
          assert.equal(window.nextDeadline, naive.items[0]?.deadline ?? Infinity);
        }
      },
    ),
    { numRuns: 300 },
  );
});

Deno.test("Window returns a million tokens without repeating one", () => {
  const window = new Window<object>(7, 1e9);
  const owner = {};
  const seen = new Set<number>();
  for (let i = 0; i < 1_000_000; i++) {
    const token = window.reserve(owner, i, 1, i);
    seen.add(token);
    assert.ok(window.take(token));
  }
  assert.equal(seen.size, 1_000_000);
});

Deno.test("Window frees the messages of one owner without reading those of the others", () => {
  const count = 2000;
  let reads = 0;
  const Real = globalThis.Int32Array;
  globalThis.Int32Array = new Proxy(Real, {
    construct: (target, args) =>
      new Proxy(Reflect.construct(target, args), {
        get(array, key) {
          reads++;
          return Reflect.get(array, key, array);
        },
      }),
  });
  let window: Window<object>;
  try {
    window = new Window<object>(count, Infinity);
  } finally {
    globalThis.Int32Array = Real;
  }
  const owners = Array.from({ length: count }, () => ({}));
  owners.forEach((owner, row) => window.reserve(owner, row, 1, row));
  reads = 0;
  const freed: number[] = [];
  for (const owner of owners.toReversed()) window.detach(owner, (_, row) => freed.push(row));
  assert.deepEqual(freed, owners.map((_, i) => count - 1 - i));
  assert.equal(window.count, 0);
  assert.ok(reads < 20 * count, `${reads} reads for ${count} messages`);
});
