import assert from "node:assert/strict";
import fc from "fast-check";
import { preparingCall } from "../_calls.ts";
import { RetryQueue, type Waiting } from "../../../src/publish/lanes/retry.ts";

Deno.test("RetryQueue returns rows by due time, and rows with the same due time in order of insertion", () => {
  const step = fc.oneof(
    fc.record({ do: fc.constantFrom("pause" as const, "later" as const), call: fc.nat(2) }),
    fc.record({ do: fc.constant("take" as const) }),
    fc.record({ do: fc.constant("remove" as const), call: fc.nat(2) }),
  );
  const steps = fc.array(fc.tuple(step, fc.integer({ min: 0, max: 150 })), { maxLength: 80, size: "max" });
  fc.assert(fc.property(steps, (steps) => {
    const queue = new RetryQueue(Infinity);
    const calls = [preparingCall(), preparingCall(), preparingCall()];
    let naive: Waiting[] = [];
    let now = 0;
    let index = 0;
    let pausedUntil = 0;
    let pause = 25;
    for (const [step, passed] of steps) {
      now += passed;
      if (step.do === "take") {
        const first = naive.toSorted((a, b) => a.due - b.due)[0];
        const due = first === undefined ? Infinity : Math.max(first.due, pausedUntil);
        assert.equal(queue.due, due);
        const given = queue.peek(now);
        if (first === undefined || due > now) assert.equal(given, undefined);
        else {
          assert.equal(given!.due, first.due);
          queue.shift();
          naive = naive.filter(({ index }) => index !== given!.index);
        }
      } else if (step.do === "remove") {
        queue.remove(calls[step.call]!);
        naive = naive.filter(({ call }) => call !== calls[step.call]);
      } else {
        if (step.do === "pause" && now >= pausedUntil) {
          pausedUntil = now + pause;
          pause = Math.min(500, pause * 2);
        }
        const due = step.do === "pause" ? pausedUntil : now + 200;
        assert.ok(queue.add(calls[step.call]!, index, step.do, now));
        naive.push({ call: calls[step.call]!, index: index++, due });
      }
      assert.equal(queue.size, naive.length);
    }
  }));
});

Deno.test("rows of one pause keep their order", () => {
  const queue = new RetryQueue(10_000);
  const call = preparingCall();
  for (let index = 0; index < 5000; index++) queue.add(call, index, "pause", 100);
  for (let index = 0; index < 5000; index++) {
    assert.equal(queue.peek(125)?.index, index);
    queue.shift();
  }
  assert.equal(queue.size, 0);
});

Deno.test("no row is resent during a pause, whatever it waits for itself", () => {
  const queue = new RetryQueue(Infinity);
  const call = preparingCall();
  queue.add(call, 0, "later", 0);
  queue.add(call, 1, "pause", 190);
  assert.deepEqual([queue.due, queue.peek(200), queue.peek(214)], [215, undefined, undefined]);
  assert.equal(queue.peek(215)?.index, 0);
});

Deno.test("pauses double up to half a second, and start short again after an acknowledgment", () => {
  const queue = new RetryQueue(Infinity);
  const call = preparingCall();
  const pauses: number[] = [];
  for (let now = 0, turn = 0; turn < 7; turn++) {
    queue.add(call, turn, "pause", now);
    pauses.push(queue.pauseEnd - now);
    assert.ok(queue.pausing(queue.pauseEnd - 1));
    now = queue.pauseEnd;
    assert.ok(!queue.pausing(now));
    assert.equal(queue.pauseEnd, Infinity);
  }
  assert.deepEqual(pauses, [25, 50, 100, 200, 400, 500, 500]);
  queue.noteSuccess();
  queue.add(call, 9, "pause", 10_000);
  assert.equal(queue.pauseEnd, 10_025);
});

Deno.test("a call's budget counts from its first failed row", () => {
  const queue = new RetryQueue(300);
  const [one, two] = [preparingCall(), preparingCall()];
  assert.ok(queue.add(one, 0, "later", 1000));
  assert.ok(queue.add(one, 1, "later", 1100));
  assert.ok(!queue.add(one, 2, "later", 1101));
  assert.ok(queue.add(two, 0, "later", 1101));
  assert.ok(!new RetryQueue(undefined).add(one, 0, "pause", 0));
  assert.ok(!new RetryQueue(undefined).enabled);
});
