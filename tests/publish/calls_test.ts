import assert from "node:assert/strict";
import { Calls } from "../../src/publish/calls.ts";
import { PublisherCounts } from "../../src/publish/progress.ts";
import { loadedCall, preparingCall } from "./_calls.ts";

Deno.test("Calls searches a refused subject only up to the first call that was sent to it", () => {
  const calls = new Calls(new PublisherCounts(), () => {});
  let looks = 0;
  for (let i = 0; i < 1000; i++) {
    const destination = {
      get subject() {
        looks++;
        return i < 500 ? "a" : "b";
      },
    };
    const call = preparingCall();
    call.load({ count: 1, release: () => {} } as never, destination as never);
    call.submit(0, 1, 0);
    calls.begin(call, undefined, () => {});
  }
  for (let i = 0; i < 100; i++) assert.ok(calls.haveSentTo("a"));
  assert.equal(looks, 100);
  assert.ok(calls.haveSentTo("b"));
  assert.ok(!calls.haveSentTo("c"));
});

Deno.test("a call has sent to a subject once its first message was handed to the connection, even one that stores nothing", () => {
  const calls = new Calls(new PublisherCounts(), () => {});
  const call = loadedCall({ count: 2 }, { subject: "a" });
  calls.begin(preparingCall(), undefined, () => {});
  calls.begin(call, undefined, () => {});
  assert.ok(!calls.haveSentTo("a"));
  call.stage(0);
  assert.ok(calls.haveSentTo("a"));
  assert.ok(!call.hasSubmitted, "nothing of it can be stored");
});

Deno.test("a call that has ended is counted and removed once", async () => {
  const counts = new PublisherCounts();
  let ended = 0;
  const calls = new Calls(counts, () => ended++);
  const [good, bad, other] = [loadedCall({ count: 0 }), loadedCall(), preparingCall()];
  for (const call of [good, bad, other]) calls.begin(call, undefined, () => {});
  good.finishSubmission();
  await good.done;
  await Promise.resolve();
  assert.deepEqual([calls.all, ended, counts.failures], [[bad, other], 1, 0]);
  calls.fail(bad, { code: "publish.timeout", reason: "no answer", call: bad, index: 0 });
  calls.fail(bad, { code: "publish.disconnected", reason: "late" });
  assert.deepEqual([calls.all, ended, counts.failures], [[other], 2, 1]);
  await assert.rejects(bad.done, { code: "publish.timeout", row: 0, message: /no answer \(of 1 row: 1 unsent\)$/ });
  const error = calls.failAll({ code: "publish.disconnected", reason: "the connection is lost" });
  await assert.rejects(other.done, error);
  assert.deepEqual([calls.all, counts.failures, error?.code], [[], 2, "publish.disconnected"]);
  assert.equal(calls.failAll({ code: "publish.disconnected", reason: "again" }), undefined);
});
