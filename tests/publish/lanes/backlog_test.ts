import assert from "node:assert/strict";
import { Backlog } from "../../../src/publish/lanes/backlog.ts";
import type { Call } from "../../../src/publish/call.ts";
import { loadedCall, preparingCall } from "../_calls.ts";
import { countingIteration } from "../../_support/iteration.ts";

Deno.test("submitCalls() follows the order of calls, and stops at the first that is not loaded or has no room", () => {
  const backlog = new Backlog(undefined);
  const [one, two, late, last] = [loadedCall(), loadedCall(), preparingCall(), loadedCall()];
  for (const call of [one, two, late, last]) backlog.push(call);
  const submitted: Call[] = [];
  const submit = (room: number) =>
    backlog.submitCalls((call) => {
      if (room-- === 0) return false;
      submitted.push(call);
      return true;
    });
  submit(1);
  assert.deepEqual(submitted, [one]);
  assert.equal(backlog.first, two);
  submit(9);
  assert.deepEqual(submitted, [one, two], "the next one's rows are not there yet");
  late.fail(new Error("it has no rows"));
  submit(9);
  assert.deepEqual(submitted, [one, two, last]);
  assert.ok(backlog.empty);
});

Deno.test("Backlog finds its first call among thousands without reading removed ones", () => {
  const backlog = new Backlog(undefined);
  for (let i = 0; i < 2000; i++) backlog.push(loadedCall());
  const steps = countingIteration(() => {
    for (let i = 0; i < 1000; i++) {
      assert.ok(backlog.waiting);
      backlog.shift();
      let room = 1;
      backlog.submitCalls(() => room-- > 0);
    }
  });
  assert.ok(backlog.empty);
  assert.equal(steps, 0);
});

Deno.test("a call whose submission throws keeps its position", () => {
  const backlog = new Backlog(undefined);
  const [one, two] = [loadedCall(), loadedCall()];
  backlog.push(one);
  backlog.push(two);
  const broken = (call: Call): boolean => {
    if (call === two) throw new Error("lost");
    return true;
  };
  assert.throws(() => backlog.submitCalls(broken));
  assert.equal(backlog.first, one);
});

Deno.test("submitAgain() resends rows that are due, as far as there is room", () => {
  const backlog = new Backlog(1000);
  const call = loadedCall();
  for (let row = 0; row < 3; row++) assert.ok(backlog.takeBack(call, row, "later", true, row * 10));
  assert.equal(backlog.due, 200);
  const rows: number[] = [];
  const submit = (time: number, room: number) =>
    backlog.submitAgain(time, (_, row) => room-- > 0 && rows.push(row) > 0);
  assert.ok(!submit(210, 1), "the second has no room");
  assert.ok(submit(210, 1));
  assert.deepEqual(rows, [0, 1]);
  assert.equal(backlog.due, 220);
  assert.ok(submit(300, 9));
  assert.deepEqual(rows, [0, 1, 2]);
  assert.ok(backlog.empty);
});

Deno.test("takeBack() accepts rows that may be resent, and none once closed", () => {
  const call = loadedCall();
  assert.ok(!new Backlog(undefined).takeBack(call, 0, "later", true, 0), "no budget");
  const backlog = new Backlog(1000);
  assert.ok(!backlog.takeBack(call, 0, "never", true, 0));
  assert.ok(!backlog.takeBack(call, 0, "pause", false, 0), "it could be stored twice");
  assert.ok(backlog.takeBack(call, 0, "pause", true, 0));
  backlog.close();
  assert.ok(backlog.empty);
  assert.ok(!backlog.takeBack(call, 0, "pause", true, 0));
});

Deno.test("a pause delays later calls, even if the rows that caused it are gone", () => {
  const backlog = new Backlog(1000);
  const [refused, next] = [loadedCall(), loadedCall()];
  backlog.takeBack(refused, 0, "pause", true, 0);
  backlog.push(refused);
  backlog.push(next);
  backlog.remove(refused);
  assert.equal(backlog.first, next);
  assert.equal(backlog.due, 25);
  backlog.remove(next);
  assert.equal(backlog.due, Infinity);
});
