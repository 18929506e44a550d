import assert from "node:assert/strict";
import { openRun, openSession, type WriteReceipt } from "../../mod.ts";
import { deferred } from "../../src/util/deferred.ts";
import { assertFailure, failureOf } from "../_support/failed_publish.ts";
import { numberBatch } from "../_support/arrow/mod.ts";
import { fakeConnection } from "../_support/fake/mod.ts";
import { BASE } from "../faults/_scripted.ts";
import { onVirtualClock } from "../_support/clock.ts";

const REF = { attempt: "a1", epoch: 1 };

/** A session that publishes ten pieces, and the call that ends them. */
async function session(how: "abortEpoch" | "close") {
  const fake = fakeConnection({ frames: true });
  const session = await openSession(() => Promise.resolve(fake.nc), BASE, "a1");
  await session.beginEpoch(REF);
  // Rows of the second piece may be on the wire when the first receipt ends the sequence.
  const close = () => session.close().catch(({ outcome }) => assert.equal(outcome, "uncertain"));
  return {
    fake,
    publish: (onReceipt: (receipt: WriteReceipt) => Promise<void>) =>
      session.applyAll([{ resource: "eu", rows: numberBatch(40) }], REF, { batchMaxRows: 4, onReceipt }),
    end: () => how === "close" ? close() : session.abortEpoch(REF),
    close,
  };
}

async function run() {
  const fake = fakeConnection({ frames: true });
  const run = await openRun(() => Promise.resolve(fake.nc), BASE);
  return {
    fake,
    publish: (onReceipt: (receipt: WriteReceipt) => Promise<void>) =>
      run.applyAll([{ resource: "eu", rows: numberBatch(40) }], { batchMaxRows: 4, onReceipt }),
    end: () => run.abort(),
    close: () => run.abort(),
  };
}

const SCENES = {
  "abortEpoch()": () => session("abortEpoch"),
  "close() of a session": () => session("close"),
  "abort() of a run": run,
};

for (const [what, open] of Object.entries(SCENES)) {
  Deno.test(
    `${what} ends the sequence when onReceipt awaits it`,
    onVirtualClock(async () => {
      const { fake, publish, end, close } = await open();
      const ended: Promise<void>[] = [];
      const error = await failureOf(publish(async () => {
        const ending = end();
        ended.push(ending);
        await ending;
      }));
      assertFailure(error, 40, { code: "publish.aborted" });
      await Promise.all(ended);
      await close();
      assert.ok(fake.calls.includes("close"));
    }),
  );

  Deno.test(
    `${what} does not wait for onReceipt, and ignores what it throws afterwards`,
    onVirtualClock(async () => {
      const { publish, end, close } = await open();
      let fail = (_error: Error): void => {};
      const begun = deferred<void>();
      const failing = failureOf(publish(() => {
        begun.resolve();
        return new Promise<void>((_, reject) => fail = reject);
      }));
      await begun.promise;
      await end();
      assertFailure(await failing, 40, { code: "publish.aborted" });
      fail(new Error("too late"));
      await close();
    }),
  );
}
