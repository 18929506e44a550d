import assert from "node:assert/strict";
import fc from "fast-check";
import type { Call } from "../../../src/publish/call.ts";
import { FastBatch } from "../../../src/publish/lanes/fast_batch.ts";
import type { Destination } from "../../../src/stream/destination.ts";

/** A row of the simple model. */
interface Row {
  readonly owner: number;
  readonly index: number;
  readonly deadline: number;
  state: "open" | "settled" | "gone";
}

type Step =
  | { readonly what: "add"; readonly owner: number; readonly count: number; readonly wait: number }
  | { readonly what: "settle"; readonly upTo: number }
  | { readonly what: "expire"; readonly late: number }
  | { readonly what: "drop"; readonly owner: number };

const OWNERS = 3;
const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    what: fc.constant("add" as const),
    owner: fc.nat(OWNERS - 1),
    count: fc.integer({ min: 1, max: 5 }),
    wait: fc.nat(2),
  }),
  fc.record({ what: fc.constant("settle" as const), upTo: fc.nat(60) }),
  fc.record({ what: fc.constant("expire" as const), late: fc.integer({ min: -3, max: 1 }) }),
  fc.record({ what: fc.constant("drop" as const), owner: fc.nat(OWNERS - 1) }),
);

Deno.test("FastBatch agrees with a plain list of rows under any order of rows, answers, timeouts and aborts", () => {
  fc.assert(fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
    const calls = Array.from({ length: OWNERS }, () => ({}) as Call);
    const next = [0, 0, 0];
    const rows: Row[] = [];
    const batch = new FastBatch("b", {} as Destination, "s", [], 5, undefined);
    let time = 10;
    const nameOf = (call: Call, index: number): string => `${calls.indexOf(call)}:${index}`;
    for (const each of steps) {
      const told: string[] = [];
      const expected: string[] = [];
      const range = (call: Call, from: number, to: number): void => {
        for (let i = from; i < to; i++) told.push(nameOf(call, i));
      };
      if (each.what === "add") {
        time += each.wait;
        batch.add(calls[each.owner]!, next[each.owner]!, each.count, time);
        for (let i = 0; i < each.count; i++) {
          rows.push({ owner: each.owner, index: next[each.owner]!++, deadline: time, state: "open" });
        }
      } else if (each.what === "settle") {
        const upTo = Math.min(each.upTo, rows.length);
        batch.settle(upTo, range);
        rows.slice(0, upTo).filter(({ state }) => state === "open").forEach((row) => {
          expected.push(`${row.owner}:${row.index}`);
          row.state = "settled";
        });
      } else {
        const gone = each.what === "drop"
          ? rows.filter(({ owner, state }) => owner === each.owner && state === "open")
          : rows.filter(({ deadline, state }) => deadline <= time + each.late && state === "open");
        if (each.what === "drop") batch.drop(calls[each.owner]!, range);
        else {
          batch.takeOut(time + each.late, (call, index, sequence) => {
            assert.equal(rows[sequence - 1]?.index, index);
            told.push(nameOf(call, index));
          });
        }
        for (const row of gone) {
          expected.push(`${row.owner}:${row.index}`);
          row.state = "gone";
        }
      }
      assert.deepEqual(told, expected, each.what);
      const open = rows.filter(({ state }) => state === "open");
      assert.equal(batch.sent, rows.length);
      assert.equal(batch.live, open.length > 0);
      assert.equal(batch.deadline, open[0]?.deadline ?? Infinity);
      rows.forEach((row, i) => {
        if (i < batch.settled) return;
        const at = batch.rowAt(i + 1);
        assert.deepEqual(
          at && nameOf(at.call, at.index),
          row.state === "open" ? `${row.owner}:${row.index}` : undefined,
        );
      });
    }
  }));
});

Deno.test("FastBatch knows whether all its rows belong to one call", () => {
  const [one, two] = [{}, {}] as [Call, Call];
  const batch = new FastBatch("b", {} as Destination, "s", [], 5, undefined);
  batch.add(one, 0, 3, 1);
  batch.add(one, 3, 3, 2);
  assert.equal(batch.sole, one);
  batch.add(two, 0, 1, 2);
  batch.add(one, 6, 1, 2);
  assert.equal(batch.sole, undefined);
});

Deno.test("FastBatch finds rows, deadlines and the rows of a call without reading all runs", () => {
  const count = 4000;
  const calls = Array.from({ length: count }, () => ({}) as Call);
  const batch = new FastBatch("b", {} as Destination, "s", [], 5, undefined);
  let looks = 0;
  const counted = (call: Call, index: number): void => {
    looks += call === calls[index] ? 1 : count;
  };
  calls.forEach((call, i) => batch.add(call, i, 1, i));
  const copied = elementsCopied(() => {
    for (let i = 0; i < count; i++) {
      assert.equal(batch.rowAt(i + 1)?.call, calls[i]);
      assert.equal(batch.deadline, i);
      if (i % 2 === 0) batch.drop(calls[i]!, counted);
      else batch.settle(i + 1, counted);
    }
  });
  assert.equal(batch.live, false);
  assert.equal(looks, count);
  assert.ok(copied <= 2 * count, `${copied} runs copied`);
});

/** How many array elements `slice` copies during `work`. */
function elementsCopied(work: () => void): number {
  const { slice } = Array.prototype;
  let copied = 0;
  Array.prototype.slice = function (...range) {
    const result = slice.apply(this, range);
    copied += result.length;
    return result;
  };
  try {
    work();
  } finally {
    Array.prototype.slice = slice;
  }
  return copied;
}
